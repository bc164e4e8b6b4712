"""The mapping of groups to coordinators: the leader of a group's partition of `__consumer_offsets`.

Theory of operation. There is one engine for all brokers. When a partition gets another leader, everything that a
broker holds only in memory is dropped: the engine unloads the groups, the old leader answers NOT_COORDINATOR from
then on, and the new leader COORDINATOR_LOAD_IN_PROGRESS until it has loaded them. After that, the groups are as after
a restart.

Source: KIP-848 "Initialize"; CoordinatorRuntime, GroupCoordinatorService.partitionFor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import lru_cache

from coordinator.engine.calls import CoordinatorResult
from coordinator.engine.engine import Engine
from coordinator.server.counts import LoadTimes
from coordinator.server.placement import Placement
from coordinator.store.partition_files import OFFSETS_TOPIC, partition_for
from wire.errors import ErrorCode


class Coordinators:
    """See the module. Belongs to the event loop in which it is used."""

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
        self._loading: dict[int, asyncio.TimerHandle] = {}
        self._partition_of = lru_cache(maxsize=100_000)(lambda group: partition_for(group, partitions))

    def partition_of(self, group: str) -> int:
        """The partition of `__consumer_offsets` that holds a group."""
        return self._partition_of(group)

    def coordinator_of(self, group: str) -> int:
        """The node id of the broker that coordinates a group; `placement.NO_LEADER` when all are down."""
        return self._placement.leader(OFFSETS_TOPIC, self._partition_of(group))

    def refusal(self, node_id: int, group: str) -> ErrorCode:
        """The error of a broker that does not coordinate a group; NONE if it does."""
        partition = self._partition_of(group)
        if self._placement.leader(OFFSETS_TOPIC, partition) != node_id:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if partition in self._loading else ErrorCode.NONE

    @property
    def loading(self) -> int:
        """The number of partitions that are loading."""
        return len(self._loading)

    def is_loading(self, node_id: int) -> bool:
        """Whether a broker is loading some of its groups."""
        return any(self._placement.leader(OFFSETS_TOPIC, each) == node_id for each in self._loading)

    def reload(self, partitions: Iterable[int], loading_ms: int) -> None:
        """Unload the groups of these partitions, and load them on their leaders, which may have changed."""
        some = frozenset(partitions)
        self._deliver(self._engine.unload(lambda group: self._partition_of(group) in some, self._now_ms()))
        loop = asyncio.get_running_loop()
        for each in some:
            self._stop_loading(each)
            self._loading[each] = loop.call_later(loading_ms / 1000, self._load, each, loop.time())
            if not loading_ms:
                self._load(each, loop.time())

    def close(self) -> None:
        """Cancel all loading."""
        for each in list(self._loading):
            self._stop_loading(each)

    def _load(self, partition: int, began_s: float) -> None:
        self._stop_loading(partition)
        self._deliver(self._engine.load(lambda group: self._partition_of(group) == partition, self._now_ms()))
        self.load_times.add(asyncio.get_running_loop().time() - began_s)

    def _stop_loading(self, partition: int) -> None:
        handle = self._loading.pop(partition, None)
        if handle is not None:
            handle.cancel()
