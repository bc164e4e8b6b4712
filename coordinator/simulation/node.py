"""A coordinator's node: the real engine, on the log that it is replayed from.

    OFF            not the coordinator: answers NOT_COORDINATOR
    FAILED         the coordinator, but could not load the log: answers NOT_COORDINATOR
    LOADING        loads the log: answers COORDINATOR_LOAD_IN_PROGRESS
    COORDINATING   appends the records of a call, then answers
    ZOMBIE         does not know that another has taken over: appends are refused with NOT_LEADER, so the call is
                   answered NOT_COORDINATOR and its changes are undone; calls without appends continue
    DOWN           crashed: nothing arrives, nothing is answered

All nodes have the same log. A crash happens between the append and the answer of a call if possible (`arm`): the seed
decides whether the records survive. Source: CoordinatorRuntime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from random import Random
from typing import NamedTuple
from uuid import UUID

from coordinator.configs.settings import Config
from coordinator.engine.calls import AnyRequest, Call, CoordinatorResult
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import OffsetCommit
from coordinator.engine.records import Record
from coordinator.engine.topics import TopicImage
from coordinator.errors import RequestRefused
from coordinator.simulation.compacted_log import Check, CleanerPositions, compacted
from coordinator.simulation.network import SimulatedConnection
from coordinator.simulation.schedule import Schedule
from wire.errors import ErrorCode
from wire.values import made

CRASH_WAIT_MS = 500  # How long a crash waits for a call that appends records
NO_ID = UUID(int=0)


class NodeStatus(Enum):
    OFF = "off"
    FAILED = "failed"
    LOADING = "loading"
    COORDINATING = "coordinating"
    ZOMBIE = "zombie"
    DOWN = "down"


_COORDINATING = NodeStatus.COORDINATING  # Read often: Python 3.11 finds a member of an enum slowly


class LogAppend(NamedTuple):
    """Records that a node has appended."""

    records: Sequence[Record]
    request: AnyRequest | None = None  # The request that caused them; None: time, or the topics
    is_late: bool = False  # Whether the request arrived after its connection was lost

    @property
    def is_commit(self) -> bool:
        """Whether the records are offsets that a member or an operator has committed, as in most batches."""
        return type(self.request) is OffsetCommit


class Answering(NamedTuple):
    """A node is about to answer a request."""

    node: CoordinatorNode
    request: AnyRequest
    answer: object
    is_heard: bool  # Whether the connection is not lost yet
    is_late: bool


class NodeWatcher:
    """Observes a node's work before its answers are sent. A subclass overrides what it observes."""

    def appended(self, batch: LogAppend) -> None: ...
    def answering(self, answering: Answering) -> None: ...
    def replayed(self, node: CoordinatorNode, before: Engine | None) -> None: ...
    def failed_to_load(self, node: CoordinatorNode, error: Exception) -> None: ...
    def lost(self, node: CoordinatorNode, records: Sequence[Record]) -> None: ...


class CoordinatorNode:
    """See the module."""

    answers_survive = False
    """Whether answers are sent although their append is lost: a rule that can be broken."""

    def __init__(
        self,
        number: int,
        schedule: Schedule,
        config: Config,
        log: list[Record],
        random: Random,
        answer: Callable[[SimulatedConnection, int, object], None],
        fresh_id: Callable[[SimulatedConnection, AnyRequest], UUID],
        watching: Callable[[str], Sequence[NodeWatcher]],
        checks: Sequence[Check] = (),
    ) -> None:
        """`checks`: the requests that it refuses, and records that it cannot load, as an earlier release."""
        self.number = number
        self.log = log
        self.engine = Engine(config)
        self.status = NodeStatus.OFF
        self.parked: dict[int, tuple[SimulatedConnection, int, AnyRequest, bool]] = {}
        """Unanswered calls, by ticket, and whether they arrived late."""
        self.handled = 0
        self.is_ahead = False  # Whether it crashed before it appended its engine's records
        self._length = 0  # The length of the log that a zombie knows
        self._schedule, self._config, self._random = schedule, config, random
        self._answer, self._fresh_id, self._watching, self._checks = answer, fresh_id, watching, checks
        self._watching_answers, self._watching_appends = watching("answering"), watching("appended")
        self._wake_ms: int | None = None
        self._wakes = 0  # How many wake-ups were planned: only the last one counts
        self._rests_until_ms = 0
        self._crash: Callable[[], None] | None = None
        self._ticket = 0

    # Called by the world.

    def load(
        self,
        image: TopicImage,
        predecessor: CoordinatorNode | None = None,
        cleaning: CleanerPositions | None = None,
    ) -> None:
        """Coordinate, from the state in the log, of which `cleaning` describes the compacted part."""
        before = None if predecessor is None or predecessor.is_ahead else predecessor.engine
        log = self.log if cleaning is None else compacted(self.log, cleaning)
        try:
            self.engine, self.is_ahead = self._replayed(log, image, self._checks), False
        except Exception as error:  # like a broker, which marks the partition as failed on any error
            self.status = NodeStatus.FAILED
            for watcher in self._watching("failed_to_load"):
                watcher.failed_to_load(self, error)
            return
        self.status = NodeStatus.COORDINATING
        for watcher in self._watching("replayed"):
            watcher.replayed(self, before)
        self._finish(self.engine.loaded(self._schedule.now_ms), None, False)

    def unload(self) -> None:
        """Stop coordinating: waiting requests are refused."""
        self.status = NodeStatus.OFF
        self._refuse_waiting()

    def become_zombie(self) -> None:
        self.status, self._length = NodeStatus.ZOMBIE, len(self.log)

    def arm(self, crash: Callable[[], None]) -> None:
        """Crash with the next call that appends records, or after CRASH_WAIT_MS; `crash` is called then."""
        self._crash = crash
        self._schedule.at(self._schedule.now_ms + CRASH_WAIT_MS, self._crash_now, crash)

    @property
    def is_armed(self) -> bool:
        """Whether it is about to crash."""
        return self._crash is not None

    def update_topics(self, image: TopicImage) -> None:
        """Update the coordinator's engine; other nodes get the image when they load."""
        if self.status is NodeStatus.COORDINATING:
            self._finish(self.engine.update_topics(image, self._schedule.now_ms), None, False)

    def skip_time(self, by_ms: int, rests_until_ms: int) -> None:
        """Time was skipped (`Schedule.shift`): timers that are due meanwhile wait for the members' heartbeats."""
        self._rests_until_ms = rests_until_ms
        if self._wake_ms is not None:
            self._wake_ms += by_ms

    def replan(self) -> None:
        """Plan the wake-up again, from the engine's next deadline: it was lost."""
        self._wake_ms = None
        self._wake()

    # Called by the network and the schedule.

    def receive(
        self, connection: SimulatedConnection, number: int, request: AnyRequest, is_late: bool
    ) -> None:
        status = self.status
        if status is not _COORDINATING and status is not NodeStatus.ZOMBIE:
            if status is NodeStatus.DOWN:
                return
            loads = status is NodeStatus.LOADING
            error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if loads else ErrorCode.NOT_COORDINATOR
            self._answer(connection, number, request.refused(RequestRefused(error)))
            return
        self._ticket = ticket = self._ticket + 1
        self.parked[ticket] = (connection, number, request, is_late)
        self.handled += 1
        sender, fresh_id = connection.process, self._fresh_id(connection, request)
        now_ms, none = self._schedule.now_ms, ErrorCode.NONE
        call = made(Call, (ticket, request, now_ms, sender.client_id, sender.host, fresh_id, none))
        try:
            for check in self._checks:
                check(self.engine, request)
        except RequestRefused as error:
            result = CoordinatorResult(answers=((ticket, request.refused(error)),))
        else:
            result = self.engine.handle(call)
        self._finish(result, request, is_late)

    def expire(self, number: int) -> None:
        """Called when planned: handle what is due; nothing if another wake-up was planned meanwhile."""
        if number != self._wakes:
            return
        if self._schedule.now_ms < self._rests_until_ms:
            self._schedule.at(self._rests_until_ms, self.expire, number)
            return
        self._wake_ms = None
        if self.status is NodeStatus.COORDINATING or self.status is NodeStatus.ZOMBIE:
            self._finish(self.engine.expire(self._schedule.now_ms), None, False)

    # Append, then answer.

    def _finish(self, result: CoordinatorResult, request: AnyRequest | None, is_late: bool) -> None:
        records = result.records
        if records:
            if self.status is NodeStatus.ZOMBIE:
                self._undo()
                return
            if self._crash is not None and self._random.random() < 0.5:
                self.is_ahead = True
                for watcher in self._watching("lost"):
                    watcher.lost(self, records)
                if self.answers_survive:
                    self._send(result)
                    self.status = NodeStatus.DOWN
                    self._schedule.at(self._schedule.now_ms + CRASH_WAIT_MS, self._crash_now, self._crash)
                else:
                    self._crash_now(self._crash)
                return
            self.log += records
            batch = LogAppend(records, request, is_late)
            for watcher in self._watching_appends:
                watcher.appended(batch)
            if self._crash is not None:
                self._crash_now(self._crash)
                return
        self._send(result)
        self._wake()

    def _wake(self) -> None:
        soonest_ms = self.engine.no_deadline_before()
        if soonest_ms is None or (self._wake_ms is not None and soonest_ms >= self._wake_ms):
            return
        deadline_ms = self.engine.next_deadline()
        if deadline_ms is not None and (self._wake_ms is None or deadline_ms < self._wake_ms):
            self._wake_ms = deadline_ms
            self._wakes += 1
            self._schedule.at(deadline_ms, self.expire, self._wakes)

    def _send(self, result: CoordinatorResult) -> None:
        for ticket, answer in result.answers:
            connection, number, request, is_late = self.parked.pop(ticket)
            answering = made(Answering, (self, request, answer, not connection.is_lost, is_late))
            for watcher in self._watching_answers:
                watcher.answering(answering)
            self._answer(connection, number, answer)

    def _crash_now(self, crash: Callable[[], None]) -> None:
        if self._crash is not crash:
            return
        self._crash = None
        self.status = NodeStatus.DOWN
        self.parked.clear()
        crash()

    def _undo(self) -> None:
        """A zombie's append is refused: return to the state of the log from when it was the coordinator."""
        self._refuse_waiting()
        self.engine = self._replayed(self.log[: self._length], self.engine.topics)
        self.engine.loaded(self._schedule.now_ms)
        self._wake()

    def _refuse_waiting(self) -> None:
        parked, self.parked = self.parked, {}
        for connection, number, request, _ in parked.values():
            refused = request.refused(RequestRefused(ErrorCode.NOT_COORDINATOR))
            self._answer(connection, number, refused)

    def _replayed(self, log: Sequence[Record], image: TopicImage, checks: Sequence[Check] = ()) -> Engine:
        engine = Engine(self._config, image)
        for record in log:
            for check in checks:
                check(engine, record)
            engine.replay(record)
        return engine
