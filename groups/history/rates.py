"""How fast the records of a group's partitions are read, and how often its members commit, from its commits."""

from dataclasses import dataclass

import numpy as np

from groups.history.commits import Commits

_MOST_PLACES, _MOST_COMMITS = 500, 500
_US_PER_MS, _US_PER_S = 1_000, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRates:
    """Means over all partitions. None: there are not enough commits."""

    records_per_s: float | None  # Of each partition
    interval_ms: int | None  # Between two commits of a partition: the median


def rates_of(commits: Commits, since: int, until: int) -> CommitRates:
    """The rates from `since` until `until`, in µs since 1970. Of many partitions or commits, of the first ones."""
    intervals: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    records = seconds = 0.0
    for place in sorted(commits.places)[:_MOST_PLACES]:
        times, offsets, _ = commits.between(place, since, until)
        if len(times) < 2:
            continue
        intervals.append(np.diff(times[:_MOST_COMMITS]))
        if offsets[-1] >= offsets[0]:  # else its topic was deleted and created again, or its offset reset
            records += float(offsets[-1] - offsets[0])
            seconds += float(times[-1] - times[0]) / _US_PER_S
    apart = np.concatenate(intervals) if intervals else np.zeros(0, np.int64)
    apart = apart[apart > 0]
    return CommitRates(
        records_per_s=records / seconds if seconds else None,
        interval_ms=int(np.median(apart)) // _US_PER_MS if len(apart) else None,
    )
