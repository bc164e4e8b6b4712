"""Members of classic groups as records bring them back."""

from __future__ import annotations

from dataclasses import replace

from coordinator.engine.classic.group import ClassicMember
from coordinator.engine.records import ClassicMemberValue

VALUE = ClassicMemberValue(
    member="m",
    instance=None,
    client_id="c",
    host="/h",
    rebalance_timeout_ms=-1,
    session_timeout_ms=10_000,
    subscription=b"s",
    assignment=b"",
)


def test_a_member_without_a_rebalance_timeout_rebalances_within_its_session() -> None:
    member = ClassicMember.restored(VALUE, "range")
    assert member.rebalance_timeout_ms == 10_000
    member.restore(replace(VALUE, rebalance_timeout_ms=60_000))
    assert member.rebalance_timeout_ms == 60_000
    member.restore(replace(VALUE, session_timeout_ms=20_000))
    assert (member.rebalance_timeout_ms, member.session_timeout_ms) == (20_000, 20_000)
