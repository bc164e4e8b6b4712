"""What a recorder makes of the log: commits of each partition and minute, records of groups, and from these their
rebalances. All of it is written with the position after it, in one transaction."""

from collections.abc import Callable, Mapping
from uuid import UUID

import numpy as np

from cli.sources.history.read import LookedUpNames
from cli.sources.journal.packed import COMMITS, Table, by_minute
from cli.sources.journal.schema import TRUNCATED
from cli.sources.journal.writer import GapRow, JournalWriter
from cli.verbs.record.commits import CommitRings, PlaceTable
from cli.verbs.record.following import Fetched, Lost
from cli.verbs.record.reading import BEFORE, DELETED, LogReading
from cli.verbs.record.watching import GroupWatches, NamedRebalance
from coordinator.store.history_events import CommitKeys, GroupRecord, commits_in, group_in
from groups.history.events import KEY_VERSIONS
from wire.log.batch_header import CONTROL, HEADER_BYTES, Batches, batch_at
from wire.log.blocks import Block, Damage, columns_of_block
from wire.log.columns import Columns
from wire.log.offset_columns import LEGACY_OFFSET_COMMIT, NO_TYPE, OFFSET_COMMIT, key_types
from wire.log.salvage import parts_of
from wire.log.timestamps import US_PER_MS
from wire.log.varints import Ints
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType
from wire.uuids import format_uuid, parse_uuid

LOOK_BACK_MS = 300_000  # read again after a restart, for commits before a departure
_FETCH_MS = 1_000  # the longest time that a record that was just written takes to arrive


class LogRecorder:
    """See the module. It has no clock. `look_up` returns the names of topics by id, also new ones; `report` gets a line
    about what cannot be read."""

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
        self._report = report
        self._keys = CommitKeys(lambda _: True)
        self._place_of_key = np.zeros(0, dtype=np.int64)
        self._rings = CommitRings()
        self.places = PlaceTable(journal)
        self.watches = GroupWatches(journal, self.places, self._rings, self._names)

    def settle(self, present_ms: int) -> None:
        self.watches.settle(self.progress, present_ms)

    # Reading.

    def start(self, reading: LogReading) -> None:
        self.progress[reading.number] = reading
        reading.unclosed += [row for row in self.journal.unclosed_gaps if row[0] == reading.number]
        if reading.position and reading.number not in self.journal.positions:
            self._gap(reading.miss(0, reading.position, BEFORE))

    def take(self, fetched: Fetched, present_ms: int) -> None:
        """Take what was fetched at the position of a partition."""
        reading = self.progress[fetched.log_partition]
        if fetched.position != reading.position:
            return
        if reading.begun is None:
            reading.begun = fetched.end
        if reading.look_back is not None:
            look_back, reading.look_back = reading.look_back, None
            if look_back < reading.position:
                reading.position = look_back
                return
        fault = ""
        for part in parts_of(fetched.records, fetched.name):
            batches = part.batches[int(np.searchsorted(part.batches.last_offsets, reading.position)) :]
            if len(batches):
                if fault:
                    self._skip(fetched.name, reading, int(batches.headers["base_offset"][0]), fault)
                self._read(fetched.name, reading, batches)
            fault = "" if part.fault is None else part.fault.reason
        if fault and reading.position == fetched.position:  # a broker returns at least one whole batch
            last = batch_at(fetched.records).last_offset if len(fetched.records) >= HEADER_BYTES else -1
            end = last + 1 if reading.position <= last < fetched.end else reading.position + 1
            self._skip(fetched.name, reading, end, fault)
        reading.end = fetched.end
        if fetched.records and reading.is_caught_up and reading.time_ms is not None:
            reading.delays_ms.append(present_ms - reading.time_ms)
        if reading.position >= reading.counted:
            self._resume(reading)

    def _resume(self, reading: LogReading) -> None:
        self.watches.resume(reading.number, reading.counted, reading.whole_since_ms(reading.counted))

    def _read(self, name: str, reading: LogReading, batches: Batches) -> None:
        self.journal.unwritten.gaps += reading.note(batches)
        end = int(batches.last_offsets[-1]) + 1
        for columns in columns_of_block(Block(batches=batches, base=0)):
            if isinstance(columns, Damage):
                number = int(np.searchsorted(batches.positions, columns.position))
                reading.position = max(reading.position, int(batches.headers["base_offset"][number]))
                self._skip(name, reading, int(batches.last_offsets[number]) + 1, columns.reason)
            else:
                self._columns(reading, columns)
        reading.position = end
        if end >= reading.counted:
            reading.epoch = int(batches.headers["leader_epoch"][-1])

    def _skip(self, name: str, reading: LogReading, end: int, reason: str) -> None:
        """Continue after records that are damaged."""
        if end > reading.position:
            self._report(f"{name}: offsets {reading.position} to {end - 1} are skipped: {reason}")
            self._gap(reading.miss(reading.position, end, "damaged"))
            reading.position = end

    def log_time(self, group: int, present_ms: int) -> int | None:
        """The time of the log of a group at a time of this machine, no earlier than it was; None: unknown."""
        reading = self.progress.get(self.journal.log_partitions[group])
        delays = () if reading is None else reading.delays_ms
        return present_ms - min(delays) + _FETCH_MS if delays else None

    def lose(self, lost: Lost) -> None:
        """Continue after records that the log no longer has. Everything must be written before and after."""
        number, resumed = lost.log_partition, lost.resumed
        reading = self.progress[number]
        begin = max(lost.position, reading.counted)  # before it, records are read again only to remember them
        reading.whole_ms = None
        if resumed < lost.position:
            self._gap(reading.miss(resumed, begin, TRUNCATED))
            self.journal.unwritten.lost.append((number, resumed))
            self.watches.forget(number, resumed)
            reading.open.forget(resumed)
            reading.counted = min(reading.counted, resumed)
            reading.begun = None if reading.begun is None else min(reading.begun, resumed)
        elif resumed > begin:
            first, reason = (0, BEFORE) if reading.begun is None else (begin, DELETED)
            self._gap(reading.miss(first, resumed, reason))
        reading.position, reading.look_back, reading.epoch = resumed, None, lost.epoch

    def _gap(self, row: GapRow) -> None:
        self.journal.unwritten.gaps.append(row)

    def _columns(self, reading: LogReading, columns: Columns) -> None:
        if reading.whole_ms is None:
            reading.whole_ms = int(columns.timestamps[0])
        octets = np.frombuffer(columns.data, dtype=np.uint8)
        types = key_types(octets, columns.key_start, columns.key_end)
        types[columns.batches.headers["attributes"][columns.batch_of] & CONTROL != 0] = NO_TYPE
        types[columns.offsets < reading.position] = NO_TYPE
        lanes = np.flatnonzero((types == OFFSET_COMMIT) | (types == LEGACY_OFFSET_COMMIT))
        commits, decided = self._commits(reading, columns, lanes, types)
        start = int(np.searchsorted(decided, reading.counted))
        self._rings.add(commits[:start])
        if int(columns.offsets[-1]) >= reading.counted:
            self._resume(reading)
        for lane in np.flatnonzero(np.isin(types, KEY_VERSIONS)).tolist():
            record = GroupRecord(
                int(columns.offsets[lane]),
                int(columns.timestamps[lane]) * US_PER_MS,
                columns.key(lane) or b"",
                columns.value(lane),
            )
            if record.offset >= reading.counted:
                stop = int(np.searchsorted(decided, record.offset))
                self.watches.feed(commits[start:stop])
                start = stop
                self._event(reading, record)
        self.watches.feed(commits[start:])
        reading.time_ms = int(columns.timestamps[-1])

    def _commits(self, reading: LogReading, columns: Columns, lanes: Ints, types: Ints) -> tuple[Table, Ints]:
        """The commits that count now, and the offsets from which they do, ascending."""
        number = reading.number
        read = commits_in(columns, lanes, types, self._keys)
        for offset, reason in read.malformed:
            self._report_unread(reading, offset, reason)
        for topic_id, name in read.ids.items():
            self._name(topic_id, name)
        new = self._keys.places[len(self._place_of_key) :]
        if new:
            numbers = [self.places.number(self.journal.group(group, number), place) for group, place in new]
            self._place_of_key = np.concatenate([self._place_of_key, np.array(numbers, dtype=np.int64)])
        valued = read.has_value
        commits = np.empty(int(valued.sum()), dtype=COMMITS)
        commits["place"] = self._place_of_key[read.keys[valued]]
        commits["time_ms"] = read.times[valued] // US_PER_MS
        commits["committed"] = read.committed[valued]
        commits["log_offset"] = read.log_offsets[valued]
        commits, decided = reading.open.decided(columns, read.lanes[valued], commits)
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

    def _event(self, reading: LogReading, record: GroupRecord) -> None:
        try:
            whole_ms = reading.whole_since_ms(record.offset)
            self.watches.event(group_in(record.key) or "", reading.number, record, whole_ms)
        except (DecodeError, UnknownKeyType) as error:
            self._report_unread(reading, record.offset, str(error))

    def _report_unread(self, reading: LogReading, offset: int, reason: str) -> None:
        self._report(
            f"__consumer_offsets-{reading.number}: the record at offset {offset} cannot be read: {reason}"
        )

    # Writing.

    @property
    def has_read(self) -> bool:
        return any(reading.end is not None for reading in self.progress.values())

    @property
    def is_caught_up(self) -> bool:
        return bool(self.progress) and all(reading.is_caught_up for reading in self.progress.values())

    def flush(self, now_ms: int) -> tuple[list[NamedRebalance], list[tuple[int, str]]]:
        """Write everything, with the positions. Returns the rebalances that are new, and posts. Raises CannotWrite."""
        positions = {number: reading.stored for number, reading in self.progress.items()}
        current_ms = now_ms if self.is_caught_up else None
        new, posts = self.journal.flush(positions, self.places.group_of, current_ms)
        settled, self.watches.settled = self.watches.settled, []
        return [settled[index] for index in new], posts
