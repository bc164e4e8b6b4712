"""What each rule finds, and what it keeps quiet about; docs/readiness.md lists every rule, and no other."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from groups.findings import Level
from groups.model import Client, Cluster, Group, GroupState, Subscription, UserData
from migration.access import Access, AccessEntry, ResourceKind
from migration.model import Destination
from migration.rules.case import without_members
from tests.migration.cases import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EAGER,
    EMPTY,
    GROUP,
    NEW,
    check_finding,
    found,
    group_of,
    listing,
    member,
    plan,
    the_finding,
)

STATIC = replace(GROUP, members=(replace(GROUP.members[0], instance="seat-1"), GROUP.members[1]))
RACKS = replace(GROUP, members=tuple(replace(m, rack=r) for m, r in zip(GROUP.members, "ba", strict=True)))
DATA = replace(GROUP, members=(replace(GROUP.members[0], user_data=UserData(assignment=b"w=3")),))
CLAIMS = replace(GROUP, members=(replace(GROUP.members[0], user_data=UserData(subscription=b"w=3")),))

TABLE = {
    "static-warns": (STATIC, CONSUMER, "static-member", Level.WARNING, "seat-1"),
    "static-may-be-cooperative": (STATIC, COOPERATIVE, "static-member", None, ""),
    "racks-warn": (RACKS, CONSUMER, "rack-awareness", Level.WARNING, "(a, b)"),
    "racks-may-be-cooperative": (RACKS, COOPERATIVE, "rack-awareness", None, ""),
    "user-data-blocks": (DATA, CONSUMER, "assignment-user-data", Level.BLOCKER, "3 bytes"),
    "user-data-may-be-cooperative": (DATA, COOPERATIVE, "assignment-user-data", None, ""),
    "subscriptions-may-have-user-data": (CLAIMS, CONSUMER, "assignment-user-data", None, ""),
    "custom-assignor-warns": (
        replace(GROUP, protocol="com.example.Weighted"), CONSUMER, "custom-assignor", Level.WARNING, "com.example",
    ),
    "kafkas-own": (GROUP, CONSUMER, "custom-assignor", None, ""),
    "successor": (GROUP, CONSUMER, "assignor-successor", Level.INFO, "is range"),
    "rebalancing-warns": (
        replace(GROUP, state=GroupState.PREPARING_REBALANCE), CONSUMER, "group-state", Level.WARNING, "not Stable",
    ),
    "stable": (GROUP, CONSUMER, "group-state", None, ""),
    "empty": (EMPTY, CONSUMER, "group-state", None, ""),
    "callbacks-change": (GROUP, COOPERATIVE, "rebalance-listener", Level.WARNING, "incremental"),
    "callbacks-are-incremental": (
        replace(GROUP, protocol="cooperative-sticky"), CONSUMER, "rebalance-listener", None, "",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("group", "to", "rule", "level", "said"), TABLE.values(), ids=TABLE.keys())
def test_a_rule(group: Group, to: Destination, rule: str, level: Level | None, said: str) -> None:
    finding = found(plan(group, to), rule)
    assert (finding and finding.level) is level
    if finding is not None:
        assert said in finding.message
        assert finding.remedy
        assert finding.source


@pytest.mark.parametrize(
    ("features", "level"),
    [({"group.version": 1}, None), ({"group.version": 0}, Level.BLOCKER), ({"metadata.version": 25}, Level.BLOCKER),
     ({}, Level.WARNING)],
)  # fmt: skip
def test_the_cluster_must_speak_the_protocol(features: dict[str, int], level: Level | None) -> None:
    cluster = Cluster(features=features)
    check_finding(plan(GROUP, CONSUMER, cluster=cluster), "group-version", level)
    assert found(plan(GROUP, COOPERATIVE, cluster=cluster), "group-version") is None


def test_the_protocol_of_3_9_is_called_a_preview() -> None:
    cluster = Cluster(kafka="3.9", features={"metadata.version": 21}, consumer_protocol=True)
    finding = found(plan(GROUP, CONSUMER, cluster=cluster), "group-version")
    assert finding is not None
    assert finding.message == "The brokers are Kafka 3.9, where the consumer protocol is a preview."


def test_an_unknown_library_is_asked_for() -> None:
    finding = found(plan(replace(GROUP, members=(member("m9"),)), CONSUMER), "client-library")
    assert finding is not None
    assert finding.member == "m9"
    assert finding.message.startswith("The client library of this member is unknown")
    assert "--client" in finding.remedy
    assert "librdkafka" in finding.remedy


@pytest.mark.parametrize(
    ("client", "to", "level"),
    [
        ("java:2.3", COOPERATIVE, Level.INFO),
        ("java:2.4", COOPERATIVE, None),
        ("java:3.9", CONSUMER, Level.BLOCKER),
        ("java:4.0.0", CONSUMER, Level.WARNING),
        ("java:4", CONSUMER, Level.WARNING),
        ("java:4.3.1", CONSUMER, Level.WARNING),
        ("java:4.4.0", CONSUMER, None),
        ("java:2", CONSUMER, Level.BLOCKER),
        ("java:2", COOPERATIVE, Level.WARNING),
        ("librdkafka:2", CONSUMER, Level.WARNING),
        ("librdkafka:2.12", CONSUMER, Level.WARNING),
        ("java", CONSUMER, Level.WARNING),
        ("librdkafka:1.5", COOPERATIVE, Level.BLOCKER),
        ("librdkafka:1.6.0", COOPERATIVE, Level.WARNING),
        ("librdkafka:2.6.0", COOPERATIVE, Level.WARNING),
        ("librdkafka:2.6.1", COOPERATIVE, Level.WARNING),
        ("librdkafka:2.10.0", COOPERATIVE, Level.WARNING),
        ("librdkafka:2.10.1", COOPERATIVE, None),
        ("franz-go:1.16.9", COOPERATIVE, Level.BLOCKER),
        ("sarama:1.45", EAGER, None),
        ("kafkajs:2.2", CLASSIC, None),
        ("librdkafka:2.11.1", CONSUMER, Level.BLOCKER),
        ("librdkafka:2.12.0", CONSUMER, Level.WARNING),
        ("librdkafka:2.15.0", CONSUMER, None),
        ("franz-go:1.19.0", CONSUMER, None),
        ("kafka-python:3.0.0", CONSUMER, Level.BLOCKER),
        ("aiokafka", COOPERATIVE, Level.BLOCKER),
        ("kafkajs:2.2", CONSUMER, Level.BLOCKER),
        ("sarama:1.45", COOPERATIVE, Level.BLOCKER),
    ],
)
def test_what_a_library_can_do(client: str, to: Destination, level: Level | None) -> None:
    check_finding(plan(GROUP, to, client), "client-support", level)


def test_what_is_true_of_many_members_is_said_once() -> None:
    """A table of 500 rows that say the same is read by no member."""
    members = tuple(member(f"m{number}") for number in range(500))
    made = plan(replace(GROUP, members=members), CONSUMER, "java")
    assert len(made.findings) < 15
    finding = the_finding(made, "client-support")
    assert finding.member is None
    assert finding.members == tuple(f"m{number}" for number in range(500))
    assert finding.message.endswith(" 500 members: m0, m1, m2 and 497 more.")
    assert (
        without_members(finding) == "java supports the consumer protocol since 4.0; the version is unknown."
    )


def test_members_are_named_so_that_they_can_be_reported_apart() -> None:
    twins = tuple(replace(member(f"rdkafka-{n}"), client=Client(id="rdkafka")) for n in "ab")
    finding = the_finding(plan(replace(GROUP, members=twins), CONSUMER, "java"), "client-support")
    assert finding.message.endswith(" 2 members: rdkafka-a, rdkafka-b.")
    single = the_finding(
        plan(replace(GROUP, members=twins), CONSUMER, "java:4.1", "rdkafka-a=java"), "client-support"
    )
    assert (single.member, single.members) == ("rdkafka-a", ())


MIXED = replace(GROUP, members=(GROUP.members[0], member("m3", "librdkafka", "2.16.0")))


@pytest.mark.parametrize(
    ("leader", "said"),
    [(None, "The leader's library"), ("m3", "m3 (librdkafka) leads"), ("m1", "m1 (java) leads")],
)
def test_the_leaders_library_decides(leader: str | None, said: str) -> None:
    finding = the_finding(plan(replace(MIXED, leader=leader), CONSUMER), "mixed-libraries")
    assert "(java: m1; librdkafka: m3)" in finding.message
    assert said in finding.message
    assert found(plan(GROUP, CONSUMER), "mixed-libraries") is None


LIBRDKAFKA = replace(GROUP, protocol="roundrobin", members=(member("m1", "librdkafka", "2.16.0"),))


@pytest.mark.parametrize(
    ("group", "to", "said"),
    [
        (
            LIBRDKAFKA,
            CONSUMER,
            "payments is on roundrobin, so the code must change: assign() in a callback",
        ),
        (GROUP, CONSUMER, "onPartitionsRevoked no longer means"),
        (MIXED, COOPERATIVE, "incremental_assign()"),
        (replace(LIBRDKAFKA, protocol="cooperative-sticky"), EAGER, "incremental_assign() becomes assign()"),
    ],
)
def test_callbacks_by_library(group: Group, to: Destination, said: str) -> None:
    finding = the_finding(plan(group, to), "rebalance-listener")
    assert said in finding.remedy


@pytest.mark.parametrize(
    ("group", "to", "rule", "remedy"),
    [
        (replace(GROUP, protocol="stream"), CONSUMER, "streams", "brokers 4.2.1 or later"),
        (
            replace(GROUP, protocol_type="connect", protocol="eager"),
            CONSUMER,
            "protocol-type",
            "connect.protocol=sessioned",
        ),
    ],
)
def test_streams_and_connect_have_their_own_paths(
    group: Group, to: Destination, rule: str, remedy: str
) -> None:
    (finding,) = plan(group, to).findings
    assert (finding.rule, remedy in finding.remedy) == (rule, True)


def test_partitions_with_two_owners_stay_classic() -> None:
    """A broker of 4.3.1 answers UNKNOWN_SERVER_ERROR (conformance, `a partition assigned twice`)."""
    both = replace(
        GROUP,
        protocol="redundant",
        members=tuple(
            replace(one, owned={"orders": (0, 1), "bills": (n,)}) for n, one in enumerate(GROUP.members)
        ),
    )
    finding = the_finding(plan(both, CONSUMER), "shared-partitions")
    assert (finding.level, finding.members) == (Level.BLOCKER, ("m1", "m2"))
    assert "(orders-0, orders-1)" in finding.message
    assert "UNKNOWN_SERVER_ERROR" in finding.message
    offline = the_finding(plan(both, CONSUMER, offline=True), "shared-partitions")
    assert (offline.level, "UNKNOWN_SERVER_ERROR" in offline.message) == (Level.BLOCKER, False)
    assert found(plan(both, COOPERATIVE), "shared-partitions") is None
    apart = (GROUP.members[0], replace(GROUP.members[1], owned={"orders": (2, 3)}))
    assert found(plan(replace(GROUP, members=apart), CONSUMER), "shared-partitions") is None


@pytest.mark.parametrize(
    ("kafka", "said"),
    [
        ("4.2.0", "The brokers are 4.2.0: their move from classic to streams groups has a critical fault"),
        ("4.2", "If the brokers are 4.2.0, their move"),
        ("4.2-IV1", "If the brokers are 4.2.0, their move"),
        ("4.2.1", None),
        ("4.3", None),
        ("4.20", None),
        (None, None),
    ],
)
def test_brokers_4_2_0_do_not_take_streams_over(kafka: str | None, said: str | None) -> None:
    made = plan(replace(GROUP, protocol="stream"), CONSUMER, cluster=replace(NEW, kafka=kafka))
    message = the_finding(made, "streams").message
    assert ("KAFKA-20254" in message, (said or "") in message) == (said is not None, True)


@pytest.mark.parametrize(
    ("clients", "to", "levels"),
    [
        (["java:3.9.1"], COOPERATIVE, {"streams": Level.INFO, "streams-queries": Level.INFO}),
        (["java:2.3.1"], COOPERATIVE, {"streams-queries": Level.INFO}),
        (["java:3.9.1"], EAGER, {"streams": Level.INFO, "streams-queries": Level.WARNING}),
        (["java"], EAGER, {"streams": Level.WARNING, "streams-queries": Level.WARNING}),
    ],
)
def test_what_is_said_of_streams(clients: list[str], to: Destination, levels: dict[str, Level]) -> None:
    """Rules about consumers' assignors, listeners and lists have no meaning for it."""
    made = plan(replace(GROUP, protocol="stream"), to, *clients)
    assert {finding.rule: finding.level for finding in made.findings} == levels


@pytest.mark.parametrize(
    ("group", "rules"),
    [
        (group_of("java:4.1.0", "cooperative-sticky"), ["assignor-lists"]),
        (listing(group_of("java:4.1.0", "cooperative-sticky"), "cooperative-sticky"), []),
        (group_of("librdkafka:2.16.0", "cooperative-sticky"), []),
    ],
)
def test_a_cooperative_group_may_be_between_the_bounces(group: Group, rules: list[str]) -> None:
    made = plan(group, COOPERATIVE)
    assert made.path == "nothing to do"
    assert [finding.rule for finding in made.findings] == rules


def test_members_that_want_different_topics() -> None:
    wanting = [
        replace(each, subscription=Subscription(topics=topics))
        for each, topics in zip(GROUP.members, [("orders",), ("orders", "refunds")], strict=True)
    ]
    finding = the_finding(plan(replace(GROUP, members=tuple(wanting)), CONSUMER), "shared-group")
    assert finding.message.startswith("The members subscribe to 2 different sets of topics")
    same = [replace(each, subscription=Subscription(topics=("orders",))) for each in GROUP.members]
    assert found(plan(replace(GROUP, members=tuple(same)), CONSUMER), "shared-group") is None


def test_what_is_reported_against_what_shows() -> None:
    group = replace(GROUP, members=(member("m1", "java", "4.1.0"), member("rdkafka")))
    finding = the_finding(plan(group, CONSUMER, "java:4.1"), "client-contradiction")
    assert (finding.level, finding.member) == (Level.WARNING, "rdkafka")
    assert finding.message.startswith(
        "The declared library is java, but the group shows librdkafka (inferred from the client id)."
    )
    assert found(plan(group, CONSUMER, "java:4.1", "rdkafka=librdkafka:2.16"), "client-contradiction") is None
    assert found(plan(group, CONSUMER), "client-contradiction") is None


READER = replace(
    GROUP,
    members=tuple(replace(m, subscription=Subscription(topics=("orders", "refunds"))) for m in GROUP.members),
)


def _entry(
    kind: ResourceKind, name: str, operation: str, *, allows: bool = True, is_prefix: bool = False
) -> AccessEntry:
    return AccessEntry(
        kind=kind, name=name, is_prefix=is_prefix, principal="User:a", operation=operation, allows=allows
    )


MAY_READ = _entry(ResourceKind.GROUP, "payments", "READ")
TOPIC = ResourceKind.TOPIC

ACCESS_TABLE = {
    "not-asked": (None, Level.INFO, "It is unknown"),
    "not-authorized": (Access(problem="CLUSTER_AUTHORIZATION_FAILED"), Level.INFO, "CLUSTER_AUTHORIZATION_FAILED"),
    "no-authorizer": (Access(is_open=True), None, ""),
    "no-one": (Access(), Level.WARNING, "No access control entry allows READ on the group"),
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
    "everything": (Access(entries=(_entry(ResourceKind.GROUP, "*", "ALL"), _entry(TOPIC, "*", "READ"))), None, ""),
    "a-denial-beats-it": (
        Access(entries=(MAY_READ, _entry(TOPIC, "*", "READ"), _entry(TOPIC, "orders", "DESCRIBE", allows=False))),
        Level.WARNING, "DESCRIBE orders:",
    ),
    "a-literal-is-no-prefix": (
        Access(entries=(MAY_READ, _entry(TOPIC, "ord", "ALL"))), Level.WARNING, "DESCRIBE orders, refunds:",
    ),
    "of-another-group": (
        Access(entries=(_entry(ResourceKind.GROUP, "payments2", "READ"),)), Level.WARNING, "allows READ on the group",
    ),
}  # fmt: skip


def test_the_command_for_a_principal_with_spaces() -> None:
    named = replace(MAY_READ, principal="User:CN=a b,O=c")
    finding = the_finding(plan(READER, CONSUMER, access=Access(entries=(named,))), "acl")
    assert "--allow-principal 'User:CN=a b,O=c' --operation" in finding.remedy


@pytest.mark.parametrize(("access", "level", "said"), ACCESS_TABLE.values(), ids=ACCESS_TABLE.keys())
def test_access(access: Access | None, level: Level | None, said: str) -> None:
    check_finding(plan(READER, CONSUMER, access=access), "acl", level, said)
    assert found(plan(READER, COOPERATIVE, access=access), "acl") is None


ROOT = Path(__file__).parents[2]


def test_every_rule_is_documented() -> None:
    page = (ROOT / "docs" / "readiness.md").read_text(encoding="utf-8")
    table = page[page.index("| rule |") :]
    documented = {
        name for row in table.splitlines() for name in re.findall(r"`([a-z-]+)`", row.split("|")[1])
    }
    sources = "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "migration" / "rules").glob("*.py")
    )
    found = re.findall(r'case\.(?:blocker|warning|info|finding)(?:\(|, )[^"()]*"([a-z-]+)"', sources)
    assert documented == {*found, *re.findall(r'"(regex-[a-z]+)"', sources)}
