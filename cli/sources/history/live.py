"""The past of groups in `__consumer_offsets` of a live cluster: of the partitions that they hash to, the records since
a time, found by time.

Who was a member at that time was written before it, perhaps long before. So the log is also read backward from there,
in growing windows, until a record has all that a group was: the last one of a classic group has, and for a consumer
group it may be the start of the log. After `MOST_BEFORE_BYTES` that ends: who owned what is then not known until the
group's next records. Compaction keeps the older part of a log small, so a whole log is read in most clusters.

Records are fetched whether their transaction was committed or not, with the markers that end it. No group is joined and
nothing is committed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from cli.errors import CommandError, RefusedError
from cli.progress import Progress
from cli.sources.history.read import GroupHistoryRead, HistoryReading, LookedUpNames
from cli.sources.live import LiveSource
from cli.sources.permissions import cause_of
from cli.sources.wire_source import WireSource
from coordinator.store.history_log import GroupChoice, GroupLog, PartitionLog
from coordinator.store.partition_files import OFFSETS_TOPIC, partitions_for
from groups.history.departures import NOTHING, Knowledge
from groups.listing import Cause, Problem
from wire.client.cluster import KafkaClient
from wire.client.connection import Connection
from wire.client.log_searches import MOST_BYTES, fetch
from wire.client.metadata import ClusterMetadata, TopicPartition
from wire.client.offsets import EARLIEST, LATEST, OffsetSpec, offsets_at
from wire.client.sasl import why_unsupported
from wire.client.steps import Deadline, Replies, begun
from wire.errors import ErrorCode, Failure
from wire.log.batch_header import HEADER_BYTES, Batches, batch_at
from wire.log.blocks import Block
from wire.log.salvage import parts_of
from wire.log.timestamps import US_PER_MS
from wire.messages.schemas import log_records as schemas

LOOK_BACK_MS = 300_000  # commits from before the time of interest, which judge the departures right after it
MOST_BEFORE_BYTES, _LEAST_BEFORE_BYTES = 256 << 20, 16 << 20  # of all partitions, and of each
_FIRST_WINDOW = 50_000  # in offsets
_GROWTH = 4
_LEAST_BYTES = 64 << 10
_MOST_EMPTY = 10  # a quota may have a broker answer late, and without a byte
_NOTHING = GroupLog()


class HistoryRefused(RefusedError):
    """This user may not read `__consumer_offsets`."""

    def __init__(self, name: str | None) -> None:
        super().__init__(
            f"not allowed: the history of groups is in the topic {OFFSETS_TOPIC}, and reading it needs READ and "
            f"DESCRIBE on the topic {OFFSETS_TOPIC} ({name}); see `kohort help security`"
        )


def read_live_history(
    source: LiveSource,
    groups: Sequence[str],
    *,
    since_ms: int,
    has_name: Callable[[str], bool] | None = None,
    stated: Knowledge = NOTHING,
) -> GroupHistoryRead:
    """The past of the named groups, or of all that `has_name` accepts. `stated` is knowledge of every group, and takes
    precedence over what the cluster knows. Raises HistoryRefused. Raises WireError: no broker answers. Raises
    CommandError: only librdkafka supports the login."""
    if not isinstance(source, WireSource):
        why = why_unsupported(source.settings)
        raise CommandError(f"{source.name}: the history of groups needs Kohort's own client. {why}")
    return _LiveHistory(source, stated).read(GroupChoice(groups, has_name), groups, since_ms)


@dataclass(slots=True, kw_only=True)
class LogRange:
    """A range of offsets of a partition, being read."""

    number: int
    position: int
    end: int
    log: PartitionLog
    first: int | None = None  # the first offset that was read
    read_bytes: int = 0
    empty: int = 0  # the number of answers without a byte, one after another
    damage: list[str] = field(default_factory=list)
    failure: Failure | None = None

    @property
    def is_done(self) -> bool:
        return self.failure is not None or self.position >= self.end

    def take(self, data: bytes) -> list[Batches]:
        """Find the batches of an answer; the position is the offset after them. Returns those to be read."""
        self.read_bytes += len(data)
        before, found = self.position, list[Batches]()
        for part in parts_of(data, f"{OFFSETS_TOPIC}-{self.number}"):
            batches = part.batches
            if len(batches):
                self.position = int(batches.last_offsets[-1]) + 1
                found.append(batches[: int((batches.headers["base_offset"] < self.end).sum())])
            is_cut_off = part.last and part.fault is not None and part.fault.unfinished
            if part.fault is not None and not (is_cut_off and self.position > before):
                self.damage.append(part.fault.reason)
        self.empty = 0 if data else self.empty + 1
        if self.empty > _MOST_EMPTY:
            self.failure = Failure(message=f"its leader returns no record at offset {before}")
        elif data and self.position == before:
            # A broker returns the batch again for every offset in it.
            last = batch_at(data).last_offset if len(data) >= HEADER_BYTES else before
            self.position = last + 1 if before <= last < self.end else before + 1
        return found

    def read(self, found: Iterable[Batches]) -> None:
        """Read the batches that `take` returned."""
        for batches in found:
            if self.first is None and len(batches):
                self.first = int(batches.headers["base_offset"][0])
            self.damage += [damage.reason for damage in self.log.read(Block(batches=batches, base=0))]


class _LiveHistory:
    def __init__(self, source: WireSource, stated: Knowledge) -> None:
        self._source, self._stated = source, stated
        self._client: KafkaClient = source.client
        self._metadata: ClusterMetadata | None = None
        self._names: Mapping[UUID, str] | None = None
        self._settings: dict[str, Mapping[str, str]] = {}

    def read(self, choice: GroupChoice, groups: Sequence[str], since_ms: int) -> GroupHistoryRead:
        reading = HistoryReading(
            source=self._source.name,
            since=since_ms * US_PER_MS,
            stated=self._stated,
            settings_of=lambda group: self._settings.get(group, {}),
        )
        count = self._partitions()
        numbers = sorted(set(partitions_for(groups, count))) if groups and count else range(count)
        starts = self._starts(numbers, since_ms - LOOK_BACK_MS, reading)
        parts = []
        for number, (first, end, begin) in starts.items():
            # With the record before, if there is one: otherwise compaction has taken some.
            position = max(begin - 1, first)
            log = PartitionLog(choice, 0 if position == first else position)
            parts.append(LogRange(number=number, position=position, end=end, log=log))
        self._read_all(parts, reading)
        found: list[tuple[LogRange, dict[str, GroupLog]]] = []
        most_bytes = max(MOST_BEFORE_BYTES // max(len(parts), 1), _LEAST_BEFORE_BYTES)
        for part in parts:
            first, _, begin = starts[part.number]
            begin = begin if part.first is None else part.first
            later = part.log.groups()
            named = [group for group in groups if partitions_for([group], count) == [part.number]]
            earlier = self._before(part, first, begin, choice, named, later, most_bytes, reading)
            found.append((part, {**earlier, **_joined(earlier, later)}))
        self._know([group for _, logs in found for group, log in logs.items() if log.is_consumer], reading)
        for part, logs in found:
            names = LookedUpNames(part.log.names, self._topic_names)
            reading.add(part.log, logs, part.number, names, f"{OFFSETS_TOPIC}-{part.number}")
        return reading.result(groups)

    def _know(self, groups: Sequence[str], reading: HistoryReading) -> None:
        """Read the settings of groups of the consumer protocol, which their records do not have."""
        if groups and self._stated.session_timeout_ms is None:
            read = self._source.group_settings(groups)
            reading.notices += [f"{problem.subject}: {problem.message}" for problem in read.problems]
            for group, settings in read.by_group.items():
                self._settings[group] = {name: config.value or "" for name, config in settings.items()}

    def _topic_names(self) -> Mapping[UUID, str]:
        if self._names is None:
            topics = self._client.metadata(None).topics.values()
            self._names = {topic.topic_id: topic.name for topic in topics if topic.topic_id is not None}
        return self._names

    def _partitions(self) -> int:
        """The number of partitions; 0: no group has ever used the cluster. Raises HistoryRefused."""
        self._metadata = metadata = self._client.metadata([OFFSETS_TOPIC])
        failure = metadata.failed.get(OFFSETS_TOPIC)
        if failure is not None:
            _raise_if_refused(failure)
            if failure.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise CommandError(f"{OFFSETS_TOPIC} cannot be read: {failure.message}")
        return len(metadata.topics[OFFSETS_TOPIC].partitions) if OFFSETS_TOPIC in metadata.topics else 0

    def _starts(
        self, numbers: Collection[int], time_ms: int, reading: HistoryReading
    ) -> dict[int, tuple[int, int, int]]:
        """The first offset of each partition, its end, and the first offset at or after a time."""
        keys = [(OFFSETS_TOPIC, number) for number in numbers]
        specs = [EARLIEST, OffsetSpec(max(time_ms, 0)), LATEST]
        answers = offsets_at(self._client, keys, specs, leaders=self._metadata)
        for key, failure in answers.failed.items():
            self._note(key[1], failure, reading)
        return {
            number: (first, end, end if begin < 0 else begin)
            for (_, number), (first, begin, end) in answers.found.items()
        }

    def _read_all(self, ranges: Sequence[LogRange], reading: HistoryReading) -> None:
        """Read every range, or note its failure. Raises HistoryRefused."""
        total = sum(part.end - part.position for part in ranges)
        by_key = {(OFFSETS_TOPIC, part.number): part for part in ranges if not part.is_done}
        with Progress(f"reading {OFFSETS_TOPIC}", total, before_data=True) as progress:

            def read(
                leader: Connection, keys: Collection[TopicPartition], _: Deadline
            ) -> Replies[TopicPartition, bool]:
                pending = {key: by_key[key] for key in keys}
                replies: dict[TopicPartition, bool | Failure] = {}
                following = self._next(leader, pending)
                while pending:
                    answers = yield from following
                    found: list[tuple[LogRange, list[Batches]]] = []
                    for key, answer in answers.items():
                        if isinstance(answer, Failure):
                            replies[key] = answer
                        else:
                            found.append((pending[key], pending[key].take(answer.records or b"")))
                    pending = {k: part for k, part in pending.items() if not (part.is_done or k in replies)}
                    # The leader answers while these records are read.
                    following = begun(self._next(leader, pending))
                    for part, batches in found:
                        part.read(batches)
                    progress.at(total - sum(part.end - part.position for part in by_key.values()))
                return replies | {key: True for key in keys if key not in replies}

            while by_key:
                positions = {key: part.position for key, part in by_key.items()}
                failed = self._client.ask_leaders(by_key, read, known=self._metadata).failed
                for key, failure in failed.items():
                    if positions[key] == by_key[key].position:  # otherwise its leader moved meanwhile
                        by_key[key].failure = failure
                by_key = {key: by_key[key] for key in failed if not by_key[key].is_done}
        for part in ranges:
            where = f"{OFFSETS_TOPIC}-{part.number}"
            for reason in dict.fromkeys(part.damage):
                reading.problems.append(Problem(subject=where, message=f"{reason}; it was not read"))
            if part.failure is not None:
                self._note(part.number, part.failure, reading, f" after offset {part.position}")

    def _next(
        self, leader: Connection, pending: Mapping[TopicPartition, LogRange]
    ) -> Replies[TopicPartition, schemas.FetchResponseResponsePartition]:
        if not pending:
            return {}
        most = max(MOST_BYTES // len(pending), _LEAST_BYTES)
        positions = {key: part.position for key, part in pending.items()}
        deadline = Deadline(self._source.timeout_ms)
        return (yield from fetch(leader, positions, most, deadline))

    def _before(
        self,
        part: LogRange,
        first: int,
        end: int,
        choice: GroupChoice,
        named: Sequence[str],
        later: Mapping[str, GroupLog],
        most_bytes: int,
        reading: HistoryReading,
    ) -> dict[str, GroupLog]:
        """What the log has before `end` of the `named` groups, or of all that are chosen, as far back as it matters and
        `most_bytes` allow."""

        def is_known(group: str) -> bool:
            return later.get(group, _NOTHING).has_first or earlier.get(group, _NOTHING).has_state

        earlier: dict[str, GroupLog] = {}
        read_bytes, window = 0, _FIRST_WINDOW
        following_ms = part.log.begin_ms
        while end > first and not (named and all(map(is_known, named))):
            if read_bytes > most_bytes:
                reading.notices.append(
                    f"{OFFSETS_TOPIC}-{part.number}: not read before offset {end}, as there is much of it: who owned "
                    "what at first may be missing; an earlier --since reads more"
                )
                break
            begin = max(first, end - window)
            older = LogRange(number=part.number, position=begin, end=end, log=PartitionLog(choice, begin))
            self._read_all([older], reading)
            older_logs = older.log.groups()
            earlier = {**older_logs, **_joined(older_logs, earlier)}
            part.log.names |= older.log.names
            part.log.gaps += older.log.gaps
            if older.log.next_offset < end and following_ms is not None:
                part.log.miss_before(following_ms)
            following_ms = following_ms if older.log.begin_ms is None else older.log.begin_ms
            read_bytes += older.read_bytes
            end, window = min(begin, begin if older.first is None else older.first), window * _GROWTH
        return earlier

    def _note(self, number: int, failure: Failure, reading: HistoryReading, where: str = "") -> None:
        _raise_if_refused(failure)
        message = f"cannot be read{where}: {failure.message}"
        reading.problems.append(Problem(subject=f"{OFFSETS_TOPIC}-{number}", message=message))


def _joined(earlier: Mapping[str, GroupLog], later: Mapping[str, GroupLog]) -> dict[str, GroupLog]:
    """The later logs, each after the earlier one of the same group."""
    return {name: log.after(earlier.get(name, _NOTHING)) for name, log in later.items()}


def _raise_if_refused(failure: Failure) -> None:
    if cause_of(failure.name) is Cause.FORBIDDEN:
        raise HistoryRefused(failure.name)
