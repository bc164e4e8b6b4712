"""Read-only loading of groups from brokers' log directories (`log.dirs`); the brokers may be running.
Of several copies of a partition the most complete one is read or, for an earlier time, one that still has the
records of that time. Unreadable parts are reported, and the rest is read. A damaged partition yields no groups at
all: an operator would mistake groups of an earlier time for the current ones."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import numpy as np

from coordinator.engine.context import EngineState
from coordinator.engine.engine import Engine
from coordinator.store.copies import Notice, failure, find_copies, rank
from coordinator.store.digest import Digest
from coordinator.store.directory_files import CLEANER, read_checkpoint
from coordinator.store.other_groups import OtherGroup
from coordinator.store.partition_files import OFFSETS_TOPIC
from coordinator.store.replay import Replay
from coordinator.store.topic_names import KnownTopic, KnownTopics, known_topics
from wire.log.columns import columns_of
from wire.log.errors import DamagedLog
from wire.log.segments import Segment, Torn, read_log
from wire.log.varints import Ints


class Coverage:
    """The times that a partition's segments cover, in their order."""

    def __init__(self, as_of_ms: int) -> None:
        self._as_of_ms = as_of_ms
        self._next_offset = 0
        self._last_gap: int | None = None  # the offset after the last gap
        self._first_later: int | None = None  # first batch with a record after the requested time
        self._active_from = 0
        self._times: list[tuple[int, int]] = []  # for each segment its base offset, and its latest time

    @property
    def extends_beyond(self) -> bool:
        """Whether there is a record after the requested time."""
        return self._first_later is not None

    def add(self, segment: Segment) -> None:
        """Process the next segment."""
        self._active_from = segment.base_offset
        headers = segment.batches.headers
        if not len(headers):
            return
        bases: Ints = headers["base_offset"].astype(np.int64)
        lasts = segment.batches.last_offsets
        before = np.concatenate(([self._next_offset], lasts[:-1] + 1))
        gaps = np.flatnonzero((bases > before) | (headers["count"] < lasts - bases + 1))
        if len(gaps):
            self._last_gap = int(lasts[gaps[-1]]) + 1
        self._next_offset = int(lasts[-1]) + 1
        self._times.append((segment.base_offset, int(headers["max_timestamp"].max())))
        later = np.flatnonzero(headers["max_timestamp"] > self._as_of_ms)
        if len(later) and self._first_later is None:
            self._first_later = int(bases[later[0]])

    def whole_from(self, cleaned_to: int | None) -> int | None:
        """The time from which the records are complete, None if at the requested time. `cleaned_to` is the offset
        that compaction has reached, None if unknown: it never reaches the active segment."""
        if self._last_gap is None or self._first_later is None:
            return None
        if cleaned_to is None or cleaned_to < self._last_gap:
            cleaned_to = self._active_from
        if cleaned_to <= self._first_later:
            return None
        return max(time_ms for base_offset, time_ms in self._times if base_offset < cleaned_to)


MOST_MALFORMED = 10  # how many malformed records are reported per partition


@dataclass(frozen=True, kw_only=True)
class LoadedLog:
    """The content of the directories, as of a time if one was requested."""

    state: EngineState  # classic and consumer groups, and the offsets of groups of any type
    others: Mapping[str, OtherGroup]  # share and streams groups, by id
    unknown_keys: Counter[int]  # the number of records of types that Kafka 4.4 does not know, by type
    notices: tuple[Notice, ...]  # the notices by partition; notices about topic names are in `topics`
    records: int
    batches: int
    partitions: tuple[int, ...]  # the partitions of `__consumer_offsets` that were read
    directories: tuple[Path, ...]
    as_of_ms: int | None
    named_topics: Mapping[UUID, KnownTopic]  # topics by id, as far as records name them

    @cached_property
    def topics(self) -> KnownTopics:
        """The known topics; their files are read on first use."""
        return known_topics(self.directories, self.named_topics, as_of_ms=self.as_of_ms)

    @property
    def problems(self) -> tuple[Notice, ...]:
        """Groups that could not be read."""
        return tuple(notice for notice in self.notices if notice.is_problem)


@dataclass(slots=True)
class _Read:
    """A copy of a partition that was read."""

    copy: Path
    digest: Digest
    coverage: Coverage | None
    batches: int = 0
    segments: list[tuple[int, Path]] = field(default_factory=list)  # the base offset and file of each segment
    torn: Torn | None = None
    damage: DamagedLog | None = None  # the error that ended the reading, after the requested time
    whole_from_ms: int | None = None
    """The time from which the records are complete, if some may be missing at the requested time."""

    def file_of(self, position: int) -> Path:
        """The segment that contains an offset."""
        index = bisect_right(self.segments, position, key=lambda start: start[0])
        return self.segments[max(index - 1, 0)][1]


def load(directories: Sequence[Path], *, as_of_ms: int | None = None) -> LoadedLog:
    """Read the `__consumer_offsets-N` of some log directories, up to `as_of_ms` (since 1970). Nothing is raised for
    their content, or for a missing one: see `LoadedLog.problems`."""
    copies, notices = find_copies(directories, OFFSETS_TOPIC)
    loading = _Loading(as_of_ms, notices)
    for number in sorted(copies):
        loading.partition(number, copies[number])
    loading.finish()
    replay = loading.replay
    return LoadedLog(
        state=replay.engine.state,
        others=replay.others.by_id,
        unknown_keys=replay.unknown_keys,
        notices=tuple(loading.notices),
        records=loading.records,
        batches=loading.batches,
        partitions=tuple(loading.partitions),
        directories=tuple(directories),
        as_of_ms=as_of_ms,
        named_topics=replay.named_topics,
    )


class _Loading:
    """The partitions loaded so far."""

    def __init__(self, as_of_ms: int | None, notices: Iterable[Notice]) -> None:
        self.replay = Replay(Engine())
        self.notices = list(notices)
        self.partitions: list[int] = []
        self.records = self.batches = 0
        self._as_of_ms = as_of_ms
        self._failed: list[int] = []
        self._behind: dict[tuple[Path, Path], list[int]] = {}
        """Partitions, by the log directory of an outdated copy and the log directory of the best copy."""
        self._doubtful: dict[int, int] = {}  # by partition, the time from which the records are complete
        self._cleaned: dict[Path, Mapping[tuple[str, int], int]] = {}

    def partition(self, number: int, copies: Sequence[Path]) -> None:
        """Read a partition: from another copy if the best one cannot be read, or lacks the requested time."""
        ranking = rank(copies)
        for copy in ranking.behind:
            self._behind.setdefault((copy.parent, ranking.copies[0].parent), []).append(number)
        failures = dict(ranking.failures)
        chosen: _Read | None = None
        for copy in ranking.copies:
            try:
                read = _read(copy, self._as_of_ms)
            except (DamagedLog, OSError) as error:
                failures[copy] = failure(copy, error)
                continue
            failures.pop(copy, None)
            read.whole_from_ms = self._whole_from(number, read)
            is_whole = read.whole_from_ms is None and (read.coverage is None or read.coverage.extends_beyond)
            if chosen is None or is_whole:
                chosen = read
            if chosen.whole_from_ms is None:
                break
        consequence = f"the groups of {OFFSETS_TOPIC}-{number} are omitted"
        if chosen is not None:
            consequence = f"{chosen.copy} is read instead"
            self._take(number, chosen)
        else:
            self._failed.append(number)
        is_problem = chosen is None
        self.notices += [failed.with_consequence(consequence, is_problem) for failed in failures.values()]

    def _take(self, number: int, read: _Read) -> None:
        malformed = self.replay.partition(read.digest)
        self.partitions.append(number)
        self.records += read.digest.records
        self.batches += read.batches
        if read.torn is not None:
            message = f"ends with an incomplete batch ({read.torn.reason}): torn, or being written"
            self.notices.append(Notice(Path(read.torn.file), message, position=read.torn.position))
        if read.damage is not None:
            damage = failure(read.copy, read.damage)
            self.notices.append(damage.with_consequence("the records before it are complete"))
        if read.whole_from_ms is not None:
            self._doubtful[number] = read.whole_from_ms
        for position, reason in malformed[:MOST_MALFORMED]:
            message = f"the record at offset {position} was skipped: {reason}"
            self.notices.append(Notice(read.file_of(position), message, is_problem=True))
        if len(malformed) > MOST_MALFORMED:
            message = f"{len(malformed) - MOST_MALFORMED} more records were skipped"
            self.notices.append(Notice(read.copy, message, is_problem=True))

    def _whole_from(self, number: int, read: _Read) -> int | None:
        if read.coverage is None:
            return None
        path = read.copy.parent / CLEANER
        if path not in self._cleaned:
            try:
                self._cleaned[path] = read_checkpoint(path)
            except (DamagedLog, OSError) as error:
                self.notices.append(failure(path, error))
                self._cleaned[path] = {}
        return read.coverage.whole_from(self._cleaned[path].get((OFFSETS_TOPIC, number)))

    def finish(self) -> None:
        """Report notices about several partitions."""
        for (directory, best), numbers in self._behind.items():
            message = f"its copies of {_partitions(numbers)} end before those in {best}"
            self.notices.append(Notice(directory, message))
        if self._doubtful:
            message = (
                f"compaction has passed that time in {_partitions([*self._doubtful])}: records that were valid then "
                f"and replaced later may be missing; from {_utc(max(self._doubtful.values()))} on all are present"
            )
            self.notices.append(Notice(None, message))
        known = sorted((*self.partitions, *self._failed))
        missing = [[low + 1, high - 1] for low, high in pairwise([-1, *known]) if high - low > 1]
        if missing:
            message = (
                f"{OFFSETS_TOPIC} {_spans(missing)} in none of the directories: their groups are unknown"
            )
            self.notices.append(Notice(None, message))


def _partitions(numbers: Sequence[int]) -> str:
    """Ascending numbers, as in `__consumer_offsets 0, 3-5`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return f"{OFFSETS_TOPIC} {_spans(spans)}"


def _spans(spans: Iterable[Sequence[int]]) -> str:
    return ", ".join("-".join(map(str, dict.fromkeys(span))) for span in spans)


def _utc(time_ms: int) -> str:
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return f"{time_ms} ms"


def _read(copy: Path, as_of_ms: int | None) -> _Read:
    """Read a copy. Raises DamagedLog. Raises OSError."""
    coverage = None if as_of_ms is None else Coverage(as_of_ms)
    read = _Read(copy, Digest(as_of_ms), coverage)
    try:
        for segment in read_log(copy):
            for columns in columns_of(segment.batches):
                read.digest.add(columns)
            if coverage is not None:
                coverage.add(segment)
            read.batches += len(segment.batches)
            read.segments.append((segment.base_offset, segment.path))
            read.torn = segment.torn
    except DamagedLog as error:
        if coverage is None or not coverage.extends_beyond:
            raise
        read.damage = error
    return read
