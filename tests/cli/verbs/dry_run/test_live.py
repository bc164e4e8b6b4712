"""What a dry run of a live group says is what the group gets when the change is really made.

Members are real consumers; their ids are random in every run, so every run is another case.
A long run tries more shapes of groups.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from assignors.assignor import Leader, Side
from assignors.java.hash_map import timeline_order
from groups.dry_run import DryRun, DryRunRequest, dry_run
from groups.group_spec import ADDED, WhatIf
from tests.cli.command import Kohort
from tests.cli.verbs.dry_run.live_group import (
    JAVA,
    JAVA_CLASSES,
    Kind,
    LiveGroup,
    MissedARebalanceError,
    added_is_undetermined,
    again_if_a_member_is_late,
    promised,
    reported,
)
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator, wait_topics_known
from tests.kafka.members import Members, Setting
from tests.kafka.ports import HOST
from tests.kafka.settings import NODE_ID
from tests.support.long import IS_LONG, LONG

KINDS = tuple(
    Kind(library=library, protocol=protocol, assignor=name)
    for library, protocol, names in (
        (Leader.JAVA, "classic", JAVA_CLASSES),
        (Leader.LIBRDKAFKA, "classic", ("range", "roundrobin", "cooperative-sticky")),
        (Leader.JAVA, "consumer", ("uniform", "range")),
        (Leader.LIBRDKAFKA, "consumer", ("uniform", "range")),
    )
    for name in names
)
RACKED = (
    "java-classic-range",
    "java-classic-sticky",
    "java-classic-cooperative-sticky",
    "java-consumer-uniform",
    "librdkafka-classic-range",
    "librdkafka-classic-cooperative-sticky",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    topics: tuple[int, ...]
    settings: Mapping[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A group to start with. The first member changes its topics, the last one leaves."""

    counts: tuple[int, ...]  # partitions by topic
    seats: tuple[Seat, ...]
    joiner: Seat


ALL = (0, 1, 2)
PLAIN = Shape(counts=(7, 4, 1), seats=(Seat(topics=ALL),) * 3, joiner=Seat(topics=ALL))


def settled(setting: str, *values: str) -> tuple[Seat, ...]:
    return tuple(Seat(topics=ALL, settings={setting: value} if value else {}) for value in values)


def seats(*topics: tuple[int, ...]) -> tuple[Seat, ...]:
    return tuple(Seat(topics=numbers) for numbers in topics)


SHAPES = {
    "plain": PLAIN,
    "differing": Shape(
        counts=(7, 4, 5), seats=seats(ALL, (0,), (2, 1), (1,), (0, 2)), joiner=Seat(topics=(1, 2))
    ),
    "static": Shape(
        counts=(8, 8, 3),
        seats=settled("group_instance_id", "seat-c", "seat-a", "", "seat-b", ""),
        joiner=settled("group_instance_id", "seat-aa")[0],
    ),
    "racks": Shape(
        counts=(9, 9, 4),
        seats=settled("client_rack", "b", "a", "", "a"),
        joiner=settled("client_rack", "a")[0],
    ),
    "backwards": Shape(
        counts=(6, 5, 4), seats=seats((2, 1, 0), (2, 0, 1), (1, 2, 0)), joiner=Seat(topics=(2, 1, 0))
    ),
    "large": Shape(counts=(70, 33, 3), seats=(Seat(topics=ALL),) * 7, joiner=Seat(topics=(0, 1))),
}


@again_if_a_member_is_late
def test_changes_one_after_another(
    kohort: Kohort, broker: Broker, members: Members, kind: Kind, shape: Shape
) -> None:
    group = LiveGroup(kohort, broker, members, kind)
    topics = group.create(*shape.counts)
    started = [start(group, topics, seat) for seat in shape.seats]
    group.settled()
    group.check_join(lambda: start(group, topics, shape.joiner))
    assert group.check_subscribe(started[0], topics[1:]) == []
    assert group.check_leave(started[-1]) == []
    if IS_LONG:
        assert group.check_subscribe(started[1], topics[:1]) == []
        group.check_join(lambda: start(group, topics, Seat(topics=ALL)))
        assert group.check_subscribe(started[0], topics) == []


@again_if_a_member_is_late
def test_a_topic_grows(kohort: Kohort, broker: Broker, members: Members, kind: Kind, shape: Shape) -> None:
    group = LiveGroup(kohort, broker, members, kind, refreshing=True)
    topics = group.create(*shape.counts)
    for seat in shape.seats:
        group.join(topics, kind=None, **seat.settings)
    group.settled()
    assert group.check_growth(topics[1], shape.counts[1] + 5) == []
    if IS_LONG:
        assert group.check_growth(topics[0], shape.counts[0] + 1) == []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "shape" in metafunc.fixturenames:
        shapes = SHAPES if IS_LONG else {"plain": PLAIN}
        metafunc.parametrize("shape", shapes.values(), ids=shapes)
        grows = metafunc.function is test_a_topic_grows
        metafunc.parametrize("kind", KINDS if IS_LONG else KINDS[:: 3 if grows else 2], ids=str)


@pytest.mark.kafka
@pytest.mark.parametrize(
    ("assignor", "target"),
    [
        ("cooperative-sticky", "uniform"),
        ("range", "range"),
        *([("range", "uniform"), ("cooperative-sticky", "range")] if IS_LONG else ()),
    ],
)
@again_if_a_member_is_late
def test_a_converted_group(
    kohort: Kohort, broker: Broker, members: Members, assignor: str, target: str
) -> None:
    kind = Kind(library=Leader.JAVA, protocol="classic", assignor=assignor)
    group = LiveGroup(kohort, broker, members, kind)
    topics = group.create(23, 8)
    for _ in range(6):
        group.join(topics)
    before = group.settled()
    # Until it knows them it computes targets without them, and one more as soon as it does.
    wait_topics_known(broker, group.id, group.counts)
    run = group.dry_run("--side", "broker", "--assignor", target, "--add", "1")
    assert added_is_undetermined(run)
    generation = group.generation()
    name = group.join(topics, Kind(library=Leader.JAVA, protocol="consumer", assignor=target))
    state = group.settled()
    joiner = state.member(name)
    if joiner.epoch != generation + 1:
        raise MissedARebalanceError(f"{group.id} was at {generation}, its joiner is at {joiner.epoch}")
    expected = before.with_joiner(joiner).dry_run(group.kind, side=Side.BROKER, assignor=target)
    assert group.outcome(state, expected) == expected, (before, joiner)
    # The map that the assignor saw is built again from the records which that map's members became.
    classic = [member.id for member in before.group.members]
    walked = [*(classic[i] for i in timeline_order(classic)), joiner.id]
    assert [member.id for member in state.group.members] == [walked[i] for i in timeline_order(walked)]


@pytest.mark.parametrize("leader", Leader)
@pytest.mark.parametrize("assignor", ["cooperative-sticky", *(["range", "roundrobin"] if IS_LONG else [])])
@again_if_a_member_is_late
def test_the_leaders_library_decides(
    kohort: Kohort, broker: Broker, members: Members, leader: Leader, assignor: str
) -> None:
    kinds = {library: Kind(library=library, protocol="classic", assignor=assignor) for library in Leader}
    follower = next(library for library in Leader if library is not leader)
    group = LiveGroup(kohort, broker, members, kinds[leader], refreshing=True)
    topics = group.create(7, 5)
    group.join(topics)
    group.settled()
    other = group.join(topics[::-1], kinds[follower])
    last = group.join(topics[:1], kinds[leader])
    group.settled()
    assert group.check_growth(topics[0], 11) == []
    assert group.check_leave(other) == []
    group.join(topics, kinds[follower])
    group.settled()
    assert group.check_leave(last) == []


@pytest.mark.parametrize("joins", [False, True])
@again_if_a_member_is_late
def test_in_the_second_bounce_each_member_counts_by_its_own_list(
    kohort: Kohort, broker: Broker, members: Members, joins: bool
) -> None:
    kind = Kind(library=Leader.JAVA, protocol="classic", assignor="cooperative-sticky")
    group = LiveGroup(kohort, broker, members, kind)
    both = f"{kind.settings['partition_assignment_strategy']},{JAVA}{JAVA_CLASSES['range']}"
    topics = group.create(11)
    bounced = {group.join(topics), group.join(topics)}
    # With 11 partitions for three, one of the bounced ones has to give up some to a fourth.
    mixed = {group.join(topics, partition_assignment_strategy=both) for _ in range(1 if joins else 2)}
    before = group.settled()
    run = group.dry_run("--add", "1")
    assert {*run["unknown_lists"]} == {*(member.id for member in before.group.members), f"{ADDED}1"}
    seen = {name: len(group.consumers[name].events()) for name in bounced | mixed}
    if joins:
        newcomer = group.join(topics, partition_assignment_strategy=both)
        mixed.add(newcomer)
        state = group.settled()
        before = before.with_joiner(state.member(newcomer))
    else:
        leaver = mixed.pop()
        group.leave(leaver)
        state = group.settled()
        before = before.changed(WhatIf(remove=frozenset({leaver})))
    lists = {name: ("cooperative-sticky", *(("range",) if name in mixed else ())) for name in bounced | mixed}
    # A member that joins goes by its client id too.
    clients = {member.id: member.client.id or "" for member in state.group.members}
    named = tuple(replace(member, protocols=lists[clients[member.id]]) for member in before.group.members)
    said = dry_run(replace(before.group, members=named), before.topics, DryRunRequest(leader=Leader.JAVA))
    expected = reported(said.rebalances[-1].assignment)
    assert group.outcome(state, expected) == expected, before
    assert set(said.eager_members) == {state.member(name).id for name in mixed}
    assert len(said.rebalances) == (2 if joins else 1)
    for name in sorted(bounced | mixed):
        later = group.consumers[name].events()[seen.get(name, 0) :]
        revoked = [share(event.partitions) for event in later if event.kind == "revoked" and event.partitions]
        assert revoked == _revoked(said, state.member(name).id), name


def share(partitions: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    return reported({"": partitions})[""]


def _revoked(said: DryRun, member: str) -> list[Mapping[str, Sequence[int]]]:
    """What a member gives up in each rebalance that takes anything from it."""
    held = next(share(entry.before) for entry in said.members if entry.id == member)
    revoked: list[Mapping[str, Sequence[int]]] = []
    for rebalance in said.rebalances:
        given = {} if member in said.eager_members else share(rebalance.assignment[member])
        lost = share({topic: [p for p in held[topic] if p not in given.get(topic, ())] for topic in held})
        revoked += [lost] if lost else []
        held = share(rebalance.assignment[member])
    return revoked


def test_the_library_is_reported_by_default_client_ids(
    kohort: Kohort, broker: Broker, members: Members
) -> None:
    group = LiveGroup(kohort, broker, members, KINDS[0])
    (topic,) = group.create(3)
    started = members.confluent(broker, group.id, [topic], client_id="rdkafka")
    started.wait_assignment({topic: [0, 1, 2]})
    (run,) = kohort.quick("dry-run", group.id, "-b", broker.bootstrap, "--output", "json").document["groups"]
    assert run["leader"] == {"library": "librdkafka", "known_by": "inferred from the member id"}


@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_a_static_member_rejoins_with_other_topics(
    kohort: Kohort, broker: Broker, members: Members, assignor: str
) -> None:
    kind = Kind(library=Leader.JAVA, protocol="consumer", assignor=assignor)
    group = LiveGroup(kohort, broker, members, kind)
    topics = group.create(9, 5)
    seat = group.join(topics, group_instance_id="seat-a")
    for instance in ("seat-b", "seat-c"):
        group.join(topics, group_instance_id=instance)
    before = group.settled()
    run = group.dry_run("--subscribe", f"seat-a={topics[0]}")
    group.leave(seat)
    back = group.join(topics[:1], group_instance_id="seat-a")
    state = group.settled()
    old, new = before.member(seat).id, state.member(back).id
    assert old != new
    changed = before.changed(WhatIf(subscribe={"seat-a": (topics[0],)}))
    expected = changed.renamed(old, new).dry_run(group.kind)
    assert group.outcome(state, expected) == expected, before
    if assignor == "range":
        assert expected == {new if id_ == old else id_: share for id_, share in promised(run).items()}


@pytest.fixture(scope="module")
def two_racks(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    first = Broker(kafka_jars, tmp_path_factory.mktemp("rack-a"))
    try:
        first.start()
        # With one node there is, the internal topic is there: the rig asks this node about groups.
        wait_for_coordinator(first)
        second = Broker(kafka_jars, tmp_path_factory.mktemp("rack-b"), _joining(first))
        try:
            second.start()
            yield first
        finally:
            second.stop()
    finally:
        first.stop()


def _joining(first: Broker) -> dict[str, str]:
    lines = (first.directory / "server.properties").read_text().splitlines()
    properties = dict(line.split("=", 1) for line in lines)
    return {
        "process.roles": "broker",
        "node.id": str(NODE_ID + 1),
        "broker.rack": "b",
        "controller.quorum.voters": properties["controller.quorum.voters"],
        "listeners": f"CLIENT://{HOST}:0",
    }


@LONG
@pytest.mark.parametrize("kind", [kind for kind in KINDS if str(kind) in RACKED], ids=str)
@again_if_a_member_is_late
def test_racks_decide(kohort: Kohort, two_racks: Broker, members: Members, kind: Kind) -> None:
    group = LiveGroup(kohort, two_racks, members, kind)
    topics = group.create(8, 8, 5)
    group.join(topics, client_rack="a")
    leaver, wanderer = group.join(topics, client_rack="b"), group.join(topics, client_rack="b")
    group.join(topics)
    group.settled()
    racks = [rack for topic in group.state().topics.values() for rack in (topic.racks or {}).values()]
    assert {*racks} == {("a",), ("b",)}
    group.check_join(lambda: group.join(topics, client_rack="a"))
    group.check_leave(leaver)
    group.check_subscribe(wanderer, topics[:2])
    grown = group.dry_run("--topic-partitions", f"{topics[2]}=7")["undetermined"]
    places = [f"{topics[2]}-5", f"{topics[2]}-6"] if kind.protocol == "classic" else []
    assert [item.get("partition") for item in grown] == places


def start(group: LiveGroup, topics: Sequence[str], seat: Seat) -> str:
    return group.join([topics[number] for number in seat.topics], kind=None, **seat.settings)
