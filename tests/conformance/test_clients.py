"""Real confluent-kafka consumers on `kohort serve` see what they see on a real broker."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conformance.servers import kohort_serve
from tests.kafka.broker import Broker
from tests.kafka.events import Partitions
from tests.kafka.member import Member
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until

pytestmark = pytest.mark.kafka

SETTLED_S = 60.0


class Embedded(Broker):
    """`kohort serve`, to be pointed at as the rig's members point at a broker."""

    def __init__(self, port: int, directory: Path) -> None:
        super().__init__(directory, directory)
        self.port = port


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    directory = tmp_path_factory.mktemp("embedded")
    with kohort_serve(directory / "serve.log", {}) as port:
        yield Embedded(port, directory)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A server, a topic of six partitions and a group on it, and how to start members."""

    broker: Broker
    members: Members
    topic: str
    group: str

    def join(self, name: str, **settings: str | int) -> Member:
        return self.members.confluent(self.broker, self.group, [self.topic], name, **settings)


Scene = Callable[[Stage], list[dict[str, Partitions]]]
"""Plays a course of events; gives what every member held whenever the group had come to rest."""

CLASSIC: dict[str, str | int] = {"partition_assignment_strategy": "range", "session_timeout_ms": 6000}
COOPERATIVE: dict[str, str | int] = {
    "partition_assignment_strategy": "cooperative-sticky",
    "session_timeout_ms": 6000,
}
CONSUMER: dict[str, str | int] = {"group_protocol": "consumer"}
KINDS = {"range": CLASSIC, "cooperative-sticky": COOPERATIVE, "consumer": CONSUMER}
PARTITIONS = 6


def settle(stage: Stage, *members: Member) -> dict[str, Partitions]:
    """Wait until the members hold every partition between them, each its fair share."""
    share = PARTITIONS // len(members)

    def held() -> list[int]:
        return [sum(map(len, member.assignment().values())) for member in members]

    wait_until(
        lambda: held() == [share] * len(members), lambda: f"{share} each: {held()}", timeout_s=SETTLED_S
    )
    return {member.name: _named(member.assignment(), stage.topic) for member in members}


def _named(held: Partitions, topic: str) -> Partitions:
    return {"orders" if name == topic else name: sorted(partitions) for name, partitions in held.items()}


def out_and_in(kind: dict[str, str | int]) -> Scene:
    """One member, a second, a third; the second leaves, the third crashes."""

    def scene(stage: Stage) -> list[dict[str, Partitions]]:
        a = stage.join("a", **kind)
        seen = [settle(stage, a)]
        b = stage.join("b", **kind)
        seen.append(settle(stage, a, b))
        c = stage.join("c", **kind)
        seen.append(settle(stage, a, b, c))
        b.stop()
        seen.append(settle(stage, a, c))
        c.crash()
        seen.append(settle(stage, a))
        return seen

    return scene


def static_return(kind: dict[str, str | int]) -> Scene:
    """Two static members; one goes away and comes back to what it had, the other noticing nothing."""

    def scene(stage: Stage) -> list[dict[str, Partitions]]:
        a = stage.join("a", group_instance_id="i-a", **kind)
        seen = [settle(stage, a)]
        b = stage.join("b", group_instance_id="i-b", **kind)
        seen.append(settle(stage, a, b))
        calls = len(a.events())
        b.crash() if kind is not CONSUMER else b.stop()
        b = stage.join("b", group_instance_id="i-b", **kind)
        seen.append(settle(stage, a, b))
        assert len(a.events()) == calls
        return seen

    return scene


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("course", [out_and_in, static_return])
def test_members_see_the_same_assignments(
    course: Callable[[dict[str, str | int]], Scene],
    kind: str,
    broker: Broker,
    embedded: Broker,
    members: Members,
) -> None:
    scene = course(KINDS[kind])
    real, ours = (scene(_stage(server, members)) for server in (broker, embedded))
    if kind == "consumer":
        assert _kept(ours) == _kept(real)
    else:
        assert ours == real


def _stage(broker: Broker, members: Members) -> Stage:
    topic = fresh_name("orders")
    create_topics(broker, {topic: PARTITIONS})
    return Stage(broker=broker, members=members, topic=topic, group=fresh_name("group"))


def _kept(steps: list[dict[str, Partitions]]) -> list[dict[str, int]]:
    """How many each member kept at every step: which of the free ones it gets hangs on ids that the clients make up."""
    before: dict[str, Partitions] = {}
    kept = []
    for step in steps:
        kept.append({name: len(_places(held) & _places(before.get(name, {}))) for name, held in step.items()})
        before = step
    return kept


def _places(held: Partitions) -> set[tuple[str, int]]:
    return {(topic, number) for topic, numbers in held.items() for number in numbers}
