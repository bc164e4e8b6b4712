"""Real consumers on `kohort serve` see what they see on a real broker: librdkafka's, each a process, and Java's. Who
assigns walks the members in some order of their ids, and ids that the clients or the broker make up are in another
order in every run. So every rest says in which order its members were walked (`Walk`): what each member kept is
compared as it is, and what was given out in the order of those who got it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum

import pytest

from tests.conformance.servers import Embedded, kohort_serve
from tests.kafka.broker import Broker
from tests.kafka.member import Member
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask
from tests.support.long import LONG

pytestmark = pytest.mark.kafka

SETTLED_S = 90.0
QUIET_S = 2.0
LONG_SESSION_MS = 60_000  # longer than any machine takes to restart a member
GROUP = 32
PARTITIONS = 6
BUCKETS = 16
ATTEMPTS = 3


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    directory = tmp_path_factory.mktemp("embedded")
    with kohort_serve(directory / "serve.log", {}) as port:
        yield Embedded(port, directory)


Settings = Mapping[str, str | int]
Join = Callable[..., Member]

CONSUMER: Settings = {"group_protocol": "consumer"}
ASSIGNORS = "org.apache.kafka.clients.consumer."
CONFLUENT: Mapping[str, Settings] = {
    "range": {"partition_assignment_strategy": "range"},
    "cooperative-sticky": {"partition_assignment_strategy": "cooperative-sticky"},
    "consumer": CONSUMER,
}
JAVA: Mapping[str, Settings] = {
    "default": {},
    "roundrobin": {"partition_assignment_strategy": ASSIGNORS + "RoundRobinAssignor"},
    "cooperative-sticky": {"partition_assignment_strategy": ASSIGNORS + "CooperativeStickyAssignor"},
    "consumer": CONSUMER,
}
QUICK: Settings = {"session_timeout_ms": 6000}
SLOW: Settings = {"session_timeout_ms": LONG_SESSION_MS}


@dataclass(slots=True, kw_only=True)
class Stage:
    """A server, a topic of six partitions and its group, a way to start members, and their observations."""

    broker: Broker
    members: Members
    java: bool
    topic: str
    group: str
    walk: "Walk"

    def join(self, name: str, *settings: Settings, **more: str | int) -> Member:
        """Start a member; the session is the broker's business under the consumer protocol. No other scene has a member
        of that name: Java's share a process and its events."""
        options = {key: value for one in settings for key, value in one.items()} | more
        if options.get("group_protocol") == "consumer":
            options.pop("session_timeout_ms", None)
        start: Join = self.members.java if self.java else self.members.confluent
        return start(self.broker, self.group, [self.topic], f"{name}-{self.group}", **options)

    def settle(self, *members: Member, walk: "Walk | None" = None) -> "Rest":
        """Wait until the members own all partitions, each its fair share. `walk` is that of the group's assignor,
        unless another is given."""
        share = PARTITIONS // len(members)

        def held() -> list[int]:
            return [sum(map(len, member.assignment().values())) for member in members]

        wait_until(
            lambda: held() == [share] * len(members), lambda: f"{share} each: {held()}", timeout_s=SETTLED_S
        )
        return Rest(
            held={_short(member): frozenset(member.assignment()[self.topic]) for member in members},
            ids={_short(member): member.member_id() for member in members},
            walk=walk or self.walk,
        )

    def let_sessions_last(self) -> None:
        """Keep members of the consumer protocol from expiring, however busy the machine is."""
        self.configure("consumer.session.timeout.ms", str(LONG_SESSION_MS))

    def configure(self, name: str, value: str) -> None:
        resource = {"resource_type": GROUP, "resource_name": self.group}
        setting = {"name": name, "config_operation": 0, "value": value}
        query = {**resource, "configuration_keys": [name]}
        ask(self.broker.port, "IncrementalAlterConfigs", 1, resources=[{**resource, "configs": [setting]}])

        def applies() -> bool:
            answer = ask(self.broker.port, "DescribeConfigs", 4, resources=[query])
            return bool(answer.results[0].configs[0].value == value)

        wait_until(applies, f"{name} applies", timeout_s=SETTLED_S)

    def pair(self, *settings: Settings, static: bool = False) -> tuple[Member, Member, "list[Rest]"]:
        """Start one member, then another."""
        ids = [{"group_instance_id": f"i-{name}"} if static else {} for name in "ab"]
        a = self.join("a", *settings, ids[0])
        alone = self.settle(a)
        b = self.join("b", *settings, ids[1])
        return a, b, [alone, self.settle(a, b)]


def _when_quiet(member: Member) -> int:
    """The number of its events after a quiet period: it may learn of the last generation after the others."""
    before, now = -1, len(member.events())
    while now != before:
        time.sleep(QUIET_S)
        before, now = now, len(member.events())
    return now


def _short(member: Member) -> str:
    return member.name.partition("-")[0]


class Walk(Enum):
    """The order in which an assignor visits the members of a group."""

    NAMES = "ids begin with the names that the tests gave: assignments are the same, member by member"
    IDS = "a client's assignor sorts the ids"
    FROM_SCRATCH = "as IDS, and no member keeps anything"
    BUCKETS = "a broker's assignor has the ids in a java.util.HashMap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """A settled group: partitions and member ids by the names of the members."""

    held: Mapping[str, frozenset[int]]
    ids: Mapping[str, str]
    walk: Walk

    def given_out(self, before: Mapping[str, frozenset[int]]) -> tuple[object, Sequence[object] | None]:
        """Partitions that members kept from `before`, and newly assigned ones, in the order of their new owners. None
        where that order is not known: the ids are in one bucket."""
        if self.walk is Walk.NAMES:
            return self.held, ()
        if self.walk is Walk.FROM_SCRATCH:
            return (), [self.held[name] for name in sorted(self.held, key=self.ids.__getitem__)]
        kept = {name: held & before.get(name, frozenset()) for name, held in self.held.items()}
        gained = {name: held - kept[name] for name, held in self.held.items() if held - kept[name]}
        key = bucket if self.walk is Walk.BUCKETS else str
        order = {name: key(self.ids[name]) for name in gained}
        if len(set(order.values())) < len(order):
            return kept, None
        return kept, [gained[name] for name in sorted(gained, key=order.__getitem__)]


def bucket(text: str) -> int:
    hashed = 0
    for character in text:
        hashed = (31 * hashed + ord(character)) & 0xFFFFFFFF
    return (hashed ^ hashed >> 16) % BUCKETS


Scene = Callable[[Stage, Settings], list[Rest]]
"""Plays a sequence of events; yields the members' partitions whenever the group has settled."""


def out_and_in(stage: Stage, kind: Settings) -> list[Rest]:
    """One member, a second, a third; the second leaves."""
    stage.let_sessions_last()
    a, b, seen = stage.pair(SLOW, kind)
    c = stage.join("c", SLOW, kind)
    seen.append(stage.settle(a, b, c))
    b.stop()
    seen.append(stage.settle(a, c))
    return seen


def crash(stage: Stage, kind: Settings) -> list[Rest]:
    a, b, seen = stage.pair(QUICK, kind)
    b.crash()
    seen.append(stage.settle(a))
    return seen


def static_return(stage: Stage, kind: Settings) -> list[Rest]:
    """Two static members; one stops, returns and gets its partitions, and the other notices nothing. Under the consumer
    protocol it says that it goes (epoch -2); before, it crashes."""
    stage.let_sessions_last()
    a, b, seen = stage.pair(SLOW, kind, static=True)
    calls = _when_quiet(a)
    b.stop() if kind is CONSUMER else b.crash()
    b = stage.join("b", SLOW, kind, group_instance_id="i-b")
    seen.append(stage.settle(a, b))
    assert _when_quiet(a) == calls
    return seen


def static_crash(stage: Stage, kind: Settings) -> list[Rest]:
    """A static member of the consumer protocol crashes: its instance id is released when its session has expired."""
    stage.configure("consumer.session.timeout.ms", "20000")
    a, b, seen = stage.pair(kind, static=True)
    b.crash()
    refused = stage.join("early", kind, group_instance_id="i-b").wait_event("error", SETTLED_S)
    assert refused.reason is not None
    assert "The instance ID is still used by another member in the consumer group" in refused.reason
    seen.append(stage.settle(a))
    b = stage.join("b", kind, group_instance_id="i-b")
    seen.append(stage.settle(a, b))
    return seen


def migration(stage: Stage, kind: Settings) -> list[Rest]:
    """A member of the consumer protocol joins a classic group, which becomes classic again when it leaves."""
    stage.let_sessions_last()
    a = stage.join("a", SLOW, kind)
    seen = [stage.settle(a)]
    b = stage.join("b", CONSUMER)
    seen.append(stage.settle(a, b, walk=Walk.BUCKETS))
    c = stage.join("c", SLOW, kind)
    seen.append(stage.settle(a, b, c, walk=Walk.BUCKETS))
    b.stop()
    # The coordinator made up an id for c, whose own name is not in it.
    seen.append(stage.settle(a, c, walk=Walk.FROM_SCRATCH if kind == {} else Walk.IDS))
    return seen


LEFT_OUT = {(crash, "cooperative-sticky"), (static_return, "cooperative-sticky")}
"""Scenes of librdkafka that a long run plays."""


@pytest.mark.parametrize(
    ("scene", "kind"),
    [
        pytest.param(scene, kind, marks=LONG if (scene, kind) in LEFT_OUT else ())
        for scene in (out_and_in, crash, static_return)
        for kind in CONFLUENT
    ],
)
def test_members_of_librdkafka(
    scene: Scene, kind: str, broker: Broker, embedded: Broker, members: Members
) -> None:
    compare(scene, CONFLUENT[kind], broker, embedded, members, java=False)


def test_a_static_member_of_librdkafka_crashes(broker: Broker, embedded: Broker, members: Members) -> None:
    compare(static_crash, CONSUMER, broker, embedded, members, java=False)


@pytest.mark.parametrize(
    "kind", ["default", *(pytest.param(kind, marks=LONG) for kind in JAVA if kind != "default")]
)
def test_members_of_java(kind: str, broker: Broker, embedded: Broker, members: Members) -> None:
    compare(out_and_in, JAVA[kind], broker, embedded, members, java=True)


@pytest.mark.parametrize("kind", [pytest.param("default", marks=LONG), "cooperative-sticky"])
def test_members_of_java_migrate(kind: str, broker: Broker, embedded: Broker, members: Members) -> None:
    compare(migration, JAVA[kind], broker, embedded, members, java=True)


def compare(
    scene: Scene, kind: Settings, broker: Broker, embedded: Broker, members: Members, *, java: bool
) -> None:
    """Play a scene to both servers: the observations are equal. Members that are separate processes play on both at the
    same time: they wait more than they work. What differs is played again: a member that a busy machine makes late may
    be without its partitions for a while."""
    walk = Walk.BUCKETS if kind is CONSUMER else Walk.NAMES

    def play(server: Broker) -> list[Rest]:
        return scene(_stage(server, members, java, walk), kind)

    for _ in range(ATTEMPTS):
        with ThreadPoolExecutor(1 if java else 2) as stages:
            real, ours = stages.map(play, (broker, embedded))
        apart = _apart(real, ours)
        if not apart:
            return
        print(f"seen on Kafka: {real}\nseen on Kohort: {ours}")
    assert apart == []


def _apart(real: list[Rest], ours: list[Rest]) -> list[str]:
    differences = []
    before: tuple[Mapping[str, frozenset[int]], ...] = ({}, {})
    for number, (one, other) in enumerate(zip(real, ours, strict=True), 1):
        (kept, new), (our_kept, our_new) = one.given_out(before[0]), other.given_out(before[1])
        if our_kept != kept:
            differences.append(f"rest {number}: {our_kept} was kept, not {kept}")
        elif new is not None and our_new is not None and our_new != new:
            differences.append(f"rest {number}: {our_new} was given out, not {new}")
        before = (one.held, other.held)
    return differences


def _stage(broker: Broker, members: Members, java: bool, walk: Walk) -> Stage:
    topic = fresh_name("orders")
    create_topics(broker, {topic: PARTITIONS})
    group = fresh_name("group")
    return Stage(broker=broker, members=members, java=java, topic=topic, group=group, walk=walk)
