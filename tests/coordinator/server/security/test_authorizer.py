"""ACLs allow the same as in Kafka's own StandardAuthorizer."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.server.security.authorizer import Authorizer
from tests.kafka.programs import SILENT, Answerer
from tests.support.long import cases
from wire.acls import OPERATIONS, Acl, AclFilter, Operation, PatternType, Permission, ResourceType

pytestmark = pytest.mark.kafka

NAMES = ("a", "ab", "abc", "abd", "b", "*", "*a", "a*", "hardcode", "hard")
PRINCIPALS = ("User:alice", "User:bob", "User:*", "Group:alice")
HOSTS = ("10.0.0.1", "10.0.0.2", "*")
TYPES = (ResourceType.TOPIC, ResourceType.GROUP)

acls = st.builds(
    Acl,
    resource_type=st.sampled_from(TYPES),
    name=st.sampled_from(NAMES),
    pattern=st.sampled_from((PatternType.LITERAL, PatternType.PREFIXED)),
    principal=st.sampled_from(PRINCIPALS),
    host=st.sampled_from(HOSTS),
    operation=st.sampled_from((*OPERATIONS[ResourceType.TOPIC], Operation.ALL)),
    permission=st.sampled_from((Permission.DENY, Permission.ALLOW)),
)
filters = st.builds(
    AclFilter,
    resource_type=st.sampled_from((ResourceType.ANY, *TYPES)),
    name=st.sampled_from((None, *NAMES)),
    pattern=st.sampled_from((PatternType.ANY, PatternType.MATCH, PatternType.LITERAL, PatternType.PREFIXED)),
    principal=st.sampled_from((None, *PRINCIPALS)),
    host=st.sampled_from((None, *HOSTS)),
    operation=st.sampled_from((Operation.ANY, *OPERATIONS[ResourceType.TOPIC])),
    permission=st.sampled_from((Permission.ANY, Permission.DENY, Permission.ALLOW)),
)
ACTIONS: list[tuple[str, str, Operation, ResourceType, str | None]] = [
    (principal, host, operation, ResourceType.TOPIC, name)
    for principal in ("User:alice", "User:carol", "User:super")
    for host in ("10.0.0.1", "10.0.0.9")
    for operation in OPERATIONS[ResourceType.TOPIC]
    for name in ("a", "ab", "abc", "abcd", "b", "x", "*", "*ab", None)
]


@pytest.fixture(scope="module")
def oracle(kafka_jars: Path) -> Iterator[Answerer]:
    with closing(Answerer(kafka_jars, "AuthorizerOracle", heap_mb=128, options=(SILENT,))) as running:
        yield running


@settings(max_examples=cases("KOHORT_EXAMPLES", 150, many=5_000))
@given(
    acls=st.lists(acls, max_size=8, unique=True), filters=st.lists(filters, max_size=4), is_open=st.booleans()
)
def test_entries_allow_what_they_allow_in_kafka(
    oracle: Answerer, acls: list[Acl], filters: list[AclFilter], is_open: bool
) -> None:
    ours = Authorizer(acls, super_users={"User:super"}, allow_if_no_acl=is_open)
    theirs = oracle.answer(
        {
            "super_users": "User:super",
            "open": is_open,
            "acls": [asdict(acl) for acl in acls],
            "actions": [_action(*action) for action in ACTIONS],
            "filters": [asdict(one) for one in filters],
        }
    )
    allowed = [
        ours.allows_some(principal, host, operation, kind)
        if name is None
        else ours.allows(principal, host, operation, kind, name)
        for principal, host, operation, kind, name in ACTIONS
    ]
    wrong = [
        action for action, mine, real in zip(ACTIONS, allowed, theirs["allowed"], strict=True) if mine != real
    ]
    assert not wrong
    assert [[acls.index(acl) for acl in ours.matching(one)] for one in filters] == theirs["matching"]


def _action(
    principal: str, host: str, operation: Operation, kind: ResourceType, name: str | None
) -> dict[str, Any]:
    return {"principal": principal, "host": host, "operation": operation, "resource_type": kind, "name": name}
