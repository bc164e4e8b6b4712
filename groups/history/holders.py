"""The owners of a group's partitions over time. A span continues over generations and epochs, and through a
conversion, as long as the same member keeps the partition without a break. Between two owners there is a separate
span without an owner. A partition that no member should have has no span. The last owner of each partition and the
end of the group before (`Predecessor`) survive a change of the protocol."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from groups.history.events import Departure, Holding, MemberRecord, PastRebalance, Place, Protocol


@dataclass(frozen=True, slots=True)
class _Span:
    record: MemberRecord
    epoch: int
    since: int


@dataclass(frozen=True, slots=True)
class _Vacancy:
    ended: _Span  # the span before, which continues if the same member gets the partition again at once
    epoch: int
    since: int


class Holders:
    """The owners of a group's partitions. `emit` gets the spans as they end; times must not go backward."""

    def __init__(self, group: str, emit: Callable[[Holding], None]) -> None:
        self._group, self._emit = group, emit
        self._spans: dict[Place, _Span] = {}
        self._vacant: dict[Place, _Vacancy] = {}

    def take(self, partition: Place, record: MemberRecord, epoch: int, time: int) -> None:
        """Make a member the owner of a partition; any previous owner loses it."""
        span = self._spans.get(partition)
        if span is not None:
            if span.record.member == record.member:
                return
            self._end(partition, span, time)
        vacancy = self._vacant.pop(partition, None)
        if vacancy is not None:
            if vacancy.since >= time and vacancy.ended.record.member == record.member:
                self._spans[partition] = vacancy.ended
                return
            self._end(partition, vacancy, time)
        self._spans[partition] = _Span(record, epoch, time)

    def release(self, partition: Place, epoch: int, time: int, member: str | None = None) -> None:
        """Leave a partition without an owner, although it should have one; with `member`, only if it is the owner:
        records that compaction left may show the next owner first."""
        span = self._spans.get(partition)
        if span is not None and member in (None, span.record.member):
            del self._spans[partition]
            self._vacant[partition] = _Vacancy(span, epoch, max(time, span.since))

    def give_up_on(self, places: Iterable[Place], time: int) -> None:
        """Remove partitions that no member should own from now on; current owners lose them."""
        for partition in list(places):
            for span in (self._spans.pop(partition, None), self._vacant.pop(partition, None)):
                if span is not None:
                    self._end(partition, span, time)

    def vacant(self, *, but: Collection[Place] = ()) -> list[Place]:
        """The partitions without an owner, except those in `but`."""
        return [partition for partition in self._vacant if partition not in but]

    def everything(self) -> list[Place]:
        """The partitions that have an owner, or should have one."""
        return [*self._spans, *self._vacant]

    def finish(self) -> None:
        """Emit the open spans at the end of the log."""
        for partition, span in self._spans.items():
            self._emit_span(partition, span, None)
        for partition, vacancy in self._vacant.items():
            self._end(partition, vacancy.ended, vacancy.since)
            self._emit_span(partition, vacancy, None)
        self._spans, self._vacant = {}, {}

    def _end(self, partition: Place, span: _Span | _Vacancy, time: int) -> None:
        if isinstance(span, _Vacancy):
            self._end(partition, span.ended, span.since)
        if time > span.since:
            self._emit_span(partition, span, time)

    def _emit_span(self, partition: Place, span: _Span | _Vacancy, until: int | None) -> None:
        record = span.record if isinstance(span, _Span) else None
        self._emit(
            Holding(
                group=self._group,
                place=partition,
                member=record.member if record else None,
                client_id=record.client_id if record else None,
                host=record.host if record else None,
                epoch=span.epoch,
                since=span.since,
                until=until,
            )
        )


_SAME_WRITE_US = 1_000_000
"""A conversion is written at once: the times of its deletions and of the new group's records differ by no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predecessor:
    protocol: Protocol
    epoch: int
    records: Mapping[str, MemberRecord]  # members by identity
    owned: Mapping[Place, MemberRecord]
    held: Mapping[Place, int]  # since when the owner of each partition had it
    seen: Mapping[str, int]  # when the coordinator is known to have last heard from each member, by identity
    time: int

    def becomes(self, protocol: Protocol, time: int) -> bool:
        """Whether this group was converted to the protocol: otherwise a group with members cannot be deleted."""
        return self.protocol is not protocol and bool(self.records) and time - self.time <= _SAME_WRITE_US


@dataclass(slots=True, kw_only=True)
class PartitionHistory:
    """A group's owners, and the last owner of each partition. `on_rebalance` gets the rebalances as they end,
    `on_departure` the departures of members at once."""

    on_rebalance: Callable[[PastRebalance], None]
    on_departure: Callable[[Departure], None]
    holders: Holders
    latest: dict[Place, str] = field(default_factory=dict)  # the identity of the last owner of each partition

    def moved(self, owners: Mapping[Place, str]) -> int:
        """The number of partitions whose last owner was another member (`assignors.rebalance.Rebalance.moved`)."""
        latest = self.latest
        count = sum(1 for partition, owner in owners.items() if latest.get(partition, owner) != owner)
        latest.update(owners)
        return count

    def clear(self, time: int) -> None:
        """Remove all partitions: from now on none should have an owner."""
        self.latest.clear()
        self.holders.give_up_on(self.holders.everything(), time)
