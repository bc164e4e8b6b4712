"""Which way a plan takes, and when it takes none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coordinator.model import Group, GroupState, GroupType, MemberProtocol, UserData
from migration.model import Destination, Verdict
from tests.migration.cases import (
    CONSUMER,
    COOPERATIVE,
    EMPTY,
    GROUP,
    blockers,
    member,
    plan,
    upgraded,
    warnings,
)

LIBRDKAFKA = replace(GROUP, members=(member("m1", "librdkafka", "2.15.0"),))
NEWER = replace(
    GROUP,
    type=GroupType.CONSUMER,
    protocol="uniform",
    members=(upgraded("m1"), upgraded("m2")),
    group_epoch=3,
)
MIXED = replace(NEWER, members=(upgraded("m1"), upgraded("m2", MemberProtocol.CLASSIC)))
TITLES = {
    "two bounces": [
        "First bounce: every member knows both assignors",
        "Second bounce: only the cooperative assignor is left",
    ],
    "stop and start": ["Stop all members", "Start all members with the cooperative assignor"],
    "one bounce": ["The only bounce: only the cooperative assignor is left"],
    "start": ["Start all members with the cooperative assignor"],
    "roll": ["Convert the group with one member", "Roll the other members"],
    "offline": ["Start the members with the consumer protocol"],
    "nothing": [],
}

WAYS = {
    "java-to-cooperative": (GROUP, COOPERATIVE, [], "two bounces", Verdict.WARNINGS),
    "java-to-consumer": (GROUP, CONSUMER, [], "roll", Verdict.WARNINGS),
    "librdkafka-to-cooperative": (LIBRDKAFKA, COOPERATIVE, [], "stop and start", Verdict.WARNINGS),
    "librdkafka-to-consumer": (LIBRDKAFKA, CONSUMER, [], "roll", Verdict.WARNINGS),
    "one-librdkafka-is-enough": (
        replace(GROUP, members=(*GROUP.members, member("m3", "librdkafka", "2.6.0"))),
        COOPERATIVE, [], "stop and start", Verdict.WARNINGS,
    ),
    "told-beats-recorded": (GROUP, COOPERATIVE, ["librdkafka:2.6.0"], "stop and start", Verdict.WARNINGS),
    "empty-to-consumer": (EMPTY, CONSUMER, ["java:4.1.0"], "offline", Verdict.READY),
    "empty-to-cooperative": (EMPTY, COOPERATIVE, ["librdkafka:2.16.0"], "start", Verdict.READY),
    "listed-already": (
        replace(GROUP, members=(replace(GROUP.members[0], protocols=("range", "cooperative-sticky")),)),
        COOPERATIVE, [], "one bounce", Verdict.WARNINGS,
    ),
    "cooperative-already": (
        replace(GROUP, protocol="cooperative-sticky"), COOPERATIVE, [], "nothing", Verdict.READY,
    ),
    "consumer-already": (NEWER, CONSUMER, [], "nothing", Verdict.READY),
    "half-way": (MIXED, CONSUMER, [], "roll", Verdict.READY),
}  # fmt: skip


@pytest.mark.parametrize(("group", "to", "clients", "way", "verdict"), WAYS.values(), ids=WAYS.keys())
def test_the_way(group: Group, to: Destination, clients: list[str], way: str, verdict: Verdict) -> None:
    made = plan(group, to, *clients)
    assert blockers(made) == []
    assert [step.title for step in made.steps] == TITLES[way]
    assert made.verdict is verdict


BLOCKED = {
    "unknown-library": (replace(GROUP, members=(member("m1"),)), CONSUMER, [], ["client-library"]),
    "unknown-library-of-nobody": (EMPTY, CONSUMER, [], ["client-library"]),
    "recorded-but-unheard-of": (
        replace(GROUP, members=(member("m1", "homegrown", "1"),)), COOPERATIVE, [], ["client-library"],
    ),
    "too-old": (GROUP, CONSUMER, ["java:3.9.1"], ["client-support"]),
    "cannot": (GROUP, COOPERATIVE, ["sarama:1.45"], ["client-support"]),
    "old-librdkafka": (LIBRDKAFKA, CONSUMER, ["librdkafka:2.11.1"], ["client-support"]),
    "user-data": (
        replace(GROUP, members=(replace(GROUP.members[0], user_data=UserData(assignment=b"w")),)),
        CONSUMER, [], ["assignment-user-data"],
    ),
    "connect": (replace(GROUP, protocol_type="connect", protocol="sessioned"), CONSUMER, [], ["protocol-type"]),
    "only-offsets": (replace(EMPTY, protocol_type=""), CONSUMER, [], ["protocol-type"]),
    "share": (replace(GROUP, type=GroupType.SHARE, protocol_type="share"), CONSUMER, [], ["group-type"]),
    "streams": (replace(GROUP, type=GroupType.STREAMS, protocol_type="streams"), CONSUMER, [], ["group-type"]),
    "back-to-cooperative": (NEWER, COOPERATIVE, [], ["group-type"]),
    "dead": (replace(GROUP, state=GroupState.DEAD, members=()), CONSUMER, [], ["group-state"]),
}  # fmt: skip


@pytest.mark.parametrize(("group", "to", "clients", "rules"), BLOCKED.values(), ids=BLOCKED.keys())
def test_what_blocks(group: Group, to: Destination, clients: list[str], rules: list[str]) -> None:
    made = plan(group, to, *clients)
    assert blockers(made) == rules
    assert made.verdict is Verdict.BLOCKED
    assert made.steps == ()
    # Blockers stand first, so that nobody has to look for them.
    levels = [finding.level.value for finding in made.findings]
    assert levels == sorted(levels, key=["blocker", "warning", "info"].index)


def test_two_bounces_put_cooperative_sticky_first() -> None:
    first, second = plan(GROUP, COOPERATIVE).steps
    prefix = "partition.assignment.strategy=org.apache.kafka.clients.consumer"
    assert first.config == (
        "# java",
        f"{prefix}.CooperativeStickyAssignor,org.apache.kafka.clients.consumer.RangeAssignor",
    )
    assert second.config == ("# java", f"{prefix}.CooperativeStickyAssignor")
    assert all(step.way_back and step.complete_when and step.commands for step in (first, second))


def test_each_library_gets_its_own_names() -> None:
    (_, start) = plan(LIBRDKAFKA, COOPERATIVE).steps
    assert start.config == ("# librdkafka", "partition.assignment.strategy=cooperative-sticky")
    both = replace(GROUP, members=(GROUP.members[0], member("m3", "librdkafka", "2.15.0")))
    (convert, _) = plan(both, CONSUMER).steps
    assert [line for line in convert.config if line.startswith("# ") and ":" not in line] == [
        "# java",
        "# librdkafka",
    ]
    assert "# remove: group.protocol.type" in convert.config


@pytest.mark.parametrize(
    ("protocol", "assignor"),
    [("range", "range"), ("roundrobin", "uniform"), ("sticky", "uniform"), ("cooperative-sticky", "uniform")],
)
def test_the_nearest_broker_side_assignor(protocol: str, assignor: str) -> None:
    (convert, _) = plan(replace(GROUP, protocol=protocol), CONSUMER).steps
    assert f"group.remote.assignor={assignor}" in convert.config


@pytest.mark.parametrize(
    ("group", "pattern", "name"),
    [
        ("payments", "'^payments$'", "payments"),
        ("eu.payments", r"'^eu\.payments$'", "eu.payments"),
        ("a b", "'^a b$'", "'a b'"),
        ("a'; rm -rf ~ #", """'^a'"'"'; rm -rf ~ #$'""", """'a'"'"'; rm -rf ~ #'"""),
        ("$(id)", r"'^\$\(id\)$'", "'$(id)'"),
        ("a|b*", r"'^a\|b\*$'", "'a|b*'"),
    ],
)
def test_commands_can_be_pasted(group: str, pattern: str, name: str) -> None:
    for made in (plan(replace(GROUP, id=group), COOPERATIVE), plan(replace(GROUP, id=group), CONSUMER)):
        for command in (command for step in made.steps for command in step.commands):
            wanted = pattern if command.startswith("kohort list --match ") else name
            assert f" {wanted} " in command


def test_an_id_may_look_like_an_option() -> None:
    commands = [
        command for step in plan(replace(GROUP, id="-b"), COOPERATIVE).steps for command in step.commands
    ]
    assert commands[-1] == "kohort describe --members --verbose -- -b"


def test_warnings_of_the_usual_case() -> None:
    assert warnings(plan(GROUP, COOPERATIVE)) == ["rebalance-listener"]
    assert warnings(plan(LIBRDKAFKA, COOPERATIVE)) == ["two-bounces", "rebalance-listener"]
