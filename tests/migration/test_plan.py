"""Which way a plan takes, and when it takes none."""

from dataclasses import replace

import pytest

from groups.findings import Level
from groups.model import Client, Cluster, Group, GroupState, GroupType, MemberProtocol, UserData
from migration.model import Destination, PlanVerdict
from tests.migration.cases import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EAGER,
    EMPTY,
    GROUP,
    MIXED,
    NEW,
    NEWER,
    blockers,
    group_of,
    listing,
    member,
    plan,
    policy,
    upgraded,
    warnings,
)

LIBRDKAFKA = group_of("librdkafka:2.15.0", "range")
JAVA_STICKY = group_of("java:4.1.0", "cooperative-sticky")
LIBRDKAFKA_STICKY = group_of("librdkafka:2.15.0", "cooperative-sticky")
BRIDGE = member("kohort-bridge")
ONE_STATIC = group_of("librdkafka:2.15.0", "cooperative-sticky", 1)
ONE_STATIC = replace(ONE_STATIC, members=(replace(ONE_STATIC.members[0], instance="s1"),))
WITH_DATA = replace(
    GROUP, members=(replace(GROUP.members[0], user_data=UserData(assignment=b"w")), GROUP.members[1])
)
SARAMA = replace(
    group_of("sarama:1.45.0", "sticky"),
    members=tuple(
        replace(one, user_data=UserData(assignment=b"s"))
        for one in group_of("sarama:1.45.0", "sticky").members
    ),
)
EMPTY_NEWER = replace(NEWER, state=GroupState.EMPTY, members=())

STREAMS = replace(
    GROUP,
    protocol="stream",
    members=tuple(
        replace(
            member(f"m{n}{thread}"),
            client=Client(id=f"app-{n}-StreamThread-{thread}-consumer", host="/10.0.0.1"),
        )
        for thread in (1, 2)
        for n in (1, 2)
    ),
)
"""Two instances of an application with two threads each; the release is not known."""

WAYS = {
    "java-to-cooperative": (GROUP, COOPERATIVE, [], ["first-bounce", "second-bounce"]),
    "franz-go-to-cooperative": (GROUP, COOPERATIVE, ["franz-go:1.22.0"], ["first-bounce", "second-bounce"]),
    "librdkafka-to-cooperative": (LIBRDKAFKA, COOPERATIVE, [], ["stop-all", "start-all"]),
    "kafka-python-to-cooperative": (GROUP, COOPERATIVE, ["kafka-python:3.0.12"], ["stop-all", "start-all"]),
    "one-librdkafka-is-enough": (
        replace(GROUP, members=(*GROUP.members, member("m3", "librdkafka", "2.6.1"))),
        COOPERATIVE, [], ["stop-all", "start-all"],
    ),
    "declared-beats-recorded": (GROUP, COOPERATIVE, ["librdkafka:2.6.1"], ["stop-all", "start-all"]),
    "empty-to-cooperative": (EMPTY, COOPERATIVE, ["librdkafka:2.16.0"], ["start-all"]),
    "listed-already": (listing(GROUP, "range", "cooperative-sticky"), COOPERATIVE, [], ["only-bounce"]),
    "one-of-them-lists-range-alone": (
        replace(GROUP, members=(
            replace(GROUP.members[0], protocols=("range", "cooperative-sticky")),
            replace(GROUP.members[1], protocols=("range",)),
        )),
        COOPERATIVE, [], ["first-bounce", "second-bounce"],
    ),
    "between-the-bounces": (
        listing(JAVA_STICKY, "cooperative-sticky", "range"), COOPERATIVE, [], ["only-bounce"],
    ),
    "cooperative-already": (JAVA_STICKY, COOPERATIVE, [], []),
    "cooperative-alone": (listing(JAVA_STICKY, "cooperative-sticky"), COOPERATIVE, [], []),
    "java-to-eager": (JAVA_STICKY, EAGER, [], ["first-bounce", "second-bounce"]),
    "librdkafka-to-eager": (LIBRDKAFKA_STICKY, EAGER, [], ["stop-all", "start-all"]),
    "franz-go-to-eager": (JAVA_STICKY, EAGER, ["franz-go:1.22.0"], ["stop-all", "start-all"]),
    "empty-to-eager": (EMPTY, EAGER, ["java:4.1.0"], ["start-all"]),
    "kafkajs-eager-already": (group_of("kafkajs:2.2", "RoundRobinAssigner"), EAGER, [], []),
    "custom-to-eager": (
        replace(GROUP, protocol="com.example.Weighted"), EAGER, [], ["first-bounce", "second-bounce"],
    ),
    "eager-already": (GROUP, EAGER, [], []),
    "between-the-bounces-back": (listing(GROUP, "range", "cooperative-sticky"), EAGER, [], ["only-bounce"]),
    "java-to-consumer": (GROUP, CONSUMER, [], ["first-member", "other-members"]),
    "java-cooperative-to-consumer": (JAVA_STICKY, CONSUMER, [], ["first-member", "other-members"]),
    "librdkafka-to-consumer": (LIBRDKAFKA, CONSUMER, [], ["first-member", "other-members"]),
    "librdkafka-cooperative-to-consumer": (
        LIBRDKAFKA_STICKY, CONSUMER, [],
        ["start-bridge", "bridge-leads", "first-member", "other-members"],
    ),
    "half-java-cooperative-to-consumer": (
        replace(LIBRDKAFKA_STICKY, members=(*LIBRDKAFKA_STICKY.members, member("j", "java", "4.1.0"))), CONSUMER, [],
        ["start-bridge", "bridge-leads", "first-member", "other-members"],
    ),
    "one-member-to-consumer": (replace(LIBRDKAFKA, members=LIBRDKAFKA.members[:1]), CONSUMER, [], ["first-member"]),
    "one-static-member-to-consumer": (ONE_STATIC, CONSUMER, [], ["first-member"]),
    "one-static-member-with-user-data": (
        replace(ONE_STATIC, members=(replace(ONE_STATIC.members[0], user_data=UserData(assignment=b"d")),)),
        CONSUMER, [], ["stop-all", "start-all"],
    ),
    "sarama-sticky-to-consumer": (SARAMA, CONSUMER, [], ["shed-user-data", "first-member", "other-members"]),
    "sarama-sticky-unseen-to-consumer": (
        group_of("sarama:1.45", "sticky"), CONSUMER, [], ["shed-user-data", "first-member", "other-members"],
    ),
    "empty-to-consumer": (EMPTY, CONSUMER, ["java:4.1.0"], ["start-all"]),
    "half-way-to-consumer": (MIXED, CONSUMER, [], ["other-members"]),
    "consumer-already": (NEWER, CONSUMER, [], []),
    "to-classic": (NEWER, CLASSIC, [], ["all-but-one", "last-member"]),
    "classic-members-alone-to-classic": (
        replace(NEWER, members=tuple(upgraded(name, MemberProtocol.CLASSIC) for name in ("m1", "m2"))),
        CLASSIC, [], ["stop-all", "start-all"],
    ),
    "bridge-left-behind": (replace(NEWER, members=(*NEWER.members, BRIDGE)), CONSUMER, [], ["stop-bridge"]),
    "bridge-left-half-way": (
        replace(MIXED, members=(*MIXED.members, BRIDGE)), CONSUMER, [], ["stop-bridge", "other-members"],
    ),
    "bridge-left-to-eager": (
        replace(LIBRDKAFKA_STICKY, members=(*LIBRDKAFKA_STICKY.members, BRIDGE)), EAGER, [],
        ["stop-bridge", "stop-all", "start-all"],
    ),
    "half-way-to-classic": (MIXED, CLASSIC, [], ["last-member"]),
    "one-member-to-classic": (replace(NEWER, members=NEWER.members[:1]), CLASSIC, [], ["last-member"]),
    "empty-to-classic": (EMPTY_NEWER, CLASSIC, ["java:4.1.0"], ["start-all"]),
    "streams-to-cooperative": (STREAMS, COOPERATIVE, [], ["first-bounce", "second-bounce"]),
    "old-streams-to-cooperative": (STREAMS, COOPERATIVE, ["java:2.3.1"], ["first-bounce", "second-bounce"]),
    "streams-of-2.4-to-cooperative": (STREAMS, COOPERATIVE, ["java:3.9.1"], ["only-bounce"]),
    "streams-of-4.0-to-cooperative": (STREAMS, COOPERATIVE, ["java:4.0.0"], []),
    "streams-to-eager": (STREAMS, EAGER, ["java:3.9.1"], ["only-bounce"]),
    "streams-unknown-to-eager": (STREAMS, EAGER, [], ["only-bounce"]),
    "old-streams-to-eager": (STREAMS, EAGER, ["java:2.3.1"], []),
    "classic-already": (GROUP, CLASSIC, [], []),
}  # fmt: skip


@pytest.mark.parametrize(("group", "to", "clients", "ids"), WAYS.values(), ids=WAYS.keys())
def test_the_way(group: Group, to: Destination, clients: list[str], ids: list[str]) -> None:
    made = plan(group, to, *clients)
    assert blockers(made) == []
    assert [step.id for step in made.steps] == ids


OFFLINE = {
    "asked-for": (GROUP, COOPERATIVE, NEW, "was requested"),
    "back": (JAVA_STICKY, EAGER, NEW, "was requested"),
    "to-consumer": (GROUP, CONSUMER, NEW, "was requested"),
    "to-consumer-policy": (GROUP, CONSUMER, policy(NEW, "downgrade"), "policy is downgrade"),
    "to-consumer-user-data": (WITH_DATA, CONSUMER, NEW, "carry user data"),
    "to-classic": (NEWER, CLASSIC, policy(NEW, "bidirectional"), "was requested"),
    "to-classic-policy": (NEWER, CLASSIC, policy(NEW, "UPGRADE"), "policy is upgrade"),
}


@pytest.mark.parametrize(("group", "to", "cluster", "why"), OFFLINE.values(), ids=OFFLINE.keys())
def test_offline_where_asked(group: Group, to: Destination, cluster: Cluster, why: str) -> None:
    made = plan(group, to, cluster=cluster, offline=True)
    assert [step.id for step in made.steps] == ["stop-all", "start-all"]
    assert [why in way.why_not for way in made.alternatives] == [True]


BLOCKED = {
    "unknown-library": (replace(GROUP, members=(member("m1"),)), CONSUMER, [], ["client-library"]),
    "unknown-library-without-members": (EMPTY, CONSUMER, [], ["client-library"]),
    "recorded-but-unheard-of": (
        replace(GROUP, members=(member("m1", "homegrown", "1"),)), COOPERATIVE, [], ["client-library"],
    ),
    "assignor-unknown": (replace(GROUP, protocol=""), COOPERATIVE, [], ["assignor-unknown"]),
    "no-cooperative-yet-in-franz-go": (GROUP, COOPERATIVE, ["franz-go:1.16"], ["client-support"]),
    "streams-to-consumer": (STREAMS, CONSUMER, [], ["streams"]),
    "streams-of-4.0-to-eager": (STREAMS, EAGER, ["java:4.3.1"], ["streams"]),
    "streams-too-far-apart": (STREAMS, COOPERATIVE, ["java:4.0", "m11=java:2.3"], ["streams"]),
    "too-old": (GROUP, CONSUMER, ["java:3.9.1"], ["client-support"]),
    "cannot": (GROUP, COOPERATIVE, ["sarama:1.45"], ["client-support"]),
    "one-sarama-member": (group_of("sarama:1.45", "sticky", 1), CONSUMER, [], ["client-support"]),
    "sarama-sticky-to-cooperative": (SARAMA, COOPERATIVE, [], ["client-support"]),
    "old-librdkafka": (LIBRDKAFKA, CONSUMER, ["librdkafka:2.11.1"], ["client-support"]),
    "user-data": (WITH_DATA, CONSUMER, [], ["assignment-user-data"]),
    "connect": (replace(GROUP, protocol_type="connect", protocol="sessioned"), CONSUMER, [], ["protocol-type"]),
    "share": (replace(GROUP, type=GroupType.SHARE, protocol_type="share"), CONSUMER, [], ["group-type"]),
    "streams": (replace(GROUP, type=GroupType.STREAMS, protocol_type="streams"), CONSUMER, [], ["group-type"]),
    "back-to-cooperative": (NEWER, COOPERATIVE, [], ["group-type"]),
    "dead": (replace(GROUP, state=GroupState.DEAD, members=()), CONSUMER, [], ["group-state"]),
}  # fmt: skip


@pytest.mark.parametrize(("group", "to", "clients", "rules"), BLOCKED.values(), ids=BLOCKED.keys())
def test_what_blocks(group: Group, to: Destination, clients: list[str], rules: list[str]) -> None:
    made = plan(group, to, *clients)
    assert blockers(made) == rules
    assert made.verdict is PlanVerdict.BLOCKED
    assert (made.steps, made.path, made.alternatives) == ((), "", ())
    # Blockers stand first, so that no member has to look for them.
    levels = [finding.level.value for finding in made.findings]
    assert levels == sorted(levels, key=["blocker", "warning", "info"].index)


def test_a_group_with_offsets_only_migrates_as_an_empty_one() -> None:
    made, empty = (plan(group, CONSUMER, "java:4.1") for group in (replace(EMPTY, protocol_type=""), EMPTY))
    assert (made.steps, made.verdict) == (empty.steps, empty.verdict)
    added = {finding.rule: finding.level for finding in made.findings if finding not in empty.findings}
    assert added == {"protocol-type": Level.INFO}


def test_warnings_of_the_usual_case() -> None:
    assert warnings(plan(GROUP, COOPERATIVE)) == ["rebalance-listener"]
    assert warnings(plan(LIBRDKAFKA, COOPERATIVE)) == ["two-bounces", "rebalance-listener"]


def test_a_plan_knows_the_group_that_it_was_made_for() -> None:
    baseline = plan(MIXED, CONSUMER).baseline
    assert baseline is not None
    assert (baseline.cluster, baseline.type, baseline.protocol, baseline.epoch) == (
        "c",
        GroupType.CONSUMER,
        "uniform",
        3,
    )
    assert [(one.id, one.library, one.partitions) for one in baseline.members] == [
        ("m1", "java", 2),
        ("m2", "java", 2),
    ]
    assert baseline.topics == ("orders",)
    assert {one.protocol for one in MIXED.members} == set(MemberProtocol)
