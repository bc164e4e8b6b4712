"""What brokers of earlier releases refuse, by the KIP that they lack; in all else they are the engine of today."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from coordinator.engine.calls import Request
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import stale_epoch
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import OffsetCommit

Check: TypeAlias = Callable[[Engine, Request[Any]], None]
"""Raises a RequestRefused for what the earlier broker refuses."""


def _check_commit_epoch(engine: Engine, request: Request[Any]) -> None:
    """A commit must name the member's epoch of now: ConsumerGroup.validateOffsetCommit of 4.0 to 4.2."""
    if not isinstance(request, OffsetCommit):
        return
    group = engine.state.groups.get(request.group)
    if not isinstance(group, ConsumerGroup) or not group.has_member(request.member):
        return
    member, epoch = group.members[request.member], request.generation_or_epoch
    if epoch != member.epoch:
        raise stale_epoch(member, f"epoch {epoch} does not match the expected member epoch {member.epoch}.")


LACKS: Mapping[str, Check] = {"KIP-1251": _check_commit_epoch}
"""By the name that a scenario gives them (`without`)."""
