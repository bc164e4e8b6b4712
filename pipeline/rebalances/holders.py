"""The owners of a group's partitions over time.

A span continues over generations and epochs, and through a conversion, as long as the same member keeps the partition
without a break. Between two owners there is a separate span without one. A partition that no member should have,
because the group is empty or no longer subscribes to it, has no span.

What survives a group's change of protocol: the last owner of each partition, and the outcome of the group before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from pipeline.rebalances.events import Holding, MemberRecord, Place, Protocol, RebalanceRow


@dataclass(frozen=True, slots=True)
class _Span:
    record: MemberRecord
    epoch: int
    since: int


@dataclass(frozen=True, slots=True)
class _Vacancy:
    ended: _Span
    """It continues if the same member gets the partition again at once."""
    epoch: int
    since: int


class Holders:
    """See the module. `emit` gets the spans as they end; times never go backward."""

    def __init__(self, group: str, emit: Callable[[Holding], None]) -> None:
        self._group, self._emit = group, emit
        self._spans: dict[Place, _Span] = {}
        self._vacant: dict[Place, _Vacancy] = {}

    def take(self, place: Place, record: MemberRecord, epoch: int, time: int) -> None:
        """A member has a partition from now on; any previous owner no longer has it."""
        span = self._spans.get(place)
        if span is not None:
            if span.record.member == record.member:
                return
            self._end(place, span, time)
        vacancy = self._vacant.pop(place, None)
        if vacancy is not None:
            if vacancy.since >= time and vacancy.ended.record.member == record.member:
                self._spans[place] = vacancy.ended
                return
            self._end(place, vacancy, time)
        self._spans[place] = _Span(record, epoch, time)

    def release(self, place: Place, epoch: int, time: int) -> None:
        """No member has a partition from now on, although one should."""
        span = self._spans.pop(place, None)
        if span is not None:
            self._vacant[place] = _Vacancy(span, epoch, max(time, span.since))

    def give_up_on(self, places: Iterable[Place], time: int) -> None:
        """No member should have these from now on, and current owners no longer have them."""
        for place in list(places):
            for span in (self._spans.pop(place, None), self._vacant.pop(place, None)):
                if span is not None:
                    self._end(place, span, time)

    def vacant(self, *, but: Collection[Place] = ()) -> list[Place]:
        """The partitions without an owner."""
        return [place for place in self._vacant if place not in but]

    def everything(self) -> list[Place]:
        """The partitions that have an owner, or should have one."""
        return [*self._spans, *self._vacant]

    def finish(self) -> None:
        """The log ends here."""
        for place, span in self._spans.items():
            self._emit_span(place, span, None)
        for place, vacancy in self._vacant.items():
            self._end(place, vacancy.ended, vacancy.since)
            self._emit_span(place, vacancy, None)
        self._spans, self._vacant = {}, {}

    def _end(self, place: Place, span: _Span | _Vacancy, time: int) -> None:
        if isinstance(span, _Vacancy):
            self._end(place, span.ended, span.since)
        if time > span.since:
            self._emit_span(place, span, time)

    def _emit_span(self, place: Place, span: _Span | _Vacancy, until: int | None) -> None:
        record = span.record if isinstance(span, _Span) else None
        self._emit(
            Holding(
                group=self._group,
                place=place,
                member=record.member if record else None,
                client_id=record.client_id if record else None,
                host=record.host if record else None,
                epoch=span.epoch,
                since=span.since,
                until=until,
            )
        )


_SAME_WRITE_US = 1_000_000
"""A conversion is written at once: deletions and the new group's records differ by no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predecessor:
    """A group at its deletion."""

    protocol: Protocol
    epoch: int
    records: Mapping[str, MemberRecord]
    """Members by identity."""
    owned: Mapping[Place, MemberRecord]
    since: Mapping[str, int]
    """By identity, when members were first written."""
    time: int

    def becomes(self, protocol: Protocol, time: int) -> bool:
        """Whether a group of the protocol is this one, converted: a group with members cannot be deleted otherwise."""
        return self.protocol is not protocol and bool(self.records) and time - self.time <= _SAME_WRITE_US


@dataclass(slots=True, kw_only=True)
class PartitionHistory:
    """See the module. `on_rebalance` gets the rebalances as they end."""

    group: str
    on_rebalance: Callable[[RebalanceRow], None]
    holders: Holders
    latest: dict[Place, str] = field(default_factory=dict)
    """Identities."""

    def moved(self, given: Mapping[Place, str]) -> int:
        """The number of partitions whose last owner was another member (`assignors.rebalance.Rebalance.moved`)."""
        latest = self.latest
        count = sum(1 for place, owner in given.items() if latest.get(place, owner) != owner)
        latest.update(given)
        return count

    def clear(self, time: int) -> None:
        """No partition has an owner, and none should."""
        self.latest.clear()
        self.holders.give_up_on(self.holders.everything(), time)
