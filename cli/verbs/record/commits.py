"""Commits of all groups in tables: the last ones of every partition, which the judgment of a departure looks back on;
those of open transactions, which count at their own offset once the marker of their transaction commits them; and the
groups of partitions, by number."""

from contextlib import suppress
from sys import intern

import numpy as np

from cli.sources.journal.packed import COMMITS, Table
from cli.sources.journal.writer import JournalWriter
from groups.history.commits import RECENT as KEPT
from groups.history.commits import PlaceCommit
from groups.history.events import Place
from wire.log.batch_header import CONTROL, TRANSACTIONAL
from wire.log.columns import Columns
from wire.log.control_records import ControlType, MalformedControlRecord, control_type_of
from wire.log.timestamps import US_PER_MS
from wire.log.varints import Ints

_LEAST_ROOM = 1024
_RING = np.dtype([(name, COMMITS[name]) for name in COMMITS.names or () if name != "place"])


def commits_of(table: Table) -> list[PlaceCommit]:
    return [PlaceCommit(int(row["time_ms"]) * US_PER_MS, int(row["committed"])) for row in table]


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

    def forget(self, places: Ints) -> None:
        self._counts[places[places < len(self._counts)]] = 0

    def of(self, places: Ints) -> Table:
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


class OpenCommits:
    """Of one partition of the log."""

    def __init__(self) -> None:
        self._open: dict[int, list[Table]] = {}  # by producer id, a table for each

    def oldest(self, position: int) -> int:
        """The offset to read again from: that of the oldest commit of an open transaction, or the position."""
        return min(
            [position, *(int(table["log_offset"][0]) for tables in self._open.values() for table in tables)]
        )

    def forget(self, offset: int) -> None:
        """Forget commits at and after an offset."""
        for tables in self._open.values():
            tables[:] = [table for table in tables if table["log_offset"][0] < offset]

    def decided(self, columns: Columns, lanes: Ints, commits: Table) -> tuple[Table, Ints]:
        """The commits that count from these records on, and the offsets from which they do, ascending. `lanes`: of
        `commits` in the columns."""
        attributes = columns.batches.headers["attributes"].astype(np.int64)[columns.batch_of]
        is_control = attributes & CONTROL != 0
        is_held = attributes[lanes] & TRANSACTIONAL != 0
        decided = commits["log_offset"].astype(np.int64)
        if not is_control.any() and not is_held.any():
            return commits, decided
        producers = columns.batches.headers["producer_id"].astype(np.int64)[columns.batch_of]
        tables, offsets = [commits[~is_held]], [decided[~is_held]]
        held = dict(
            zip(lanes[is_held].tolist(), np.split(commits[is_held], range(1, is_held.sum())), strict=False)
        )
        for lane in sorted({*held, *np.flatnonzero(is_control).tolist()}):
            key = int(producers[lane])
            if lane in held:
                self._open.setdefault(key, []).append(held[lane])
                continue
            with suppress(MalformedControlRecord):
                kind = control_type_of(columns.key(lane) or b"")
                done = self._open.pop(key, []) if kind in (ControlType.COMMIT, ControlType.ABORT) else []
                if kind is ControlType.COMMIT and done:
                    tables += done
                    offsets.append(np.full(len(done), columns.offsets[lane]))
        together, decided = np.concatenate(tables), np.concatenate(offsets)
        order = np.argsort(decided, kind="stable")
        return together[order].astype(COMMITS), decided[order]


class PlaceTable:
    """The places by number, and their groups."""

    def __init__(self, journal: JournalWriter) -> None:
        self._journal = journal
        self.group_of = np.zeros(_LEAST_ROOM, dtype=np.int64)
        self.by_number: list[Place | None] = [None]
        self.of_group: dict[int, dict[Place, int]] = {}

        for number, group, topic, partition in journal.places():
            self._add(number, group, (intern(topic), partition))

    def number(self, group: int, place: Place) -> int:
        """The number of a place, which may be new."""
        number = self.known(group, place)
        if not number:
            number = self._journal.new_place(group, *place)
            self._add(number, group, place)
        return number

    def known(self, group: int, place: Place) -> int:
        """The number of a place; 0: it is new."""
        return self.of_group.get(group, {}).get(place, 0)

    def _add(self, number: int, group: int, place: Place) -> None:
        self.by_number += [None] * (number + 1 - len(self.by_number))
        self.by_number[number] = place
        self.of_group.setdefault(group, {})[place] = number
        if number >= (room := len(self.group_of)):
            self.group_of = np.resize(self.group_of, max(number + 1, room + room // 2))
        self.group_of[number] = group

    def numbers(self, group: int) -> Ints:
        return np.fromiter(self.of_group.get(group, {}).values(), dtype=np.int64)
