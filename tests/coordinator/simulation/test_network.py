"""How messages travel: in order, lost with their connection, late, twice, or not before a partition has ended."""

from random import Random
from typing import Any

import pytest

from coordinator.consumer.outputs import Send
from coordinator.engine.calls import Request
from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.simulation.network import LATE_MS, Network, SimulatedConnection
from coordinator.simulation.scenario import NetworkFaults
from coordinator.simulation.schedule import Schedule

REQUEST = Heartbeat(group="g", generation=1, member="m", instance=None)
JOIN = JoinGroup(
    group="g",
    session_timeout_ms=45_000,
    rebalance_timeout_ms=300_000,
    member="",
    instance=None,
    protocol_type="consumer",
    protocols=(),
)


class Client:
    """Notes what it hears, and when."""

    name = client_id = "a"
    host = "/127.0.0.1"

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.answers: list[tuple[int, int]] = []
        self.failures: list[tuple[int, int]] = []

    def deliver(self, number: int, _answer: object) -> None:
        self.answers.append((self.schedule.now_ms, number))

    def fail(self, number: int) -> None:
        self.failures.append((self.schedule.now_ms, number))


class Wire:
    """A client and a node that answers at once."""

    def __init__(self, faults: NetworkFaults, seed: int = 0) -> None:
        self.schedule = Schedule()
        self.client = Client(self.schedule)
        self.received: list[tuple[int, int, bool]] = []
        self.answers = True
        self.network = Network(self.schedule, faults, Random(seed), self.receive, lambda: 7)

    def receive(self, connection: SimulatedConnection, number: int, _request: Any, is_late: bool) -> None:
        self.received.append((self.schedule.now_ms, number, is_late))
        if self.answers:
            self.network.answer(connection, number, HeartbeatAnswer())

    def send(
        self, number: int, *, at_ms: int = 0, timeout_ms: int = 30_000, request: Request[Any] = REQUEST
    ) -> None:
        self.schedule.at(at_ms, self.network.send, self.client, Send(number, 1, request, timeout_ms))

    def play(self, until_ms: int = 60_000) -> None:
        self.schedule.play(until_ms, 10_000)


def test_a_node_reads_requests_after_a_join_group_once_it_is_answered() -> None:
    wire = Wire(NetworkFaults(delay_ms=(1, 1)))
    connections = []

    def receive(connection: SimulatedConnection, number: int, request: Any, is_late: bool) -> None:
        connections.append(connection)
        wire.answers = not isinstance(request, JoinGroup)
        Wire.receive(wire, connection, number, request, is_late)

    wire.network = Network(wire.schedule, NetworkFaults(delay_ms=(1, 1)), Random(0), receive, lambda: 7)
    wire.send(1, request=JOIN)
    wire.send(2, at_ms=10)
    wire.send(3, at_ms=11)
    wire.play(999)
    assert wire.received == [(1, 1, False)]
    wire.schedule.at(1_000, lambda: wire.network.answer(connections[0], 1, HeartbeatAnswer()))
    wire.play()
    assert wire.received == [(1, 1, False), (1_000, 2, False), (1_000, 3, False)]
    assert [number for _, number in wire.client.answers] == [1, 2, 3]


def test_messages_of_a_connection_arrive_in_order() -> None:
    wire = Wire(NetworkFaults(delay_ms=(1, 500)))
    for number in range(50):
        wire.send(number, at_ms=number)
    wire.play()
    assert [number for _, number, _ in wire.received] == list(range(50))
    assert [number for _, number in wire.client.answers] == list(range(50))
    assert wire.client.failures == []


def test_a_lost_message_fails_all_that_wait_at_once_or_at_the_first_timeout() -> None:
    moments: set[int] = set()
    for seed in range(20):
        wire = Wire(NetworkFaults(loss=1.0, delay_ms=(1, 5)), seed)
        wire.send(1, timeout_ms=9_000)
        wire.send(2, at_ms=4_000, timeout_ms=9_000)
        wire.play()
        assert (wire.received, [number for _, number in wire.client.failures]) == ([], [1, 2])
        moments.add(wire.client.failures[0][0])
    assert max(moments) == 9_000
    assert min(moments) < 10


def test_a_duplicate_is_handled_later_and_its_answer_dropped() -> None:
    wire = Wire(NetworkFaults(duplicate=1.0, delay_ms=(1, 5)))
    wire.send(1)
    wire.play()
    (first_ms, *_, first_late), (second_ms, *_, second_late) = wire.received
    assert (first_late, second_late) == (False, True)
    assert first_ms <= second_ms <= first_ms + LATE_MS
    assert len(wire.client.answers) == 1


@pytest.mark.parametrize(
    "faults", [NetworkFaults(reorder=True, delay_ms=(50, 80)), NetworkFaults(duplicate=1.0)]
)
def test_nothing_that_was_sent_to_a_process_of_a_node_reaches_the_next_one(faults: NetworkFaults) -> None:
    for seed in range(40):
        wire = Wire(faults, seed)
        wire.send(1)
        wire.schedule.at(10, wire.network.stop_node, 1)
        wire.schedule.at(20, wire.network.start_node, 1)
        wire.play()
        assert all(at_ms < 10 for at_ms, _, _ in wire.received)
