"""What the authorizer's entries say of the members' topics."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groups.model import Subscription
from migration.access import Access, Entry, Kind
from migration.model import Level
from tests.migration.cases import CONSUMER, COOPERATIVE, GROUP, found, plan

READER = replace(
    GROUP,
    members=tuple(replace(m, subscription=Subscription(topics=("orders", "refunds"))) for m in GROUP.members),
)


def _entry(kind: Kind, name: str, operation: str, *, allows: bool = True, is_prefix: bool = False) -> Entry:
    return Entry(
        kind=kind, name=name, is_prefix=is_prefix, principal="User:a", operation=operation, allows=allows
    )


MAY_READ = _entry(Kind.GROUP, "payments", "READ")
TOPIC = Kind.TOPIC

TABLE = {
    "not-asked": (None, Level.INFO, "not known here"),
    "not-told": (Access(problem="CLUSTER_AUTHORIZATION_FAILED"), Level.INFO, "CLUSTER_AUTHORIZATION_FAILED"),
    "no-authorizer": (Access(is_open=True), None, ""),
    "nobody": (Access(), Level.WARNING, "No access control entry lets anybody READ the group"),
    "one-is-missing": (
        Access(entries=(MAY_READ, _entry(TOPIC, "orders", "READ"))), Level.WARNING, "DESCRIBE refunds:",
    ),
    "both": (
        Access(entries=(MAY_READ, _entry(TOPIC, "orders", "READ"), _entry(TOPIC, "refunds", "DESCRIBE"))), None, "",
    ),
    "prefixes": (
        Access(
            entries=(MAY_READ, *(_entry(TOPIC, name, "WRITE", is_prefix=True) for name in ("ord", "re")))
        ),
        None, "",
    ),
    "everything": (Access(entries=(_entry(Kind.GROUP, "*", "ALL"), _entry(TOPIC, "*", "READ"))), None, ""),
    "a-denial-beats-it": (
        Access(entries=(MAY_READ, _entry(TOPIC, "*", "READ"), _entry(TOPIC, "orders", "DESCRIBE", allows=False))),
        Level.WARNING, "DESCRIBE orders:",
    ),
    "a-literal-is-no-prefix": (
        Access(entries=(MAY_READ, _entry(TOPIC, "ord", "ALL"))), Level.WARNING, "DESCRIBE orders, refunds:",
    ),
    "of-another-group": (
        Access(entries=(_entry(Kind.GROUP, "payments2", "READ"),)), Level.WARNING, "lets anybody READ",
    ),
}  # fmt: skip


def test_the_command_for_a_principal_with_spaces() -> None:
    named = replace(MAY_READ, principal="User:CN=a b,O=c")
    finding = found(plan(READER, CONSUMER, access=Access(entries=(named,))), "acl")
    assert finding is not None
    assert "--allow-principal 'User:CN=a b,O=c' --operation" in finding.remedy


@pytest.mark.parametrize(("access", "level", "said"), TABLE.values(), ids=TABLE.keys())
def test_access(access: Access | None, level: Level | None, said: str) -> None:
    finding = found(plan(READER, CONSUMER, access=access), "acl")
    assert (finding and finding.level) is level
    assert finding is None or said in finding.message
    assert found(plan(READER, COOPERATIVE, access=access), "acl") is None
