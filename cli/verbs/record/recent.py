"""The last commits of every partition of every group, in the memory of one table: what the judgment of a departure
looks back on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cli.sources.journal.packed import COMMITS, Table
from groups.history.commits import RECENT

KEPT = RECENT
_LEAST_ROOM = 1024
_RING = np.dtype([(name, COMMITS[name]) for name in COMMITS.names or () if name != "place"])


class CommitRings:
    """A ring of `KEPT` commits for each partition, by its number in the journal."""

    def __init__(self) -> None:
        self._rings = np.zeros((_LEAST_ROOM, KEPT), dtype=_RING)
        self._counts = np.zeros(_LEAST_ROOM, dtype=np.int64)

    def add(self, commits: Table) -> None:
        """Add commits, in the order of the log."""
        if not len(commits):
            return
        order = np.argsort(commits["place"], kind="stable")
        commits = commits[order]
        place = commits["place"]
        self._make_room(int(place[-1]) + 1)
        first = np.flatnonzero(np.concatenate(([True], np.diff(place) != 0)))
        counts = np.diff(np.append(first, len(place)))
        rank = np.arange(len(place)) - np.repeat(first, counts)
        kept = np.repeat(counts, counts) - rank <= KEPT
        slot = (self._counts[place] + rank) % KEPT
        for name in _RING.names or ():
            self._rings[name][place[kept], slot[kept]] = commits[name][kept]
        self._counts[place[first]] += counts

    def of(self, places: NDArray[np.int64]) -> Table:
        """The commits of some partitions, in the order of the log."""
        places = places[places < len(self._rings)]
        filled = np.arange(KEPT) < self._counts[places][:, np.newaxis]
        commits = np.empty(int(filled.sum()), dtype=COMMITS)
        commits["place"] = np.broadcast_to(places[:, np.newaxis], filled.shape)[filled]
        for name in _RING.names or ():
            commits[name] = self._rings[name][places][filled]
        return commits[np.argsort(commits["log_offset"], kind="stable")]

    def _make_room(self, places: int) -> None:
        room = len(self._rings)
        if places > room:
            room = max(places, room + room // 8)
            self._rings.resize((room, KEPT), refcheck=False)
            self._counts.resize(room, refcheck=False)
