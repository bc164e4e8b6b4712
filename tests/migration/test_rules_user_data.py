"""User data in assignments, there or to come, and the ways past it."""

from dataclasses import replace

import pytest

from groups.findings import Level
from groups.model import Group, Member, UserData
from migration.clients import clients_of, parse_clients
from migration.rules.assignors import OnlinePath, data_will_come, members_with_data, online_path
from migration.rules.case import Case, PlanRequest
from tests.migration.cases import CONSUMER, COOPERATIVE, EMPTY, GROUP, NEW, found, member, plan, the_finding


def _group(library: str, protocol: str, *data: bytes | None) -> Group:
    members = tuple(_member(f"m{n}", library, each) for n, each in enumerate(data))
    return replace(GROUP, protocol=protocol, members=members)


def _member(name: str, library: str, data: bytes | None) -> Member:
    user_data = None if data is None else UserData(assignment=data)
    return replace(member(name, library, "99.0"), user_data=user_data)


WAYS = {
    "librdkafka": (_group("librdkafka", "cooperative-sticky", b"abcd", b"abcd"), OnlinePath.BRIDGE_LEADER),
    "librdkafka-fresh": (_group("librdkafka", "cooperative-sticky", b"", b""), OnlinePath.BRIDGE_LEADER),
    "librdkafka-unseen": (_group("librdkafka", "cooperative-sticky", None, None), OnlinePath.BRIDGE_LEADER),
    "librdkafka-range": (_group("librdkafka", "range", b"", b""), None),
    "java-cooperative": (_group("java", "cooperative-sticky", b"", b""), None),
    "java-custom": (_group("java", "com.example.Weighted", b"w=1", b"w=2"), None),
    "sarama": (_group("sarama", "sticky", b"abcd", b"abcd"), OnlinePath.RANGE_FIRST),
    "sarama-unseen": (_group("sarama", "sticky", None, None), OnlinePath.RANGE_FIRST),
    "sarama-without": (_group("sarama", "sticky", b"", b""), None),
    "java-sticky-unseen": (_group("java", "sticky", None, None), None),
    "java-sticky-with-data": (_group("java", "sticky", b"abcd"), None),
    "no-member": (EMPTY, None),
}


@pytest.mark.parametrize(("group", "way"), WAYS.values(), ids=WAYS.keys())
def test_the_way_past_user_data(group: Group, way: OnlinePath | None) -> None:
    case = Case(
        group=group,
        cluster=NEW,
        request=PlanRequest(destination=CONSUMER),
        clients=clients_of(group, parse_clients([])),
    )
    assert online_path(case) is way


def test_data_of_a_fresh_group_will_come() -> None:
    fresh = WAYS["librdkafka-fresh"][0]
    case = Case(
        group=fresh,
        cluster=NEW,
        request=PlanRequest(destination=CONSUMER),
        clients=clients_of(fresh, parse_clients([])),
    )
    assert members_with_data(case) == ()
    assert data_will_come(case)


@pytest.mark.parametrize(
    ("name", "rule", "level", "said"),
    [
        ("librdkafka", "assignment-user-data", Level.WARNING, "bridge leader"),
        ("librdkafka", "user-data-to-come", None, ""),
        ("librdkafka-fresh", "assignment-user-data", None, ""),
        ("librdkafka-fresh", "user-data-to-come", Level.WARNING, "trial on a fresh group"),
        ("librdkafka-unseen", "user-data-to-come", Level.WARNING, "Plan against the live cluster"),
        ("sarama", "assignment-user-data", Level.WARNING, "[range, sticky], range first"),
        ("sarama-unseen", "user-data-to-come", Level.WARNING, "[range, sticky], range first"),
        ("java-custom", "assignment-user-data", Level.BLOCKER, "--offline"),
        ("java-cooperative", "user-data-to-come", None, ""),
    ],
)
def test_what_is_said(name: str, rule: str, level: Level | None, said: str) -> None:
    finding = found(plan(WAYS[name][0], CONSUMER), rule)
    assert (finding and finding.level) is level
    assert finding is None or said.lower() in finding.remedy.lower()
    assert found(plan(WAYS[name][0], COOPERATIVE), rule) is None


def test_an_only_member_needs_no_bridge() -> None:
    finding = the_finding(
        plan(_group("librdkafka", "cooperative-sticky", b"abcd"), CONSUMER), "assignment-user-data"
    )
    assert finding.remedy.startswith("It is the only member: stop it")


def test_an_offline_plan_minds_no_user_data() -> None:
    made = plan(WAYS["java-custom"][0], CONSUMER, offline=True)
    assert found(made, "assignment-user-data") is None
    assert made.steps


def test_metadata_that_no_member_can_read() -> None:
    broken = replace(GROUP.members[0], unreadable="the topics: 3 bytes are missing")
    finding = the_finding(
        plan(replace(GROUP, members=(broken, GROUP.members[1])), CONSUMER), "malformed-metadata"
    )
    assert (finding.level, finding.member) == (Level.BLOCKER, "m1")
    assert "3 bytes are missing" in finding.message
