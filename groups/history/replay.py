"""The course of one group from its records, in the order of its log."""

from collections.abc import Callable

from groups.history import events
from groups.history.classic import ClassicLifetime
from groups.history.consumer import ConsumerLifetime
from groups.history.holders import Holders, PartitionHistory, Predecessor


def _ignore(_: object) -> None:
    """A result that is not needed."""


class GroupReplay:
    """The course of one group: `on_rebalance` gets rebalances, `emit` spans, each when it ends or at `finish`;
    `on_departure` gets departures at once."""

    def __init__(
        self,
        group: str,
        *,
        on_rebalance: Callable[[events.PastRebalance], None] = _ignore,
        emit: Callable[[events.Holding], None] = _ignore,
        on_departure: Callable[[events.Departure], None] = _ignore,
    ) -> None:
        self._trail = PartitionHistory(
            on_rebalance=on_rebalance, on_departure=on_departure, holders=Holders(group, emit)
        )
        self._life: ClassicLifetime | ConsumerLifetime | None = None
        self._past: Predecessor | None = None
        self._last = (-1, -1)
        self._time = 0

    def add(self, event: events.GroupEvent) -> None:
        """Add the next record; a record that was added before, from another copy of the log, is skipped."""
        position = event.partition, event.offset
        if position <= self._last:
            return
        self._last, self._time = position, event.time
        if event.key_version == events.CLASSIC_GROUP:
            self._classic(event)
        else:
            self._consumer(event)

    @property
    def is_settled(self) -> bool:
        """Whether all rebalances so far were reported."""
        return not isinstance(self._life, ConsumerLifetime) or self._life.is_settled

    def finish(self) -> None:
        """Report open rebalances and spans at the end of the log."""
        if isinstance(self._life, ConsumerLifetime):
            self._life.finish()
        if self._life is None:
            self._trail.clear(self._time)
        self._trail.holders.finish()

    def _classic(self, event: events.GroupEvent) -> None:
        life = self._life
        if event.tombstone:
            if isinstance(life, ClassicLifetime):
                self._past, self._life = life.end(event.time), None
            return
        is_older = isinstance(life, ClassicLifetime) and (event.epoch or 0) < (life.generation or 0)
        if life is not None and (is_older or isinstance(life, ConsumerLifetime)):
            self._abandon(life, event.time)
        if not isinstance(self._life, ClassicLifetime):
            self._begin(events.Protocol.CLASSIC, event.time)
            self._life = ClassicLifetime(trail=self._trail, past=self._past)
        self._life.record(event)

    def _consumer(self, event: events.GroupEvent) -> None:
        life = self._life
        if event.tombstone and not isinstance(life, ConsumerLifetime):
            return
        if event.tombstone and event.key_version == events.GROUP_EPOCH and isinstance(life, ConsumerLifetime):
            self._past, self._life = life.end(event.time), None
            return
        if isinstance(life, ClassicLifetime):
            self._abandon(life, event.time)
        if not isinstance(self._life, ConsumerLifetime):
            self._begin(events.Protocol.CONSUMER, event.time)
            self._life = ConsumerLifetime(trail=self._trail, past=self._past)
        self._life.record(event)

    def _begin(self, protocol: events.Protocol, time: int) -> None:
        """Start a group. If the deleted group before was not converted into it, no partition has an owner."""
        past = self._past
        if past is not None and not past.becomes(protocol, time):
            self._trail.clear(past.time)

    def _abandon(self, life: ClassicLifetime | ConsumerLifetime, time: int) -> None:
        """End a group without a record of its end, which compaction removed: another group of the name starts."""
        life.end(time)
        self._trail.clear(time)
        self._life = self._past = None
