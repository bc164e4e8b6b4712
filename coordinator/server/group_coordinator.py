"""The group coordinator of all brokers: the engine with its clock, the storage of its records, and its answers."""

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from typing import Any, cast
from uuid import uuid4

from coordinator.engine.calls import A, AnyRequest, Call, CoordinatorResult, RegexRefresh, Request
from coordinator.engine.context import EngineState
from coordinator.engine.engine import Engine
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.errors import RequestRefused
from coordinator.server.broker import Caller
from coordinator.server.journal import Journal
from coordinator.server.limits import Limits
from coordinator.server.meters import CoordinatorMeters
from coordinator.server.placement import Placement
from coordinator.store.partition_files import OFFSETS_TOPIC, partition_for
from wire.errors import ErrorCode
from wire.messages.layout import NO_UUID


@dataclass(slots=True, kw_only=True)
class LoadTimes:
    partitions: int = 0
    total_s: float = 0.0
    longest_s: float = math.nan  # NaN: none was loaded

    def add(self, seconds: float, partitions: int = 1) -> None:
        self.partitions += partitions
        self.total_s += seconds * partitions
        self.longest_s = seconds if math.isnan(self.longest_s) else max(self.longest_s, seconds)

    @property
    def average_s(self) -> float:
        return self.total_s / self.partitions if self.partitions else math.nan


# A distant deadline is checked again: the loop's clock may drift from ours.
LONGEST_SLEEP_S = 60.0
MATCHING_S = 0.1  # how long regexes are matched before slower ones wait for each other
_log = logging.getLogger(__name__)


class GroupCoordinator:
    def __init__(
        self, engine: Engine, now_ms: Callable[[], int], limits: Limits, meters: CoordinatorMeters
    ) -> None:
        self.meters = meters
        self._limits = limits
        self._matching: set[asyncio.Task[None]] = set()
        self._engine = engine
        self._now_ms = now_ms
        self._journal: Journal | None = None
        self._has_failed = False
        self._tickets = count(1)
        self._waiting: dict[int, tuple[Request[Any], asyncio.Future[Any]]] = {}
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_ms: int | None = None  # the deadline that the alarm was set for

    def start(self, journal: Journal | None) -> None:
        """Start the timers; the event loop must run. Without a journal nothing outlives the process."""
        self._journal = journal
        self.deliver(self._engine.loaded(self._now_ms()))

    def stop(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        for _, future in self._waiting.values():
            future.cancel()
        for task in self._matching:
            task.cancel()

    def fail(self) -> None:
        self._has_failed = True
        for request, future in self._waiting.values():
            if not future.done():
                future.set_result(request.refused(RequestRefused(ErrorCode.NOT_COORDINATOR)))

    async def ask(self, request: Request[A], caller: Caller, refusal: ErrorCode = ErrorCode.NONE) -> A:
        """Pass a request to the engine and wait for its answer, however long that takes; `refusal` as in `Call`."""
        if self._has_failed:
            return request.refused(RequestRefused(ErrorCode.NOT_COORDINATOR))
        ticket = next(self._tickets)
        call = Call(
            ticket=ticket,
            request=request,
            now_ms=self._now_ms(),
            client_id=caller.client_id,
            host=caller.host,
            # A member that has an id needs no new one: generating it is expensive.
            fresh_id=NO_UUID if getattr(request, "member", "") else uuid4(),
            refusal=refusal,
        )
        result = self._engine.handle(call)
        if result.records:
            self.meters.call(request, result.records, self._now_ms())
        if self._changes_nothing(result, ticket):
            self._set_alarm()
            return cast(A, result.answers[0][1])
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting[ticket] = request, future
        self.deliver(result)
        try:
            return await future
        finally:
            self._waiting.pop(ticket, None)

    def steady(self, request: AnyRequest, answer: object, caller: Caller) -> Callable[[], bool] | None:
        """As `Engine.steady`; the function returns False also if the answer has to wait for the disk."""
        repeat = self._engine.steady(request, answer, (caller.client_id, caller.host))
        if repeat is None:
            return None
        return lambda: (
            not self._has_failed
            and (self._journal is None or self._journal.is_idle)
            and repeat(self._now_ms())
        )

    @property
    def state(self) -> EngineState:
        return self._engine.state

    def expire_session(self, group: str, member: str) -> None:
        """Expire the session of a member now. Raises CannotBeWritten: the records do not fit into the log."""
        self.deliver(self._engine.fire(TimerKey(TimerKind.SESSION, group, member), self._now_ms()))

    def deliver(self, result: CoordinatorResult, then: Callable[[], object] | None = None) -> None:
        """Store the records, then send the engine's answers; `then` is called after that."""
        release = partial(self._answer, result, then)
        if self._journal is None:
            release()
        elif not self._has_failed:
            self._journal.take(result, self._now_ms(), release)
        for refresh in result.refreshes:
            task = asyncio.get_running_loop().create_task(self._match(refresh))
            self._matching.add(task)
            task.add_done_callback(self._matching.discard)
        self._set_alarm()

    async def _match(self, refresh: RegexRefresh) -> None:
        """Match the regexes of a group in a thread: that can take long, while members continue."""
        matched: Mapping[str, tuple[str, ...]] | None = None
        try:
            end = time.monotonic() + MATCHING_S
            matched = await self._limits.run(refresh.match, lambda: time.monotonic() > end)
            if matched is None:
                matched = await self._limits.run_slowly(refresh.match)
        except Exception:  # a bug must not affect other refreshes
            _log.exception("Unexpected error for the regexes of %r", refresh.group)
        result = self._engine.regexes_matched(refresh, matched or {}, self._now_ms())
        self.meters.timers(result.records, self._now_ms())
        self.deliver(result)

    def _changes_nothing(self, result: CoordinatorResult, ticket: int) -> bool:
        """Whether the only result is the call's answer, as with most heartbeats: nothing to store or to wait for."""
        return (
            not result.written
            and len(result.answers) == 1
            and result.answers[0][0] == ticket
            and (self._journal is None or self._journal.is_idle)
        )

    def _answer(self, result: CoordinatorResult, then: Callable[[], object] | None) -> None:
        for ticket, answer in result.answers:
            _, future = self._waiting.get(ticket, (None, None))
            if future is not None and not future.done():
                future.set_result(answer)
        if then is not None:
            then()

    def _set_alarm(self) -> None:
        deadline_ms = None if self._has_failed else self._engine.no_deadline_before()
        if self._alarm is not None:
            if deadline_ms == self._alarm_ms:
                return
            self._alarm.cancel()
            self._alarm = None
        self._alarm_ms = deadline_ms
        if deadline_ms is not None:
            # One more millisecond: the alarm must not fire a fraction before the deadline.
            delay_s = min(max(0, deadline_ms - self._now_ms() + 1) / 1000, LONGEST_SLEEP_S)
            self._alarm = asyncio.get_running_loop().call_later(delay_s, self._expire)

    def _expire(self) -> None:
        self._alarm = None
        result = self._engine.expire(self._now_ms())
        self.meters.timers(result.records, self._now_ms())
        self.deliver(result)


class Coordinators:
    def __init__(
        self,
        placement: Placement,
        partitions: int,
        engine: Engine,
        now_ms: Callable[[], int],
        deliver: Callable[[CoordinatorResult], None],
    ) -> None:
        """`partitions` is the number of partitions of `__consumer_offsets`; `deliver` takes the engine's results."""
        self.partitions = partitions
        self._placement = placement
        self._engine = engine
        self._now_ms = now_ms
        self._deliver = deliver
        self.load_times = LoadTimes()
        self.loading: dict[int, asyncio.TimerHandle] = {}
        self.partition_of = lru_cache(maxsize=100_000)(lambda group: partition_for(group, partitions))

    def coordinator_of(self, group: str) -> int:
        """The node id of the broker that coordinates a group; `placement.NO_LEADER` when all are down."""
        return self._placement.leader(OFFSETS_TOPIC, self.partition_of(group))

    def refusal(self, node_id: int, group: str) -> ErrorCode:
        partition = self.partition_of(group)
        if self._placement.leader(OFFSETS_TOPIC, partition) != node_id:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if partition in self.loading else ErrorCode.NONE

    def is_loading(self, node_id: int) -> bool:
        return any(self._placement.leader(OFFSETS_TOPIC, partition) == node_id for partition in self.loading)

    def reload(self, partitions: Iterable[int], loading_ms: int) -> None:
        """Unload the groups of these partitions, and load them on their leaders, which may have changed."""
        some = frozenset(partitions)
        self._deliver(self._engine.unload(lambda group: self.partition_of(group) in some, self._now_ms()))
        loop = asyncio.get_running_loop()
        for partition in some:
            self._stop_loading(partition)
            self.loading[partition] = loop.call_later(loading_ms / 1000, self._load, partition, loop.time())
            if not loading_ms:
                self._load(partition, loop.time())

    def close(self) -> None:
        for partition in list(self.loading):
            self._stop_loading(partition)

    def _load(self, partition: int, began_s: float) -> None:
        self._stop_loading(partition)
        self._deliver(self._engine.load(lambda group: self.partition_of(group) == partition, self._now_ms()))
        self.load_times.add(asyncio.get_running_loop().time() - began_s)

    def _stop_loading(self, partition: int) -> None:
        handle = self.loading.pop(partition, None)
        if handle is not None:
            handle.cancel()
