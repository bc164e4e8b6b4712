"""Rebalances in quick succession, and repetitions that are shown as one line."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from groups.history.events import PastRebalance

STORM_LEAST = 3  # the least number of consecutive rebalances in a storm
STORM_GAP_S = 60.0  # rebalances of a storm start at most this long after the end of the one before
_LONGEST_PATTERN = 4
_LEAST_FOLDED = 3


def begin_of(rebalance: PastRebalance) -> int:
    """When it started, or ended if only that is known: one of the two always is."""
    return (rebalance.end or 0) if rebalance.start is None else rebalance.start


def storms(rebalances: Sequence[PastRebalance]) -> list[range]:
    """The runs of at least `STORM_LEAST` rebalances, as indices."""
    return [run for run in runs(rebalances, STORM_GAP_S) if len(run) >= STORM_LEAST]


def runs(rebalances: Sequence[PastRebalance], gap_s: float) -> Iterator[range]:
    """The rebalances, divided where one starts later than `gap_s` after the end of those before."""
    begin, latest = 0, 0
    for index, rebalance in enumerate(rebalances):
        start = begin_of(rebalance)
        if index > begin and start - latest > gap_s * 1_000_000:
            yield range(begin, index)
            begin = index
        latest = max(latest, start, rebalance.end or start)
    if rebalances:
        yield range(begin, len(rebalances))


@dataclass(frozen=True, slots=True)
class Fold:
    """Consecutive things of which the first `period` repeat until the end; a single thing has no repetition."""

    indices: range
    period: int

    @property
    def times(self) -> int:
        return len(self.indices) // self.period


def folded(kinds: Sequence[Hashable], within: range) -> Iterator[Fold]:
    """All indices of `within` in order, with repetitions of their kinds folded: the longest first."""
    index = within.start
    while index < within.stop:
        fold = max(
            (_repeated(kinds, index, period, within.stop) for period in range(1, _LONGEST_PATTERN + 1)),
            key=lambda fold: (len(fold.indices), -fold.period),
        )
        if fold.times < 2 or len(fold.indices) < _LEAST_FOLDED:
            fold = Fold(range(index, index + 1), 1)
        yield fold
        index = fold.indices.stop


def _repeated(kinds: Sequence[Hashable], begin: int, period: int, end: int) -> Fold:
    stop = begin + period
    while stop + period <= end and kinds[stop : stop + period] == kinds[begin : begin + period]:
        stop += period
    return Fold(range(begin, min(stop, end)), period)
