"""What a recorder makes of the log: commits of each partition and minute, records of groups, and from these their
rebalances. A group with new records is watched: its commits are kept one by one, until its rebalances are judged and
its partitions make progress again. All of it is written with the position after it, in one transaction."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from cli.sources.history.read import LookedUpNames
from cli.sources.journal.packed import COMMITS, Table, by_minute, once
from cli.sources.journal.writer import JournalWriter, Position, StoredRecord
from cli.verbs.record.following import Fetched, Lost
from cli.verbs.record.open_commits import OpenCommits
from cli.verbs.record.reading import LogReading, PlaceTable
from cli.verbs.record.recent import CommitRings
from coordinator.store.history_events import CommitKeys, GroupRecord, commits_in, event_in, group_in
from groups.history.course import GroupHistory, Settled
from groups.history.departures import NOTHING, Knowledge
from groups.history.events import GROUP_EPOCH, KEY_VERSIONS, PastRebalance, Place
from wire.log.batch_header import CONTROL, Batches
from wire.log.batch_scan import scan
from wire.log.columns import Columns, columns_of
from wire.log.compression import ExpandsTooFar
from wire.log.errors import DamagedLog
from wire.log.offset_columns import LEGACY_OFFSET_COMMIT, NO_TYPE, OFFSET_COMMIT, key_types
from wire.log.timestamps import US_PER_MS
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType
from wire.uuids import format_uuid, parse_uuid

LOOK_BACK_MS = 300_000  # read again after a restart, for commits before a departure
WATCHED_MS = 600_000  # the longest time that a partition without commits keeps its group watched
_FETCH_MS = 1_000  # the longest time that a record that was just written takes to arrive
_HISTORIES = 500  # the number of groups whose state is kept in memory


@dataclass(slots=True)
class _Watch:
    history: GroupHistory
    number: int  # of the group
    log_partition: int
    since_ms: int
    last_ms: int  # the time of the last record
    quiet: set[int]  # the places without a commit since the last record
    fed: int = -1  # the offset of the last record or commit that the history has

    def commits(self, rows: Table, places: Sequence[Place | None]) -> None:
        for place, time_ms, committed, log_offset in rows.tolist():
            if (key := places[place]) is not None:
                self.history.commit(key, time_ms * US_PER_MS, committed)
            self.quiet.discard(place)
            self.fed = max(self.fed, log_offset)


class LogRecorder:
    """See the module. It has no clock. `look_up` returns the
    names of topics by id, also new ones; `report` gets a line about what cannot
    be read."""

    def __init__(
        self,
        journal: JournalWriter,
        look_up: Callable[[], Mapping[UUID, str]],
        *,
        report: Callable[[str], object],
    ) -> None:
        self.journal = journal
        self._known = {parse_uuid(topic_id): name for topic_id, name in journal.topics.items()}
        self._names = LookedUpNames(self._known, self._read_names)
        self._look_up = look_up
        self.progress: dict[int, LogReading] = {}
        self.commits = 0  # counted since the start
        self.new_consumers: set[str] = set()  # groups of the consumer protocol that appeared
        self._report = report
        self.knowledge: Callable[[str], Knowledge] = lambda _: NOTHING  # what was observed of a group
        self._keys = CommitKeys(lambda _: True)
        self._place_of_key = np.zeros(0, dtype=np.int64)
        self._recent, self._open = CommitRings(), OpenCommits()
        self._places = PlaceTable()
        self._watches: dict[str, _Watch] = {}
        self._watch_of: dict[int, _Watch] = {}  # by the number of the group
        self._idle: OrderedDict[str, tuple[GroupHistory, int]] = (
            OrderedDict()
        )  # and the last offset that each has
        self._resumed: dict[
            int, list[str]
        ] = {}  # the groups that were watched before a restart, by partition
        self._settled: list[PastRebalance] = []
        for place, group, topic, partition in journal.places():
            self._places.add(place, group, (intern(topic), partition))
        for name, (log_partition, _) in journal.open_groups.items():
            self._resumed.setdefault(log_partition, []).append(name)

    # Reading.

    def start(self, log_partition: int, reading: LogReading) -> None:
        self.progress[log_partition] = reading

    def take(self, fetched: Fetched, present_ms: int) -> None:
        """Take what was fetched at the position of a partition."""
        number, reading = fetched.log_partition, self.progress[fetched.log_partition]
        if fetched.position != reading.position:
            return
        seen = scan(fetched.records, fetched.name)
        batches = seen.batches
        batches = batches[int(np.searchsorted(batches.last_offsets, reading.position)) :]
        if len(batches):
            self._note_gaps(number, reading, batches)
            try:
                for columns in columns_of(batches):
                    self._columns(number, reading, columns)
            except (DamagedLog, ExpandsTooFar) as error:
                self._report(f"{fetched.name}: records are skipped: {error}")
                self._gap(
                    number, reading.position, int(batches.last_offsets[-1]) + 1, reading, None, "damaged"
                )
            reading.position = int(batches.last_offsets[-1]) + 1
        elif seen.fault is not None and not seen.fault.unfinished:
            self._report(f"{fetched.name}: offset {reading.position} is skipped: {seen.fault.reason}")
            self._gap(number, reading.position, reading.position + 1, reading, None, "damaged")
            reading.position += 1
        reading.end = fetched.end
        if reading.begun is None:
            reading.begun = fetched.end
        if len(batches) and reading.is_caught_up and reading.time_ms is not None:
            reading.delays_ms.append(present_ms - reading.time_ms)
        if reading.position >= reading.counted:
            self._resume(number, reading.counted)

    def log_time(self, group: int, present_ms: int) -> int | None:
        """The time of the log of a group at a time of this machine, no earlier than it was; None: unknown."""
        reading = self.progress.get(self.journal.log_partitions[group])
        delays = () if reading is None else reading.delays_ms
        return present_ms - min(delays) + _FETCH_MS if delays else None

    def learn(self) -> None:
        """Let the histories of watched groups know what was observed."""
        for name, watch in self._watches.items():
            watch.history.knowledge = self.knowledge(name)

    def _resume(self, number: int, offset: int) -> None:
        """Watch the groups that were watched before a restart."""
        for name in self._resumed.pop(number, ()):
            self._watch(name, number, offset)

    def lose(self, lost: Lost) -> None:
        """Continue after records that the log no longer has."""
        reading = self.progress[lost.log_partition]
        begin = max(lost.position, reading.counted)  # before it, records are read again only to remember them
        if lost.resumed > begin and reading.begun is not None:
            self._gap(lost.log_partition, begin, lost.resumed, reading, None, lost.reason)
            reading.since_ms = None
        elif lost.resumed < lost.position:
            self._gap(lost.log_partition, lost.resumed, lost.position, reading, None, lost.reason)
            reading.counted, reading.since_ms = min(reading.counted, lost.resumed), None
        reading.position = lost.resumed

    def _note_gaps(self, number: int, reading: LogReading, batches: Batches) -> None:
        """Note records that compaction removed: the offsets of a log are contiguous before."""
        bases, lasts = batches.headers["base_offset"].astype(np.int64), batches.last_offsets
        due = np.concatenate(([reading.position], lasts[:-1] + 1))
        gaps = np.flatnonzero((bases > due) | (batches.headers["count"] < lasts - bases + 1))
        times = batches.headers["max_timestamp"]
        if reading.since_ms is None and lasts[-1] >= reading.counted:
            reading.since_ms = int(times[0])
        gaps = gaps[lasts[gaps] >= reading.counted]
        if not len(gaps):
            return
        reading.since_ms = int(times[gaps[-1]])
        new = gaps[lasts[gaps] >= (reading.begun or 0)]
        if reading.begun is not None and len(new):
            first, last = int(new[0]), int(new[-1])
            reason = "compacted before they were read"
            self._gap(number, int(due[first]), int(lasts[last]) + 1, reading, int(times[last]), reason)

    def _gap(
        self, number: int, start: int, end: int, reading: LogReading, until_ms: int | None, reason: str
    ) -> None:
        self.journal.unwritten.gaps.append((number, start, end, reading.time_ms, until_ms, reason))

    def _columns(self, number: int, reading: LogReading, columns: Columns) -> None:
        if not len(columns):
            return
        octets = np.frombuffer(columns.data, dtype=np.uint8)
        types = key_types(octets, columns.key_start, columns.key_end)
        types[columns.batches.headers["attributes"][columns.batch_of] & CONTROL != 0] = NO_TYPE
        types[columns.offsets < reading.position] = NO_TYPE
        lanes = np.flatnonzero((types == OFFSET_COMMIT) | (types == LEGACY_OFFSET_COMMIT))
        commits, decided = self._commits(number, reading, columns, lanes, types)
        start = int(np.searchsorted(decided, reading.counted))
        self._recent.add(commits[:start])
        if int(columns.offsets[-1]) >= reading.counted:
            self._resume(number, reading.counted)
        for lane in np.flatnonzero(np.isin(types, KEY_VERSIONS)).tolist():
            record = GroupRecord(
                int(columns.offsets[lane]),
                int(columns.timestamps[lane]) * US_PER_MS,
                columns.key(lane) or b"",
                columns.value(lane),
            )
            if record.offset >= reading.counted:
                stop = int(np.searchsorted(decided, record.offset))
                self._feed(commits[start:stop])
                start = stop
                self._event(number, record)
        self._feed(commits[start:])
        reading.time_ms = int(columns.timestamps[-1])

    def _commits(
        self,
        number: int,
        reading: LogReading,
        columns: Columns,
        lanes: NDArray[np.int64],
        types: NDArray[np.int64],
    ) -> tuple[Table, NDArray[np.int64]]:
        """The commits that count now, and the offsets from which they do, ascending."""
        read = commits_in(columns, lanes, types, self._keys)
        for offset, reason in read.malformed:
            self._report(
                f"__consumer_offsets-{number}: the record at offset {offset} cannot be read: {reason}"
            )
        for topic_id, name in read.ids.items():
            self._name(topic_id, name)
        new = self._keys.places[len(self._place_of_key) :]
        if new:
            numbers = [self.place(self.journal.group(group, number), place) for group, place in new]
            self._place_of_key = np.concatenate([self._place_of_key, np.array(numbers, dtype=np.int64)])
        valued = read.has_value
        commits = np.empty(int(valued.sum()), dtype=COMMITS)
        commits["place"] = self._place_of_key[read.keys[valued]]
        commits["time_ms"] = read.times[valued] // US_PER_MS
        commits["committed"] = read.committed[valued]
        commits["log_offset"] = read.log_offsets[valued]
        commits, decided = self._open.decided(number, columns, read.lanes[valued], commits)
        counted = commits[decided >= reading.counted]
        if len(counted):
            self.journal.unwritten.add_progress(*by_minute(counted))
            self.commits += len(counted)
        return commits, decided

    def _read_names(self) -> Mapping[UUID, str]:
        for topic_id, name in self._look_up().items():
            self._name(topic_id, name)
        return self._known

    def _name(self, topic_id: UUID, name: str) -> None:
        self._known[topic_id] = name
        self.journal.name_topic(format_uuid(topic_id), name)

    def place(self, group: int, place: Place) -> int:
        number = self._places.of_group.get(group, {}).get(place)
        if number is None:
            number = self.journal.new_place(group, *place)
            self._places.add(number, group, place)
        return number

    def _feed(self, commits: Table) -> None:
        """Remember commits, and give those of watched groups to their histories."""
        self._recent.add(commits)
        if not len(commits) or not self._watches:
            return
        groups = self._places.group_of[commits["place"]]
        for number in self._places.watched(groups):
            rows = commits[groups == number]
            self.journal.unwritten.commits.append((number, rows))
            self._watch_of[number].commits(rows, self._places.by_number)

    # Groups.

    def _event(self, number: int, record: GroupRecord) -> None:
        try:
            name = group_in(record.key) or ""
            group = self.journal.group(name, number)
            self.journal.unwritten.records.append(
                (group, record.offset, record.time // US_PER_MS, record.key, record.value)
            )
            watch = self._watches.get(name) or self._watch(name, number, record.offset)
            if (
                record.key_type == GROUP_EPOCH
                and record.value is not None
                and watch.history.knowledge == NOTHING
            ):
                self.new_consumers.add(name)
            event = event_in(record, number, self._names)
        except (DecodeError, UnknownKeyType) as error:
            self._report(
                f"__consumer_offsets-{number}: the record at offset {record.offset} cannot be read: {error}"
            )
            return
        if event is not None and record.offset > watch.fed:
            watch.history.add(event)
            watch.fed = record.offset
            watch.last_ms = record.time // US_PER_MS
            watch.quiet = set(self._places.numbers(group).tolist())

    def _watch(self, name: str, number: int, offset: int) -> _Watch:
        """Watch a group from an offset on: its history is in memory, or starts again from the journal's records."""
        group = self.journal.group(name, number)
        places = self._places.numbers(group)
        commits = self._recent.of(places)
        commits = commits[commits["log_offset"] < offset]
        history, fed = self._idle.pop(name, (None, -1))
        opened_ms = self.journal.open_groups.pop(name, (number, None))[1]
        records: list[StoredRecord] = []
        if history is None:
            history = GroupHistory(name, self.knowledge(name))
            records = [record for record in self.journal.records_of(group) if record.log_offset < offset]
        if opened_ms is not None:
            commits = once(np.concatenate([self.journal.commits_of(group, opened_ms), commits]))
        elif len(commits):
            self.journal.unwritten.commits.append((group, commits))
        since_ms = opened_ms if opened_ms is not None else int(commits["time_ms"].min(initial=LATEST_MS))
        watch = _Watch(history, group, number, since_ms, since_ms, set(places.tolist()), fed)
        commits = commits[commits["log_offset"] > fed]
        start = 0
        for record in records:
            stop = int(np.searchsorted(commits["log_offset"], record.log_offset))
            watch.commits(commits[start:stop], self._places.by_number)
            start = stop
            event = event_in(
                GroupRecord(record.log_offset, record.time_ms * US_PER_MS, record.key, record.value),
                number,
                self._names,
            )
            if event is not None:
                history.add(event)
                watch.fed, watch.last_ms = record.log_offset, record.time_ms
        watch.commits(commits[start:], self._places.by_number)
        self._watches[name] = self._watch_of[group] = watch
        self._places.watch(group, is_watched=True)
        self.journal.unwritten.open_ms[group] = since_ms
        return watch

    def settle(self, present_ms: int) -> None:
        """Take the rebalances and spans that are final, and stop watching groups that are quiet."""
        for name, watch in list(self._watches.items()):
            reading = self.progress.get(watch.log_partition)
            if reading is None or reading.time_ms is None:
                continue
            now_ms = reading.now_ms(present_ms)
            self._put(watch, watch.history.settled(now_ms * US_PER_MS))
            if watch.history.is_settled and (not watch.quiet or now_ms - watch.last_ms > WATCHED_MS):
                del self._watches[name], self._watch_of[watch.number]
                self._places.watch(watch.number, is_watched=False)
                self.journal.unwritten.open_ms[watch.number] = None
                self._idle[name] = watch.history, watch.fed
                if len(self._idle) > _HISTORIES:
                    self._idle.popitem(last=False)

    def _put(self, watch: _Watch, settled: Settled) -> None:
        for rebalance in settled.rebalances:
            self.journal.unwritten.rebalances.append(rebalance_row(watch.number, rebalance))
            self._settled.append(rebalance)
        for holding in settled.holdings:
            place = self.place(watch.number, holding.place)
            self.journal.unwritten.owners.append(
                (
                    place,
                    holding.since,
                    holding.until,
                    holding.member,
                    holding.client_id,
                    holding.host,
                    holding.epoch,
                )
            )

    # Writing.

    @property
    def has_read(self) -> bool:
        return any(reading.end is not None for reading in self.progress.values())

    @property
    def is_caught_up(self) -> bool:
        return bool(self.progress) and all(reading.is_caught_up for reading in self.progress.values())

    def flush(self, now_ms: int) -> tuple[list[PastRebalance], list[tuple[int, str]]]:
        """Write everything, with the positions. Returns the rebalances that are new, and posts. Raises CannotWrite."""
        positions = {
            number: Position(
                max(reading.position, reading.counted),
                self._resume_at(number, reading),
                reading.begun,
                reading.time_ms,
                reading.since_ms,
            )
            for number, reading in self.progress.items()
        }
        current_ms = now_ms if self.is_caught_up else None
        new, posts = self.journal.flush(positions, self._places.group_of, current_ms)
        settled, self._settled = self._settled, []
        return [settled[index] for index in new], posts

    def _resume_at(self, number: int, reading: LogReading) -> int:
        oldest = self._open.oldest(number)
        return reading.position if oldest is None else min(oldest, reading.position)


LATEST_MS = 2**62


def rebalance_row(group: int, rebalance: PastRebalance) -> tuple[object, ...]:
    """A row of the table of rebalances."""
    start, end = rebalance.start, rebalance.end
    verdicts = [{"member": it.member, "cause": it.cause.value, "why": it.why} for it in rebalance.verdicts]
    return (
        group,
        rebalance.offset,
        None if start is None else start // US_PER_MS,
        None if end is None else end // US_PER_MS,
        rebalance.protocol.value,
        rebalance.epoch,
        rebalance.causes[0].value,
        ",".join(cause.value for cause in rebalance.causes),
        rebalance.assignor,
        rebalance.members_before,
        rebalance.members,
        json.dumps(rebalance.joined),
        json.dumps(rebalance.left),
        rebalance.partitions,
        rebalance.moved,
        rebalance.revoked,
        rebalance.skipped,
        json.dumps(verdicts),
    )
