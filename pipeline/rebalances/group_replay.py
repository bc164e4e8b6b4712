"""A group's records, one after another in the order of the log, to its rebalances and the holders of its partitions."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.rebalances.classic import ClassicLife
from pipeline.rebalances.consumer import ConsumerLife
from pipeline.rebalances.events import CLASSIC_GROUP, GROUP_EPOCH, GroupEvent, Holding, Protocol, RebalanceRow
from pipeline.rebalances.holders import Holders, PartitionHistory, Predecessor


class GroupReplay:
    """One group. `tell` gets rebalances, `emit` spans, each as soon as it is over; `finish` tells what is not."""

    def __init__(
        self,
        group: str,
        *,
        tell: Callable[[RebalanceRow], None] = lambda _: None,
        emit: Callable[[Holding], None] = lambda _: None,
    ) -> None:
        self._trail = PartitionHistory(group=group, tell=tell, holders=Holders(group, emit))
        self._life: ClassicLife | ConsumerLife | None = None
        self._past: Predecessor | None = None
        self._last = (-1, -1)
        self._time = 0

    def add(self, event: GroupEvent) -> None:
        """Take in the next record; one that was taken in before, from another copy of the log, is passed by."""
        place = event.partition, event.offset
        if place <= self._last:
            return
        self._last, self._time = place, event.time
        if event.key_version == CLASSIC_GROUP:
            self._classic(event)
        else:
            self._consumer(event)

    def finish(self) -> None:
        """The log ends here."""
        if isinstance(self._life, ConsumerLife):
            self._life.finish()
        if self._life is None:
            self._trail.clear(self._time)
        self._trail.holders.finish()

    def _classic(self, event: GroupEvent) -> None:
        life = self._life
        if event.tombstone:
            if isinstance(life, ClassicLife):
                self._past, self._life = life.end(event.time), None
            return
        if isinstance(life, ConsumerLife) or (
            life is not None and (event.epoch or 0) < (life.generation or 0)
        ):
            self._abandon(life, event.time)
        if not isinstance(self._life, ClassicLife):
            self._begin(Protocol.CLASSIC, event.time)
            self._life = ClassicLife(trail=self._trail, past=self._past)
        self._life.record(event)

    def _consumer(self, event: GroupEvent) -> None:
        life = self._life
        if event.tombstone and not isinstance(life, ConsumerLife):
            return
        if event.tombstone and event.key_version == GROUP_EPOCH and isinstance(life, ConsumerLife):
            self._past, self._life = life.end(event.time), None
            return
        if isinstance(life, ClassicLife):
            self._abandon(life, event.time)
        if not isinstance(self._life, ConsumerLife):
            self._begin(Protocol.CONSUMER, event.time)
            self._life = ConsumerLife(trail=self._trail, past=self._past)
        self._life.record(event)

    def _begin(self, protocol: Protocol, time: int) -> None:
        """A group begins: the one that was deleted, if it is not converted, has come to nothing."""
        past = self._past
        if past is not None and not past.becomes(protocol, time):
            self._trail.clear(past.time)

    def _abandon(self, life: ClassicLife | ConsumerLife, time: int) -> None:
        """Another group of the name begins, and compaction took away how this one ended."""
        life.end(time)
        self._trail.clear(time)
        self._life = self._past = None
