"""Times in which partitions were not read, around rebalances: from the last commit before to the first one after.

A gap between two commits of a partition counts if a rebalance was in it, or right after it, and if it is longer than
usual for the partition: than twice the median gap, and than most gaps without a rebalance. A partition whose commits
did not move before had nothing to read, or was not read anyway; it is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groups.history.events import PastRebalance, Place
from groups.history.storms import begin_of

Times: TypeAlias = NDArray[np.int64]

_LEAST_COMMITS = 4
_LEAST_US = 1_000_000
_USUAL = 0.95  # this part of the gaps without a rebalance is usual
_MOVED_WITHIN = 10  # commits before a gap, of which at least one must have moved
_LEAD_US = 330_000_000
"""A reader may stop this long before the rebalance that it causes: max.poll.interval.ms is 5 minutes by default."""
_OPEN = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingPause:
    """A time in which a partition was not read, in µs since 1970. `until` None: nothing was committed afterwards."""

    place: Place
    since: int
    until: int | None


@dataclass(frozen=True, slots=True)
class Windows:
    """The times of rebalances, as arrays in the order of their starts."""

    starts: Times
    latest_ends: Times  # the latest end of a rebalance and of those before it
    leads: Times

    @classmethod
    def of(cls, rebalances: Sequence[PastRebalance]) -> Windows:
        rows = sorted(_window(rebalance) for rebalance in rebalances)
        starts, ends, leads = np.array(rows, np.int64).reshape(-1, 3).T
        return cls(starts, np.maximum.accumulate(ends), leads)

    def first_over(self, since: Times, until: Times) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """For each span, the first rebalance that ends in it or later, and whether it starts in it or earlier."""
        first = np.searchsorted(self.latest_ends, since)
        last = max(len(self.starts) - 1, 0)
        return np.minimum(first, last), (first <= last) & (self.starts[np.minimum(first, last)] <= until)


def _window(rebalance: PastRebalance) -> tuple[int, int, int]:
    begin, end = begin_of(rebalance), rebalance.end
    timeouts = (departure.record.session_timeout_ms or 0 for departure in rebalance.departures)
    lead = max(_LEAD_US, 2_000 * max(timeouts, default=0))
    return begin, begin if end is None else end, lead


def pauses_of(
    place: Place, times: Times, offsets: Times, windows: Windows, end: int
) -> Iterator[ReadingPause]:
    """The pauses of a partition, from its commits in the order of the log. `end`: of what was read."""
    if len(times) < _LEAST_COMMITS or not len(windows.starts):
        return
    since = times
    until = np.append(since[1:], _OPEN)
    lengths = np.append(until[:-1], max(end, int(since[-1]))) - since
    window, is_over = windows.first_over(since, until)
    ended, quiet = lengths[:-1], lengths[:-1][~is_over[:-1]]
    usual = max(
        2 * float(np.median(ended)), float(np.quantile(quiet, _USUAL)) if len(quiet) else 0, _LEAST_US
    )
    moved = np.concatenate(([0], np.cumsum(np.diff(offsets) > 0)))
    recently = moved - moved[np.maximum(np.arange(len(moved)) - _MOVED_WITHIN, 0)]
    led = since >= windows.starts[window] - windows.leads[window]
    for index in np.flatnonzero(is_over & led & (lengths > usual) & (recently > 0)):
        later = None if until[index] == _OPEN else int(until[index])
        yield ReadingPause(place=place, since=int(since[index]), until=later)
