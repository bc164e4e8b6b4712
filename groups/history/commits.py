"""The commits of a group, per partition and in the order of the log. Times are µs since 1970, UTC. A clock that was
set back does not turn the order: a commit counts as no earlier than those before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from groups.history.events import Place

RECENT: Final = 16
"""The number of commits of a partition before a departure that a judgment uses: what a recorder keeps."""


class PlaceCommit(NamedTuple):
    time: int
    offset: int  # the committed offset


class CommitView(Protocol):
    """What a judgment of departures reads."""

    def recent(self, place: Place, time: int) -> Sequence[PlaceCommit]:
        """The last commits until a time, at most `RECENT`, in order; none from before a gap."""
        ...

    def first_after(self, place: Place, time: int) -> PlaceCommit | None: ...

    def whole_since(self, time: int) -> int:
        """The time since which no commit until `time` is missing."""
        ...


class PlaceCommits(NamedTuple):
    """The commits of a partition, in the order of the log."""

    times: np.ndarray[tuple[int], np.dtype[np.int64]]
    offsets: np.ndarray[tuple[int], np.dtype[np.int64]]  # the committed offsets
    positions: np.ndarray[
        tuple[int], np.dtype[np.int64]
    ]  # the offsets of the records in `__consumer_offsets`


_NONE: Final = PlaceCommits(*(np.zeros(0, np.int64),) * 3)


class Commits:
    """All commits of a group. `gaps`: times, ascending, before each of which some may be missing; `begins`: since when,
    at the earliest, in each of these gaps, where that is known."""

    def __init__(
        self,
        by_place: Mapping[Place, PlaceCommits],
        gaps: Sequence[int] | NDArray[np.int64] = (),
        begins: NDArray[np.int64] | None = None,
    ) -> None:
        self._gaps = np.asarray(gaps, np.int64)
        self._begins = self._gaps if begins is None else begins
        self._by_place = {
            place: commits._replace(times=np.maximum.accumulate(commits.times))
            for place, commits in by_place.items()
        }

    @classmethod
    def of(cls, commits: Iterable[tuple[Place, int, int, int]]) -> Commits:
        """From place, time, committed offset and position in the log of each commit, in the order of the log."""
        lists: dict[Place, list[tuple[int, int, int]]] = {}
        for place, *numbers in commits:
            lists.setdefault(place, []).append((numbers[0], numbers[1], numbers[2]))
        return cls({place: PlaceCommits(*np.array(rows, np.int64).T.copy()) for place, rows in lists.items()})

    @property
    def places(self) -> Iterable[Place]:
        return self._by_place.keys()

    def between(self, place: Place, since: int, until: int) -> PlaceCommits:
        """The commits of a partition from `since` to `until`, both included."""
        commits = self._by_place.get(place, _NONE)
        first, end = (
            np.searchsorted(commits.times, since, "left"),
            np.searchsorted(commits.times, until, "right"),
        )
        return PlaceCommits(*(column[first:end] for column in commits))

    def last_before(self, place: Place, time: int) -> PlaceCommit | None:
        """The last commit until a time, that time included."""
        commits = self._by_place.get(place, _NONE)
        end = int(np.searchsorted(commits.times, time, "right"))
        return _commit(commits, end - 1) if end else None

    def first_after(self, place: Place, time: int) -> PlaceCommit | None:
        commits = self._by_place.get(place, _NONE)
        index = int(np.searchsorted(commits.times, time, "right"))
        return None if index == len(commits.times) else _commit(commits, index)

    def recent(self, place: Place, time: int) -> Sequence[PlaceCommit]:
        commits = self._by_place.get(place, _NONE)
        begin = int(np.searchsorted(commits.times, self.whole_since(time), "left"))
        end = int(np.searchsorted(commits.times, time, "right"))
        return [_commit(commits, index) for index in range(max(end - RECENT, begin), end)]

    def whole_since(self, time: int) -> int:
        gaps = int(np.searchsorted(self._begins, time, "right"))
        return min(int(self._gaps[gaps - 1]), time) if gaps else 0


def _commit(commits: PlaceCommits, index: int) -> PlaceCommit:
    return PlaceCommit(int(commits.times[index]), int(commits.offsets[index]))
