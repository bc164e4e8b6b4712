"""A coordinator's node crashes, restarts from its log, hands over, and becomes a zombie."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from coordinator.configs.settings import Config
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.engine import Engine
from coordinator.engine.records import OffsetRecord, Record, StoredOffset
from coordinator.engine.topics import TopicImage
from coordinator.simulation.compacted_log import LACKS, Check, CleanerPositions, compacted
from coordinator.simulation.log_rules import hard_state
from coordinator.simulation.network import SimulatedConnection
from coordinator.simulation.node import NO_ID, CoordinatorNode, LogAppend, NodeStatus, NodeWatcher
from coordinator.simulation.schedule import Schedule
from tests.coordinator.engine.consumer import images
from wire.errors import ErrorCode

TOPICS: TopicImage = images(("orders", 4))
GROUP = "g"


class Client:
    name = client_id = "a"
    host = "/127.0.0.1"

    def deliver(self, number: int, answer: object) -> None: ...

    def fail(self, number: int) -> None: ...


class Desk(NodeWatcher):
    """Nodes of one log; notes what they answer, and when in relation to what they append."""

    def __init__(self, seed: int = 0) -> None:
        self.schedule = Schedule()
        self.log: list[Record] = []
        self.random = Random(seed)
        self.answers: list[tuple[int, Any]] = []
        self.replays: list[Engine | None] = []
        self.failures: list[str] = []
        self.losses = 0
        self.numbers = 0

    def node(self, number: int = 1, *checks: Check) -> CoordinatorNode:
        return CoordinatorNode(
            number,
            self.schedule,
            Config(),
            self.log,
            self.random,
            lambda _connection, number, answer: self.answers.append((number, answer)),
            lambda _connection, _request: NO_ID,
            (self,),
            checks,
        )

    def send(self, node: CoordinatorNode, epoch: int, **fields: Any) -> ConsumerGroupHeartbeatAnswer | None:
        self.numbers += 1
        joins = {"rebalance_timeout_ms": 60_000, "topics": ("orders",), "owned": {}} if epoch == 0 else {}
        request = ConsumerGroupHeartbeat(group=GROUP, epoch=epoch, **{"member": "m", **joins, **fields})
        node.receive(SimulatedConnection(Client(), node.number, 0), self.numbers, request, False)
        return next((answer for number, answer in self.answers if number == self.numbers), None)

    def appended(self, batch: LogAppend) -> None:
        assert self.log[-len(batch.records) :] == list(batch.records)

    def replayed(self, node: CoordinatorNode, before: Engine | None) -> None:
        self.replays.append(before)

    def failed_to_load(self, node: CoordinatorNode, error: Exception) -> None:
        self.failures.append(str(error))

    def lost(self, node: CoordinatorNode, records: Sequence[Record]) -> None:
        self.losses += len(records)


def running(desk: Desk) -> CoordinatorNode:
    node = desk.node()
    node.load(TOPICS)
    return node


@pytest.mark.parametrize("seed", range(8))
def test_a_crash_loses_the_answer_and_perhaps_the_records(seed: int) -> None:
    desk = Desk(seed)
    node = running(desk)
    crashes: list[int] = []
    node.arm(lambda: crashes.append(desk.schedule.now_ms))
    assert desk.send(node, 0) is None
    assert crashes == [0]
    assert node.status is NodeStatus.DOWN
    assert bool(desk.losses) is not bool(desk.log)
    node.load(TOPICS, node)
    assert node.engine.state.groups.keys() == ({GROUP} if desk.log else set())
    assert (desk.replays[-1] is None) is bool(desk.losses)


def test_a_zombie_answers_what_needs_no_append_and_forgets_the_rest() -> None:
    desk = Desk()
    node = running(desk)
    joined = desk.send(node, 0)
    assert joined is not None
    length = len(desk.log)
    node.become_zombie()
    alive = desk.send(node, joined.epoch)
    assert alive is not None
    assert alive.error is ErrorCode.NONE
    refused = desk.send(node, 0, member="another")
    assert refused is not None
    assert refused.error is ErrorCode.NOT_COORDINATOR
    assert len(desk.log) == length
    fresh = desk.node(2)
    fresh.load(TOPICS)
    assert hard_state(node.engine) == hard_state(fresh.engine)


def test_sessions_end_also_after_a_replay() -> None:
    desk = Desk()
    node = running(desk)
    desk.send(node, 0)
    desk.schedule.play(30_000, 100)
    node.load(TOPICS, node)
    desk.schedule.play(70_000, 100)
    assert node.engine.state.groups[GROUP].has_member("m")
    desk.schedule.play(76_000, 100)
    assert not node.engine.state.groups[GROUP].has_member("m")


def test_a_node_loads_a_compacted_log_to_the_same_state() -> None:
    desk = Desk()
    old, new = running(desk), desk.node(2)
    for epoch in (0, 1, -1, 0):
        desk.send(old, epoch)
    whole = CleanerPositions(cleaned=len(desk.log), dropped=len(desk.log))
    assert len(compacted(desk.log, whole)) < len(desk.log)
    new.load(TOPICS, old, whole)
    assert hard_state(new.engine) == hard_state(old.engine)


def test_a_node_that_cannot_load_the_log_coordinates_nothing() -> None:
    desk = Desk()
    old, new = running(desk), desk.node(2, LACKS["KAFKA-17306"])
    value = StoredOffset(offset=1, leader_epoch=0, metadata="", commit_ms=0)
    desk.log.append(OffsetRecord(group=GROUP, topic="orders", partition=0, value=value))
    desk.send(old, 0)
    new.load(TOPICS)
    assert desk.failures == [f"Group {GROUP} is not a consumer group"]
    refused = desk.send(new, 0)
    assert refused is not None
    assert refused.error is ErrorCode.NOT_COORDINATOR
