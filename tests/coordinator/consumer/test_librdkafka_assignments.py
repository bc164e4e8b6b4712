"""What librdkafka makes of an assignment of nothing, or one that cannot be read, and what its subscription has:
the real one, and Kohort's member."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from queue import Empty
from time import monotonic

import pytest
from confluent_kafka import Consumer
from kio.schema.join_group.v5.request import JoinGroupRequest

from assignors.model import TopicSpec
from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.member import ClientSubscription, Identity
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.rebalance import SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from kohort_testing import KohortBroker
from tests.coordinator.consumer.driver import Application, Play
from tests.kafka.librdkafka_coordinator import Coordinator, Lead, Round, Seat
from tests.kafka.ports import HOST
from wire.client.cluster import KafkaClient
from wire.client.groups import describe_groups
from wire.client.security import ConnectionSettings
from wire.messages.embedded_protocol import read_subscription
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS

PATIENCE_S = 1.5
ASSIGNMENTS: dict[str, tuple[bytes, list[str]]] = {
    "nothing": (b"\0\1\0\0\0\0\xff\xff\xff\xff", ["assigned"]),
    "no bytes": (b"", ["assigned"]),
    "half a version": (b"\0", ["joins again"]),
}
"""What SyncGroup answers, and what the member does then."""


@pytest.mark.parametrize("name", ASSIGNMENTS)
@pytest.mark.parametrize("plays", [pytest.param(False, id="librdkafka"), pytest.param(True, id="kohort")])
def test_what_is_made_of_an_assignment(name: str, plays: bool) -> None:
    assignment, expected = ASSIGNMENTS[name]
    made: Callable[[bytes], list[str]] = _made_by_kohort if plays else _made_by_librdkafka
    assert made(assignment) == expected


def _made_by_librdkafka(assignment: bytes) -> list[str]:
    """In a separate process, again if it is killed: librdkafka 2.16 has aborted here on a busy machine."""
    command = [sys.executable, "-m", __name__, assignment.hex()]
    for _ in range(3):
        child = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if child.returncode >= 0:
            break
    assert child.returncode == 0, child.stderr
    did: list[str] = json.loads(child.stdout)
    return did


def _watch_librdkafka(assignment: bytes) -> list[str]:
    coordinator, round_ = Coordinator(), Round(topics=(TopicSpec(name="foo", partitions=1),))
    coordinator.rounds["leader"] = round_
    config = {"bootstrap.servers": f"{HOST}:{coordinator.port}", "group.id": "g", "client.id": "leader"}
    consumer = Consumer(config | {"partition.assignment.strategy": "cooperative-sticky", "log_level": 0})
    did: list[str] = []
    joined = False
    try:
        consumer.subscribe(["foo"], on_assign=lambda *_: did.append("assigned"))
        deadline = monotonic() + 30
        while not did and monotonic() < deadline:
            consumer.poll(0.05)
            try:
                event = round_.events.get_nowait()
            except Empty:
                continue
            if not isinstance(event, JoinGroupRequest):
                round_.keep.put(assignment)
            elif joined:
                did.append("joins again")
            else:
                joined = True
                seat = Seat(member_id="m", instance=None, metadata=event.protocols[0].metadata)
                lead = Lead(generation=1, protocol="cooperative-sticky", member_id="m", seats=(seat,))
                round_.answer.put(lead)
        deadline = monotonic() + PATIENCE_S
        while monotonic() < deadline:
            consumer.poll(0.05)
    finally:
        # Whatever it waits for, it is given, or it would never close.
        round_.keep.put(assignment)
        round_.answer.put(Lead(generation=2, protocol="cooperative-sticky", member_id="m", seats=()))
        consumer.close()
        coordinator.close()
    return did


def _made_by_kohort(assignment: bytes) -> list[str]:
    def make(identity: Identity, application: Application) -> ClassicConsumer:
        return ClassicConsumer(
            identity,
            ClientSubscription(topics=("foo",)),
            play.topics,
            application.known_positions,
            assignors=("cooperative-sticky",),
        )

    play = Play()
    a = play.start("a", make, library="librdkafka")
    a.holds = lambda send: isinstance(send.request, SyncGroup)
    play.advance(1000)
    joins = len(a.requests(JoinGroup))
    [held] = a.held
    a.member.answered(held.number, SyncGroupAnswer(assignment=assignment), play.now_ms)
    play.advance(1000)
    again = ["joins again"] * (len(a.requests(JoinGroup)) > joins)
    return [kind for kind, _ in a.calls()] + again


@pytest.mark.parametrize(
    ("assignor", "generations"),
    [("range", [-1, -1]), ("roundrobin", [-1, -1]), ("cooperative-sticky", [2, 2])],
)
@pytest.mark.parametrize("plays", [pytest.param(False, id="librdkafka"), pytest.param(True, id="kohort")])
def test_a_subscription_has_existing_topics_and_in_one_assignor_a_generation(
    assignor: str, generations: list[int], plays: bool
) -> None:
    sent = map(read_subscription, (_sent_by_kohort if plays else _sent_by_librdkafka)(assignor))
    assert [(one.topics, one.generation) for one in sent] == [(("foo",), number) for number in generations]


def _sent_by_librdkafka(assignor: str) -> list[bytes]:
    """The last subscriptions of two members, the second of which started later."""
    with KohortBroker(topics={"foo": 2}) as broker, ExitStack() as stack:
        config = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "g"}
        consumers: list[Consumer] = []
        for number in (1, 2):
            consumer = Consumer(
                config | {"partition.assignment.strategy": assignor, "heartbeat.interval.ms": 300}
            )
            stack.callback(consumer.close)
            consumer.subscribe(["foo", "missing"])
            consumers.append(consumer)
            broker.wait_until_stable(
                "g", members=number, polling=lambda: [one.poll(0.02) for one in consumers]
            )
        settings = ConnectionSettings(bootstrap_servers=(broker.bootstrap_servers,))
        with KafkaClient(settings) as client:
            (group,) = describe_groups(client, DESCRIBE_GROUPS, ["g"]).found.values()
        return [member.member_metadata for member in group.members]


def _sent_by_kohort(assignor: str) -> list[bytes]:
    def make(identity: Identity, application: Application) -> ClassicConsumer:
        subscription = ClientSubscription(topics=("foo", "missing"))
        return ClassicConsumer(
            identity, subscription, play.topics, application.known_positions, assignors=(assignor,)
        )

    play = Play()
    members = []
    for name in ("a", "b"):
        members.append(play.start(name, make, library="librdkafka"))
        play.advance(20_000)
    return [member.requests(JoinGroup)[-1].protocols[0].metadata for member in members]


if __name__ == "__main__":
    print(json.dumps(_watch_librdkafka(bytes.fromhex(sys.argv[1]))))
