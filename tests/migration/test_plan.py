"""Which way a plan takes, and what it does in each step: every plan here is recorded in plans.txt.

`KOHORT_WRITE_GOLDEN=1 pytest tests/migration/test_plan.py` writes them again; read the difference before you commit it.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from enum import Enum
from itertools import chain
from pathlib import Path

import pytest

from groups.findings import Level
from groups.model import Client, Group, GroupState, GroupType, MemberProtocol, Subscription, UserData
from migration.commands import ClusterOptions
from migration.model import (
    Condition,
    MemberCount,
    Plan,
    PlanVerdict,
    ProtocolIs,
    RoundAction,
    StateIn,
    Step,
    round_names,
)
from migration.plan_file import condition_tag, plan_from_data, plan_to_data
from tests.cli.sources.live_source import live_source
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import fresh_topic
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

GOLDEN = Path(__file__).parent / "plans.txt"


def with_members(group: Group, **changes: object) -> Group:
    members = tuple(replace(one, **changes) for one in group.members)  # type: ignore[arg-type]
    return replace(group, members=members)


def sized(size: int, group: Group) -> Group:
    first = group.members[0]
    names = [f"m{number}" for number in range(1, size + 1)]
    members = (replace(first, id=name, client=replace(first.client, id=name)) for name in names)
    return replace(group, members=tuple(members))


LIBRDKAFKA = group_of("librdkafka:2.15.0", "range")
JAVA_STICKY = group_of("java:4.1.0", "cooperative-sticky")
LIBRDKAFKA_STICKY = group_of("librdkafka:2.15.0", "cooperative-sticky")
BRIDGE = member("kohort-bridge")
ONE_STATIC = group_of("librdkafka:2.15.0", "cooperative-sticky", 1)
ONE_STATIC = replace(ONE_STATIC, members=(replace(ONE_STATIC.members[0], instance="s1"),))
WITH_DATA = replace(
    GROUP, members=(replace(GROUP.members[0], user_data=UserData(assignment=b"w")), GROUP.members[1])
)
SARAMA = with_members(group_of("sarama:1.45.0", "sticky"), user_data=UserData(assignment=b"s"))
EMPTY_NEWER = replace(NEWER, state=GroupState.EMPTY, members=())
CUSTOM = replace(GROUP, protocol="com.example.Weighted")
STATIC = replace(GROUP, members=tuple(replace(one, instance=f"s-{one.id}") for one in GROUP.members))
BY_REGEX = with_members(NEWER, subscription=Subscription(regex="^orders.*"))
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


SINK = replace(GROUP, id="connect-s3")


def in_the_map(*ids: str, leader: str, static: str | None = None) -> Group:
    """A group of librdkafka whose members are listed as the broker's map has them: of one letter each, whose bin of 16
    is its code modulo 16."""
    first = LIBRDKAFKA_STICKY.members[0]
    members = tuple(
        replace(
            first,
            id=name,
            client=replace(first.client, id=f"m{name}"),
            instance=name if name == static else None,
            owned={"orders": (number,)},
            user_data=UserData(assignment=b"d"),
        )
        for number, name in enumerate(ids)
    )
    return replace(LIBRDKAFKA_STICKY, members=members, leader=leader)


def also(group: Group, *more: object) -> Group:
    return replace(group, members=(*group.members, *more))  # type: ignore[arg-type]


def listed(*lists: tuple[str, ...], group: Group = GROUP) -> Group:
    members = (replace(one, protocols=names) for one, names in zip(group.members, lists, strict=True))
    return replace(group, members=tuple(members))


BOTH = ("range", "cooperative-sticky")
PLANS = {
    # To cooperative.
    "java-to-cooperative": plan(GROUP, COOPERATIVE),
    "in-pairs": plan(sized(5, GROUP), COOPERATIVE, concurrency=2),
    "franz-go-to-cooperative": plan(GROUP, COOPERATIVE, "franz-go:1.22.0"),
    "librdkafka-to-cooperative": plan(LIBRDKAFKA, COOPERATIVE),
    "kafka-python-to-cooperative": plan(GROUP, COOPERATIVE, "kafka-python:3.0.12"),
    "one-librdkafka-is-enough": plan(also(GROUP, member("m3", "librdkafka", "2.6.1")), COOPERATIVE),
    "declared-beats-recorded": plan(GROUP, COOPERATIVE, "librdkafka:2.6.1"),
    "empty-to-cooperative": plan(EMPTY, COOPERATIVE, "librdkafka:2.16.0"),
    "listed-already": plan(listed(BOTH, BOTH), COOPERATIVE),
    "one-of-them-lists-range-alone": plan(listed(BOTH, ("range",)), COOPERATIVE),
    "between-the-bounces": plan(listing(JAVA_STICKY, *BOTH[::-1]), COOPERATIVE),
    "cooperative-already": plan(JAVA_STICKY, COOPERATIVE),
    "cooperative-alone": plan(listing(JAVA_STICKY, "cooperative-sticky"), COOPERATIVE),
    "old-java-gets-the-client-and-the-list-at-once": plan(GROUP, COOPERATIVE, "java:2.3.1"),
    "one-old-java": plan(GROUP, COOPERATIVE, "m1=java:2.3.1"),
    "java-of-2.4": plan(GROUP, COOPERATIVE, "java:2.4"),
    "old-java-offline": plan(GROUP, COOPERATIVE, "java:2.3.1", offline=True),
    "static-to-cooperative": plan(STATIC, COOPERATIVE),
    "static-offline": plan(STATIC, COOPERATIVE, offline=True),
    "same-client-id-on-two-hosts": plan(
        replace(
            GROUP,
            members=tuple(
                replace(one, client=replace(one.client, id="app", host=f"/10.0.0.{n}"))
                for n, one in enumerate(GROUP.members)
            ),
        ),
        COOPERATIVE,
    ),
    "same-client-id-and-host": plan(
        also(with_members(GROUP, client=replace(GROUP.members[0].client, id="app")), member("own", "java")), COOPERATIVE
    ),
    "a-known-cluster": plan(
        GROUP,
        COOPERATIVE,
        connection=ClusterOptions(bootstrap_server="b:9092", command_config="/etc/my client.properties"),
    ),
    # To eager.
    "java-to-eager": plan(JAVA_STICKY, EAGER),
    "java-to-sticky": plan(JAVA_STICKY, EAGER, assignor="sticky"),
    "java-to-eager-and-an-old-client": plan(replace(GROUP, protocol="cooperative-sticky"), EAGER, "java:3.9"),
    "librdkafka-to-eager": plan(LIBRDKAFKA_STICKY, EAGER),
    "franz-go-to-eager": plan(JAVA_STICKY, EAGER, "franz-go:1.22.0"),
    "empty-to-eager": plan(EMPTY, EAGER, "java:4.1.0"),
    "kafkajs-eager-already": plan(group_of("kafkajs:2.2", "RoundRobinAssigner"), EAGER),
    "custom-to-eager": plan(CUSTOM, EAGER),
    "eager-already": plan(GROUP, EAGER),
    "between-the-bounces-back": plan(listed(BOTH, BOTH), EAGER),
    "bridge-left-to-eager": plan(also(LIBRDKAFKA_STICKY, BRIDGE), EAGER),
    # To the consumer protocol.
    "java-to-consumer": plan(GROUP, CONSUMER),
    "java-cooperative-to-consumer": plan(JAVA_STICKY, CONSUMER),
    "java-sticky-to-consumer": plan(replace(GROUP, protocol="sticky"), CONSUMER),
    "range-is-not-offered": plan(
        GROUP, CONSUMER, cluster=replace(NEW, settings={"group.consumer.assignors": "uniform"})
    ),
    "franz-go-roundrobin-to-consumer": plan(replace(GROUP, protocol="roundrobin"), CONSUMER, "franz-go:1.22.0"),
    "librdkafka-to-consumer": plan(LIBRDKAFKA, CONSUMER, concurrency=5),
    "static-to-consumer": plan(STATIC, CONSUMER),
    "librdkafka-cooperative-to-consumer": plan(replace(LIBRDKAFKA_STICKY, leader="m2"), CONSUMER),
    "bridge-without-a-known-leader": plan(LIBRDKAFKA_STICKY, CONSUMER),
    "bridge-after-two-in-the-first-bin": plan(in_the_map("p", "0", "b", leader="b"), CONSUMER),
    "bridge-after-a-static-leader": plan(in_the_map("a", "b", leader="b", static="b"), CONSUMER),
    "bridge-that-is-there": plan(also(LIBRDKAFKA_STICKY, replace(BRIDGE, owned={})), CONSUMER),
    "half-java-cooperative-to-consumer": plan(also(LIBRDKAFKA_STICKY, member("j", "java", "4.1.0")), CONSUMER),
    "one-member-to-consumer": plan(replace(LIBRDKAFKA, members=LIBRDKAFKA.members[:1]), CONSUMER),
    "one-static-member-to-consumer": plan(ONE_STATIC, CONSUMER),
    "one-static-member-with-user-data": plan(with_members(ONE_STATIC, user_data=UserData(assignment=b"d")), CONSUMER),
    "sarama-sticky-to-consumer": plan(SARAMA, CONSUMER),
    "sarama-sticky-unseen-to-consumer": plan(group_of("sarama:1.45", "sticky"), CONSUMER),
    "empty-to-consumer": plan(EMPTY, CONSUMER, "java:4.1.0"),
    "half-way-to-consumer": plan(MIXED, CONSUMER),
    "half-way-of-librdkafka": plan(MIXED, CONSUMER, "librdkafka:2.15.0"),
    "consumer-already": plan(NEWER, CONSUMER),
    "bridge-left-behind": plan(also(NEWER, BRIDGE), CONSUMER),
    "bridge-left-half-way": plan(also(MIXED, BRIDGE), CONSUMER),
    # To classic.
    "to-classic": plan(sized(4, NEWER), CLASSIC, concurrency=10),
    "to-cooperative-sticky": plan(NEWER, CLASSIC, assignor="cooperative-sticky"),
    "kafkajs-to-classic": plan(NEWER, CLASSIC, "kafkajs:2.2"),
    "kafka-python-to-classic": plan(NEWER, CLASSIC, "kafka-python:3.0.12"),
    "dekaf-and-platformatic": plan(GROUP, CONSUMER, "dekaf:1.13.0", "m2=@platformatic/kafka:2.9.0"),
    "platformatic-to-classic": plan(NEWER, CLASSIC, "platformatic-kafka:2.9.0"),
    "regex-to-classic": plan(BY_REGEX, CLASSIC),
    "classic-members-alone-to-classic": plan(
        replace(NEWER, members=tuple(upgraded(name, MemberProtocol.CLASSIC) for name in ("m1", "m2"))), CLASSIC
    ),
    "half-way-to-classic": plan(MIXED, CLASSIC),
    "half-way-with-a-list": plan(
        replace(MIXED, members=(MIXED.members[0], replace(MIXED.members[1], protocols=("sticky", "range")))), CLASSIC
    ),
    "half-way-with-a-list-that-librdkafka-lacks": plan(
        replace(MIXED, members=(MIXED.members[0], replace(MIXED.members[1], protocols=("sticky", "range")))),
        CLASSIC,
        "m1=librdkafka:99",
    ),
    "one-member-to-classic": plan(replace(NEWER, members=NEWER.members[:1]), CLASSIC),
    "empty-to-classic": plan(EMPTY_NEWER, CLASSIC, "java:4.1.0"),
    "classic-already": plan(GROUP, CLASSIC),
    # Kafka Streams.
    "streams-to-cooperative": plan(STREAMS, COOPERATIVE),
    "old-streams-to-cooperative": plan(STREAMS, COOPERATIVE, "java:2.0.1"),
    "streams-of-2.4-to-cooperative": plan(STREAMS, COOPERATIVE, "java:3.9.1"),
    "streams-of-4.0-to-cooperative": plan(STREAMS, COOPERATIVE, "java:4.0.0"),
    "streams-to-eager": plan(STREAMS, EAGER, "java:3.9.1"),
    "streams-unknown-to-eager": plan(STREAMS, EAGER),
    "old-streams-to-eager": plan(STREAMS, EAGER, "java:2.3.1"),
    "streams-offline": plan(STREAMS, COOPERATIVE, "java:2.3.1", offline=True),
    "empty-streams": plan(replace(STREAMS, state=GroupState.EMPTY, members=()), COOPERATIVE, "java:2.3"),
    # Kafka Connect.
    "sink-to-cooperative": plan(SINK, COOPERATIVE, "connect:4.4.0"),
    "sink-to-consumer": plan(SINK, CONSUMER, "connect:4.4.0"),
    "sink-to-eager": plan(replace(SINK, protocol="cooperative-sticky"), EAGER, "connect:4.4.0"),
    "sink-to-classic": plan(
        replace(with_members(SINK, protocol=MemberProtocol.CONSUMER, target={}), type=GroupType.CONSUMER),
        CLASSIC,
        "connect:4.4",
    ),
    # Offline, where it is asked for.
    "offline": plan(GROUP, COOPERATIVE, offline=True),
    "offline-back": plan(JAVA_STICKY, EAGER, offline=True),
    "offline-to-consumer": plan(GROUP, CONSUMER, offline=True),
    "offline-for-the-policy": plan(GROUP, CONSUMER, cluster=policy(NEW, "downgrade"), offline=True),
    "offline-for-user-data": plan(WITH_DATA, CONSUMER, offline=True),
    "offline-to-classic": plan(NEWER, CLASSIC, cluster=policy(NEW, "bidirectional"), offline=True),
    "offline-to-classic-for-the-policy": plan(NEWER, CLASSIC, cluster=policy(NEW, "UPGRADE"), offline=True),
}  # fmt: skip


def recorded(name: str, made: Plan) -> Iterator[str]:
    yield f"{name}: {made.path} for {', '.join(made.clients)}"
    yield from (f"  not: {way.title}" for way in made.alternatives)
    for step in made.steps:
        rounds = " | ".join(" ".join(names) for names in step.rounds)
        yield f"  {step.id} ({step.round_action.value if step.round_action else 'no member'}) {rounds}".rstrip()
        yield from (f"    do: {action}" for action in step.actions)
        yield from (f"    line: {line}" for line in step.config)
        yield from (
            f"    run: {command}"
            for command in (*step.shell, step.commands[0], step.round_command)
            if command
        )
        yield from (f"    leaves: {client}" for client in (step.rollout.leaving if step.rollout else ()))
        yield f"    between: {conditions(step.between)}"
        yield f"    gate: {conditions(step.gate)}"
        yield from (f"    stray to {one.back_to}: {conditions(one.conditions)}" for one in step.strays)
        yield from (f"    risk: {risk.what}" for risk in step.dangers)


def conditions(of: Sequence[Condition]) -> str:
    return ", ".join(sorted(map(condition_text, of))) or "-"


def condition_text(condition: Condition) -> str:
    values = [
        f"{field.name}={value_text(value)}"
        for field in fields(condition)
        if (value := getattr(condition, field.name)) is not None
    ]
    return " ".join((condition_tag(condition), *values))


def value_text(value: object) -> str:
    if isinstance(value, tuple):
        return "/".join(map(value_text, value))
    return str(value.value if isinstance(value, Enum) else value)


def test_every_plan_is_as_recorded() -> None:
    text = "".join(f"{line}\n" for name, made in PLANS.items() for line in (*recorded(name, made), ""))
    if os.environ.get("KOHORT_WRITE_GOLDEN") == "1":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")
    assert [name for name, made in PLANS.items() if blockers(made)] == []


BLOCKED = {
    "unknown-library": (replace(GROUP, members=(member("m1"),)), CONSUMER, [], "client-library"),
    "unknown-library-without-members": (EMPTY, CONSUMER, [], "client-library"),
    "recorded-but-unheard-of": (
        replace(GROUP, members=(member("m1", "homegrown", "1"),)), COOPERATIVE, [], "client-library",
    ),
    "assignor-unknown": (replace(GROUP, protocol=""), COOPERATIVE, [], "assignor-unknown"),
    "no-cooperative-yet-in-franz-go": (GROUP, COOPERATIVE, ["franz-go:1.16"], "client-support"),
    "streams-to-consumer": (STREAMS, CONSUMER, [], "streams"),
    "streams-of-4.0-to-eager": (STREAMS, EAGER, ["java:4.3.1"], "streams"),
    "streams-too-far-apart": (STREAMS, COOPERATIVE, ["java:4.0", "m11=java:2.3"], "streams"),
    "too-old": (GROUP, CONSUMER, ["java:3.9.1"], "client-support"),
    "cannot": (GROUP, COOPERATIVE, ["sarama:1.45"], "client-support"),
    "one-sarama-member": (group_of("sarama:1.45", "sticky", 1), CONSUMER, [], "client-support"),
    "sarama-sticky-to-cooperative": (SARAMA, COOPERATIVE, [], "client-support"),
    "old-librdkafka": (LIBRDKAFKA, CONSUMER, ["librdkafka:2.11.1"], "client-support"),
    "no-consumer-in-brod": (GROUP, CONSUMER, ["brod:4.6.2"], "client-support"),
    "no-classic-in-dekaf": (NEWER, CLASSIC, ["dekaf:1.13.0"], "client-support"),
    "platformatic-before-kip-848": (GROUP, CONSUMER, ["@platformatic/kafka:1.17.0"], "client-support"),
    "rskafka-joins-no-group": (GROUP, COOPERATIVE, ["rskafka"], "client-support"),
    "user-data": (WITH_DATA, CONSUMER, [], "assignment-user-data"),
    "connect": (replace(GROUP, protocol_type="connect", protocol="sessioned"), CONSUMER, [], "protocol-type"),
    "share": (replace(GROUP, type=GroupType.SHARE, protocol_type="share"), CONSUMER, [], "group-type"),
    "streams": (replace(GROUP, type=GroupType.STREAMS, protocol_type="streams"), CONSUMER, [], "group-type"),
    "back-to-cooperative": (NEWER, COOPERATIVE, [], "group-type"),
    "dead": (replace(GROUP, state=GroupState.DEAD, members=()), CONSUMER, [], "group-state"),
}  # fmt: skip


@pytest.mark.parametrize(("group", "to", "clients", "rule"), BLOCKED.values(), ids=BLOCKED.keys())
def test_what_blocks_a_plan(group: Group, to: object, clients: list[str], rule: str) -> None:
    made = plan(group, to, *clients)  # type: ignore[arg-type]
    assert blockers(made) == [rule]
    is_unknown = rule == "client-library"
    assert made.verdict is (PlanVerdict.UNKNOWN if is_unknown else PlanVerdict.BLOCKED)
    assert (made.steps, made.path, made.alternatives) == ((), "", ())
    # Blockers are listed first.
    levels = [finding.level.value for finding in made.findings]
    assert levels == sorted(levels, key=["blocker", "warning", "info"].index)


@pytest.mark.parametrize(
    "made", [made for made in PLANS.values() if made.steps], ids=[name for name, made in PLANS.items() if made.steps]
)  # fmt: skip
def test_what_holds_of_every_plan(made: Plan) -> None:
    assert plan_from_data(plan_to_data(made)) == made
    assert made.baseline is not None
    ids = [step.id for step in made.steps]
    assert len(set(ids)) == len(ids)
    known = set(round_names(made.baseline.members).values())
    for step in made.steps:
        assert all((step.id, step.title, step.actions, step.expect, step.complete_when, step.rollback))
        assert step.dangers or step.id in ("make-way", "leader-back")
        assert all(danger.what and danger.symptom and danger.then for danger in step.dangers)
        assert bool(step.round_command) == (len(step.rounds) > 1)
        assert {stray.back_to for stray in step.strays} <= set(ids)
        # No round and no step begins before the group has settled.
        settled = [one for one in step.gate if isinstance(one, StateIn)]
        assert [one.states == (GroupState.STABLE,) for one in settled] == [step.id != "stop-all"]
        if len(step.rounds) > 1:
            assert {StateIn, MemberCount} <= set(map(type, step.between))
        # No deviation is where the gate opens.
        assert not assignors_in(step.gate) & {
            name for stray in step.strays for name in assignors_in(stray.conditions)
        }
        taken = list(chain.from_iterable(step.rounds))
        assert len(set(taken)) == len(taken)
        assert set(taken) <= known
        assert (step.round_action is None) == (not taken and step.id != "start-all")
        assert_restarted_few_at_a_time(step, made.concurrency)


def assignors_in(of: Sequence[Condition]) -> set[str]:
    return {one.protocol for one in of if isinstance(one, ProtocolIs)}


def test_members_can_be_restarted_from_the_last_number_to_the_first() -> None:
    by_name, reversed_ = [1, 10, 11, *range(2, 10)], list(range(11, 0, -1))
    for reverse, numbers in ((False, by_name), (True, reversed_)):
        step = plan(sized(11, GROUP), COOPERATIVE, reverse=reverse).steps[0]
        assert step.rounds == tuple((f"m{number}",) for number in numbers)


def assert_restarted_few_at_a_time(step: Step, concurrency: int) -> None:
    """All threads of an instance of Kafka Streams restart together."""
    if step.round_action is RoundAction.RESTART:
        for names in step.rounds:
            assert len({re.sub(r"-StreamThread-\d+-consumer", "", name) for name in names}) <= concurrency
    if step.rollout and step.rounds:
        assert [len(some) for some in step.rollout.rounds] == [len(some) for some in step.rounds]


def test_a_group_with_offsets_only_migrates_as_an_empty_one() -> None:
    made, empty = (plan(group, CONSUMER, "java:4.1") for group in (replace(EMPTY, protocol_type=""), EMPTY))
    assert (made.steps, made.verdict) == (empty.steps, empty.verdict)
    added = {finding.rule: finding.level for finding in made.findings if finding not in empty.findings}
    assert added == {"protocol-type": Level.INFO}


def test_warnings_of_the_usual_case() -> None:
    assert warnings(plan(GROUP, COOPERATIVE)) == ["rebalance-listener"]
    assert warnings(plan(LIBRDKAFKA, COOPERATIVE)) == ["two-bounces", "rebalance-listener"]


def test_a_plan_knows_the_group_that_it_was_made_for() -> None:
    baseline = PLANS["half-way-to-consumer"].baseline
    assert baseline is not None
    assert (baseline.cluster, baseline.type, baseline.protocol, baseline.epoch) == (
        "c", GroupType.CONSUMER, "uniform", 3,
    )  # fmt: skip
    members = [(one.id, one.library, one.partitions) for one in baseline.members]
    assert members == [("m1", "java", 2), ("m2", "java", 2)]
    assert baseline.topics == ("orders",)


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ("payments", "payments"),
        ("a b", "'a b'"),
        ("a'; rm -rf ~ #", """'a'"'"'; rm -rf ~ #'"""),
        ("$(id)", "'$(id)'"),
        ("a|b*", "'a|b*'"),
    ],
)
def test_commands_can_be_pasted(group: str, name: str) -> None:
    made = plan(replace(GROUP, id=group), COOPERATIVE)
    assert made.steps[0].commands[1] == f'kohort describe {name} --migration -b "$BOOTSTRAP"'
    made = plan(replace(LIBRDKAFKA_STICKY, id=group), CONSUMER)
    assert made.steps[0].shell[0] == f'kohort bridge {name} -b "$BOOTSTRAP"'
    console = made.alternatives[0].why_not
    assert f" --group {name} " in console
    assert "--command-property client.id=kohort-bridge" in console


def test_an_id_may_look_like_an_option() -> None:
    step = plan(replace(GROUP, id="-b"), COOPERATIVE).steps[0]
    assert step.commands[1] == 'kohort describe --migration -b "$BOOTSTRAP" -- -b'


@pytest.mark.kafka
def test_streams_of_4_3_has_no_eager_rebalancing(broker: Broker, members: Members) -> None:
    """What the plans say of 4.0 and later: the ConfigException, and a group that shows as `stream`."""
    topic = fresh_topic(broker, 2)
    refused = members.streams(
        broker, fresh_name("app"), [topic], group_protocol="classic", upgrade_from="2.3"
    )
    assert "Invalid value 2.3 for configuration upgrade.from" in (refused.wait_event("error").reason or "")
    group = fresh_name("app")
    members.streams(broker, group, [topic], group_protocol="classic")
    wait_group(broker, group, members=1)
    with live_source(broker) as source:
        (description,) = source.describe([group], offsets=False).items
    assert description.protocol == "stream"
    assert [step.id for step in plan(description, COOPERATIVE).steps] == ["only-bounce"]
    assert not plan(description, COOPERATIVE, "java:4.3.1").findings
