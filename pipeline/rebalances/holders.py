"""Who holds the partitions of a group, from when to when.

A span goes on over generations and epochs, and through a conversion, as long as the same member keeps the partition
without a break. Between two holders nobody has it: a span of its own. A partition that nobody is to have, since the
group is empty or no longer wants it, has no span.

What outlives a group's change of protocol: who had each partition last, and what became of the group before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from pipeline.rebalances.events import Holding, MemberRecord, Place, Protocol, RebalanceRow


@dataclass(frozen=True, slots=True)
class _Span:
    seat: MemberRecord
    epoch: int
    since: int


@dataclass(frozen=True, slots=True)
class _Vacancy:
    ended: _Span
    """It goes on if the same member has the partition again at once."""
    epoch: int
    since: int


class Holders:
    """See the module. `emit` gets the spans as they end; times never go back."""

    def __init__(self, group: str, emit: Callable[[Holding], None]) -> None:
        self._group, self._emit = group, emit
        self._spans: dict[Place, _Span] = {}
        self._vacant: dict[Place, _Vacancy] = {}

    def take(self, place: Place, seat: MemberRecord, epoch: int, time: int) -> None:
        """A member has a partition from now on; whoever had it before has not."""
        span = self._spans.get(place)
        if span is not None:
            if span.seat.member == seat.member:
                return
            self._end(place, span, time)
        vacancy = self._vacant.pop(place, None)
        if vacancy is not None:
            if vacancy.since >= time and vacancy.ended.seat.member == seat.member:
                self._spans[place] = vacancy.ended
                return
            self._end(place, vacancy, time)
        self._spans[place] = _Span(seat, epoch, time)

    def release(self, place: Place, epoch: int, time: int) -> None:
        """Nobody has a partition from now on, and somebody is to have it."""
        span = self._spans.pop(place, None)
        if span is not None:
            self._vacant[place] = _Vacancy(span, epoch, max(time, span.since))

    def give_up_on(self, places: Iterable[Place], time: int) -> None:
        """Nobody is to have these from now on, and whoever has them has not."""
        for place in list(places):
            for span in (self._spans.pop(place, None), self._vacant.pop(place, None)):
                if span is not None:
                    self._end(place, span, time)

    def vacant(self, *, but: Collection[Place] = ()) -> list[Place]:
        """What nobody has."""
        return [place for place in self._vacant if place not in but]

    def everything(self) -> list[Place]:
        """What somebody has, or is to have."""
        return [*self._spans, *self._vacant]

    def finish(self) -> None:
        """The log ends here."""
        for place, span in self._spans.items():
            self._tell(place, span, None)
        for place, vacancy in self._vacant.items():
            self._end(place, vacancy.ended, vacancy.since)
            self._tell(place, vacancy, None)
        self._spans, self._vacant = {}, {}

    def _end(self, place: Place, span: _Span | _Vacancy, time: int) -> None:
        if isinstance(span, _Vacancy):
            self._end(place, span.ended, span.since)
        if time > span.since:
            self._tell(place, span, time)

    def _tell(self, place: Place, span: _Span | _Vacancy, until: int | None) -> None:
        seat = span.seat if isinstance(span, _Span) else None
        self._emit(
            Holding(
                group=self._group,
                place=place,
                member=seat.member if seat else None,
                client_id=seat.client_id if seat else None,
                host=seat.host if seat else None,
                epoch=span.epoch,
                since=span.since,
                until=until,
            )
        )


_SAME_WRITE_US = 1_000_000
"""A conversion is written at once: deletions and the new group's records differ by no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predecessor:
    """A group as it was when it was deleted."""

    protocol: Protocol
    epoch: int
    seats: Mapping[str, MemberRecord]
    """By identity."""
    owned: Mapping[Place, MemberRecord]
    since: Mapping[str, int]
    """By identity, when members were first written down."""
    time: int

    def becomes(self, protocol: Protocol, time: int) -> bool:
        """Whether a group of the protocol is this one, converted: a group with members cannot be deleted otherwise."""
        return self.protocol is not protocol and bool(self.seats) and time - self.time <= _SAME_WRITE_US


@dataclass(slots=True, kw_only=True)
class PartitionHistory:
    """See the module. `tell` gets the rebalances as they end."""

    group: str
    tell: Callable[[RebalanceRow], None]
    holders: Holders
    latest: dict[Place, str] = field(default_factory=dict)
    """Identities."""

    def moved(self, given: Mapping[Place, str]) -> int:
        """How many partitions somebody else had last (`assignors.rebalance.Rebalance.moved`); they are noted."""
        latest = self.latest
        count = sum(1 for place, owner in given.items() if latest.get(place, owner) != owner)
        latest.update(given)
        return count

    def clear(self, time: int) -> None:
        """Nobody has anything, and nobody is to."""
        self.latest.clear()
        self.holders.give_up_on(self.holders.everything(), time)
