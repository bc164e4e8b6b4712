"""The history of groups in the log of one partition of `__consumer_offsets`: their records, commits, and from when on
none of them can be missing. Batches are added in the order of the log.

A commit of a transaction counts once the transaction is committed, at its own offset; while it is open, or if it was
aborted, it is no progress. A deleted offset is not a commit.

Whatever takes records away (compaction, retention, damage) leaves a gap in the offsets. After the last gap nothing is
missing. Compaction keeps the last record of every key, so what a group was at a gap follows from older records, but
not how it came there. A record in a gap was written before the one after it. Where commits are missing, it would look
as if members had stopped committing: no judgment may look back across a gap.

Source: CoordinatorLoaderImpl, OffsetMetadataManager.replay, Cleaner."""

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from coordinator.store.history_events import (
    NO_TIME,
    TYPE_BYTES,
    CommitKeys,
    GroupRecord,
    commits_in,
    group_in,
    names_in,
)
from groups.history.commits import PlaceCommits
from groups.history.events import CLASSIC_GROUP, GROUP_EPOCH, Place
from wire.log.batch_header import CODEC_MASK, CONTROL, NO_PRODUCER_ID, Batches
from wire.log.blocks import Block, Damage, columns_of_block
from wire.log.columns import Columns
from wire.log.control_records import ControlType, MalformedControlRecord, control_type_of
from wire.log.offset_columns import LEGACY_OFFSET_COMMIT, NO_TYPE, OFFSET_COMMIT, key_types
from wire.log.timestamps import US_PER_MS, is_in_range
from wire.log.varints import Ints
from wire.messages.reader import DecodeError
from wire.messages.record_codec import RECORD_TYPES, decode_value

_MOST_SEARCHED = 16  # the number of groups up to which a search for each name is faster than decoding
_FIRST = {CLASSIC_GROUP: 1, GROUP_EPOCH: 2}  # a new consumer group's epoch was 1 up to Kafka 4.2
_BACKWARD_MS = 60_000  # the least jump of the clock that is reported; leaders' clocks differ by less


class GroupChoice:
    """The groups whose history is read: some by name, or all that `has_name` accepts."""

    def __init__(self, names: Collection[str], has_name: Callable[[str], bool] | None = None) -> None:
        self.names = frozenset(names)
        self._has_name = has_name
        self._needles = [
            len(name).to_bytes(2) + name for name in sorted(text.encode(errors="replace") for text in names)
        ]

    def wants(self, group: str) -> bool:
        return group in self.names if self._has_name is None else self._has_name(group)

    def select(self, batches: Batches) -> Batches:
        """The batches that may contain records of these groups, or the end of a transaction."""
        if self._has_name is not None or len(self._needles) > _MOST_SEARCHED or not len(batches):
            return batches
        chosen = batches.headers["attributes"] & (CODEC_MASK | CONTROL) != 0
        hits = np.array(sorted(self._hits(batches.data)), dtype=np.int64)
        chosen[np.searchsorted(batches.positions, hits[hits >= batches.positions[0]], side="right") - 1] = (
            True
        )
        return Batches(batches.data, batches.file, batches.positions[chosen], batches.headers[chosen])

    def _hits(self, data: bytes) -> Iterator[int]:
        for needle in self._needles:
            position = data.find(needle)
            while position >= 0:
                yield position
                position = data.find(needle, position + len(needle))


@dataclass(slots=True)
class GroupLog:
    """What the log has of one group: records that are not commits, and commits by place."""

    records: list[GroupRecord] = field(default_factory=list)
    commits: dict[Place, PlaceCommits] = field(default_factory=dict)

    @property
    def has_state(self) -> bool:
        """Whether a record has, or ends, all that the group was then: what it was later does not depend on an earlier
        one. A record of a classic group does, and the first and the last one of a consumer group."""
        return any(
            record.key_type == CLASSIC_GROUP
            or (record.key_type == GROUP_EPOCH and (record.value is None or _is_first(record)))
            for record in self.records
        )

    @property
    def is_consumer(self) -> bool:
        """Whether it was a group of the consumer protocol."""
        return any(record.key_type == GROUP_EPOCH for record in self.records)

    @property
    def has_first(self) -> bool:
        """Whether the group was created in this part of the log."""
        return next((_is_first(r) for r in self.records if r.key_type in (CLASSIC_GROUP, GROUP_EPOCH)), False)

    def after(self, earlier: "GroupLog") -> "GroupLog":
        """The group's log after an earlier part of it."""
        commits = dict(earlier.commits)
        for place, later in self.commits.items():
            both = (commits[place], later) if place in commits else (later,)
            commits[place] = PlaceCommits(*map(np.concatenate, zip(*both, strict=True)))
        return GroupLog(records=[*earlier.records, *self.records], commits=commits)


def _is_first(record: GroupRecord) -> bool:
    """Whether a group's record is that of its first generation or epoch."""
    if record.value is None:
        return False
    try:
        _, fields = decode_value(record.key_type, record.value)
    except DecodeError:
        return False
    number: int = fields["generation" if record.key_type == CLASSIC_GROUP else "epoch"]
    return number <= _FIRST[record.key_type]


class PartitionLog:
    """See the module."""

    def __init__(self, choice: GroupChoice, start: int = 0) -> None:
        """`start`: the offset from which the log is read."""
        self.malformed: list[tuple[int, str]] = []  # offsets of records that cannot be read, and why
        self.unknown: Counter[int] = Counter()  # the number of records of types that Kafka 4.4 does not know
        self.names: dict[UUID, str] = {}  # of topics, as commits have them
        self.backward: list[tuple[int, int, int]] = []
        """Where the clock was set back: offset, the time before and after it, in ms."""
        self.whole_from = start, 0
        """The offset from which no record is missing, and the time of that record in ms; 0 at the start."""
        self.gaps: list[Ints] = []  # the times in ms of the records after each gap
        self.begin_ms: int | None = None  # the time of the first batch
        self.end_ms: int | None = None  # the time of the last record
        self.next_offset = start
        self._choice = choice
        self._keys = CommitKeys(choice.wants)
        self._records: dict[str, list[GroupRecord]] = {}
        self._wanted: dict[bytes, str | None] = {}  # groups by the beginning of keys; None: not wanted
        self._written: list[tuple[Ints, ...]] = []  # key numbers, log offsets, times, committed offsets
        self._open: dict[
            int, array[int]
        ] = {}  # by producer, the same of its open transaction, commit by commit
        self._ended = array("q")  # the same of committed transactions

    def read(self, block: Block) -> list[Damage]:
        """Read the next whole batches. Returns what is damaged in them, of which nothing is read."""
        damage: list[Damage] = []
        for columns in columns_of_block(replace(block, batches=self._pass(block.batches))):
            if isinstance(columns, Damage):
                damage.append(columns)
                self.whole_from = self.next_offset, self.end_ms or 0
                self.miss_before(self.whole_from[1])
            else:
                self._add(columns)
        return damage

    def miss_before(self, time_ms: int) -> None:
        """Note that records are missing before that time."""
        self.gaps.append(np.array([time_ms]))

    def _pass(self, batches: Batches) -> Batches:
        """Note gaps and times of batches. Returns those whose records must be read."""
        if not len(batches):
            return batches
        headers = batches.headers
        bases, lasts, times = headers["base_offset"].astype(np.int64), batches.last_offsets, _times(batches)
        due = np.concatenate(([self.next_offset], lasts[:-1] + 1))
        is_thinned = headers["count"] < lasts - bases + 1
        gaps = np.flatnonzero((bases > due) | is_thinned)
        if len(gaps):
            last = gaps[-1]
            self.gaps.append(np.unique(times[gaps]))
            self.whole_from = int(lasts[last] + 1 if is_thinned[last] else bases[last]), int(times[last])
        self.begin_ms = int(times[0]) if self.begin_ms is None else self.begin_ms
        before = np.concatenate((times[:1] if self.end_ms is None else [self.end_ms], times[:-1]))
        for index in np.flatnonzero(times < before - _BACKWARD_MS).tolist():
            self.backward.append((int(bases[index]), int(before[index]), int(times[index])))
        self.next_offset, self.end_ms = int(lasts[-1]) + 1, int(times[-1])
        return self._choice.select(batches)

    def _add(self, columns: Columns) -> None:
        control = (columns.batches.headers["attributes"] & CONTROL != 0)[columns.batch_of]
        types = key_types(np.frombuffer(columns.data, np.uint8), columns.key_start, columns.key_end)
        is_commit = (types == LEGACY_OFFSET_COMMIT) | (types == OFFSET_COMMIT)
        self._add_others(columns, types, np.flatnonzero(~control & ~is_commit & (types != NO_TYPE)))
        commits = commits_in(columns, np.flatnonzero(~control & is_commit), types, self._keys)
        self.malformed += commits.malformed
        self.names |= commits.ids
        producers = columns.batches.headers["producer_id"].astype(np.int64)[columns.batch_of]
        is_pending = commits.has_value & (producers[commits.lanes] != NO_PRODUCER_ID)
        plain = commits.has_value & ~is_pending
        fields = (commits.keys, commits.log_offsets, commits.times, commits.committed)
        self._written.append(tuple(column[plain] for column in fields))
        pending = np.stack([commits.lanes, *fields], axis=1)[is_pending]
        if len(pending) or self._open:
            self._add_transactions(columns, producers, control, pending)

    def _add_others(self, columns: Columns, types: Ints, lanes: Ints) -> None:
        timed = is_in_range(columns.timestamps)
        for lane in lanes.tolist():
            key = columns.key(lane) or b""
            group = self._group(key)
            if group is None:
                continue
            offset, time_ms = int(columns.offsets[lane]), int(columns.timestamps[lane])
            if types[lane] not in RECORD_TYPES:
                self.unknown[int(types[lane])] += 1
            elif not timed[lane]:
                self.malformed.append((offset, NO_TIME))
            else:
                record = GroupRecord(offset, time_ms * US_PER_MS, key, columns.value(lane))
                self._records.setdefault(group, []).append(record)
                self.names |= names_in(record)

    def _group(self, key: bytes) -> str | None:
        """The group of a key if it is wanted."""
        start = key[TYPE_BYTES : TYPE_BYTES + 2 + int.from_bytes(key[TYPE_BYTES : TYPE_BYTES + 2])]
        if start not in self._wanted:
            group = group_in(key)
            self._wanted[start] = group if group is not None and self._choice.wants(group) else None
        return self._wanted[start]

    def _add_transactions(
        self, columns: Columns, producers: Ints, control: NDArray[np.bool_], pending: Ints
    ) -> None:
        """Process commits of transactions, and the markers that end them, in the order of the log."""
        concerned = [*self._open, *np.unique(producers[pending[:, 0]]).tolist()]
        marks = np.flatnonzero(control & np.isin(producers, concerned))
        markers = iter([*marks.tolist(), len(columns)])
        marker = next(markers)
        for lane, *fields in [*pending.tolist(), [len(columns)]]:
            while marker < lane:
                self._mark(columns, marker, int(producers[marker]))
                marker = next(markers)
            if fields:
                self._open.setdefault(int(producers[lane]), array("q")).extend(fields)

    def _mark(self, columns: Columns, lane: int, producer_id: int) -> None:
        try:
            kind = control_type_of(columns.key(lane) or b"")
        except MalformedControlRecord as error:
            self.malformed.append((int(columns.offsets[lane]), str(error)))
            return
        if kind in (ControlType.COMMIT, ControlType.ABORT):
            commits = self._open.pop(producer_id, array("q"))
            if kind is ControlType.COMMIT:
                self._ended.extend(commits)

    @property
    def gap_times(self) -> Ints:
        """The times in µs, ascending, before each of which records are missing."""
        gaps: Ints = np.unique(np.concatenate([np.zeros(0, np.int64), *self.gaps])) * US_PER_MS
        return gaps

    def groups(self) -> dict[str, GroupLog]:
        """What was read of each group, by its id."""
        logs = {group: GroupLog(records=records) for group, records in self._records.items()}
        ended = np.frombuffer(self._ended, dtype=np.int64).reshape(-1, 4)
        columns = (np.concatenate(parts) for parts in zip(*self._written, ended.T, strict=True))
        keys, log_offsets, times, committed = columns
        order = np.lexsort((log_offsets, keys))
        _, starts = np.unique(keys[order], return_index=True)
        for lanes in np.split(order, starts[1:]) if len(order) else ():
            group, place = self._keys.places[int(keys[lanes[0]])]
            log = logs.setdefault(group, GroupLog())
            log.commits[place] = PlaceCommits(times[lanes], committed[lanes], log_offsets[lanes])
        return logs


def _times(batches: Batches) -> Ints:
    """The latest time in each batch, in ms; one without records has the time of the batch before, or 0."""
    times: Ints = batches.headers["max_timestamp"].astype(np.int64)
    timed = np.maximum.accumulate(np.where(times >= 0, np.arange(len(times)), 0))
    return np.maximum(times[timed], 0)
