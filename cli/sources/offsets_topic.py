"""Facts about groups that no API reports, from the newest records in `__consumer_offsets` of a live cluster.

Theory of operation. All records of a group are in one partition, chosen by the hash of its id, mixed with the records
of the other groups there. The newest records are searched from the end backwards, in growing windows. A partition is
read once for all its keys. The consumer is assigned its partitions: it joins no group and commits nothing. Records
are read whether their transaction was committed or not.

Leaders of classic groups: key type 2, field `leader`, which a coordinator writes whenever a rebalance is finished, when
a static member is replaced, and when the last member has left. Group records are in no transaction.

Times of commits: key type 1, field `commitTimestamp` (no version of OffsetFetch returns a time). The newest record
with exactly the offset that the broker reports is used: a newer record with another offset was written meanwhile, or
belongs to a transaction that is open or was aborted. The offset follows the version in every version of
OffsetCommitValue.

Times when last members left: key types 2, 3, 11 and 17, the records of groups. A classic group's record has the time
of its state in `currentStateTimestamp`; other groups' newest record was written when the epoch was last increased.

Source: GroupCoordinatorService.partitionFor, GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

from cli.progress import Progress
from cli.sources.permissions import cause_of
from cli.sources.source import ReadResult
from coordinator.engine.records import ClassicGroupRecord, OffsetRecord
from coordinator.store.partition_files import OFFSETS_TOPIC, partitions_for
from coordinator.store.records import decode_record, encode_record
from groups.commits import with_times
from groups.counts import counted, first_names
from groups.model import Cause, CommittedOffset, Group, GroupState, GroupType, Problem, TopicPartition
from wire.messages.layout import NO_UUID
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType, decode_value, encode_key
from wire.messages.schemas.classic_groups import GROUP_METADATA
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_METADATA
from wire.messages.schemas.offsets import OFFSET_COMMIT_RECORD
from wire.messages.schemas.share_groups import SHARE_GROUP_METADATA
from wire.messages.schemas.streams_groups import STREAMS_GROUP_METADATA

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError


T = TypeVar("T")
READER = "kohort-reads-offsets-topic"  # librdkafka requires a group id; the group is never joined
FIRST_WINDOW = 2_000  # Size of the first window, in offsets
GROWTH = 4
MOST_BYTES = 256 * 1024 * 1024  # Read in one partition at most: about two million commits
BATCH = 5_000
OFFSET = slice(2, 10)  # The offset's bytes in a value, after its version
SHOWN = 3
PATIENCE_S = 0.05  # Timeout of one poll, which also waits for it after the last record


@dataclass(frozen=True, slots=True)
class Unavailable:
    why: str
    cause: Cause = Cause.UNREAD


class FoundRecord(NamedTuple):
    offset: int
    key: bytes
    value: bytes | None
    timestamp_ms: int
    before_ms: int | None = None  # Time of the previous record with the same key, if it was read
    same_since_ms: int | None = None
    """The timestamp of the earliest of the records before it that have its key and the same offset, as far as they were
    read; None if the previous one has another."""

    def after(self, before: FoundRecord | None) -> FoundRecord:
        """The record with what is known from the one before it."""
        if before is None:
            return self
        is_same = (
            self.value is not None and before.value is not None and self.value[OFFSET] == before.value[OFFSET]
        )
        since_ms = before.timestamp_ms if before.same_since_ms is None else before.same_since_ms
        return self._replace(before_ms=before.timestamp_ms, same_since_ms=since_ms if is_same else None)


Settings: TypeAlias = Mapping[str, str | int | float | bool]  # librdkafka's settings
Records: TypeAlias = Mapping[bytes, FoundRecord | Unavailable]  # by key


class Search(NamedTuple):
    """The keys whose newest records are searched for, with the offset that the value must contain, as bytes; none:
    any value; None: a tombstone too. `optional` ones are searched for no further than the others."""

    keys: Mapping[bytes, bytes | None]
    optional: frozenset[bytes] = frozenset()
    known: Mapping[bytes, FoundRecord] = {}  # found before: only newer ones are searched for


def read_newest(
    config: Settings,
    groups: Sequence[str],
    search: Callable[[Sequence[str]], Search],
    timeout_s: float,
    ends: dict[int, int] | None = None,
) -> Iterator[tuple[Sequence[str], Records]]:
    """The newest record of each key, or why it could not be read, in about `timeout_s`: of some groups at a time, so
    that those of the others take no memory. `ends` remembers the ends of partitions when they were first read."""
    from confluent_kafka import Consumer, KafkaException

    deadline = time.monotonic() + timeout_s
    left = dict.fromkeys(groups)
    try:
        with closing(Consumer({**config, **_READING})) as consumer:
            yield from _read(consumer, left, search, {} if ends is None else ends, deadline)
    except KafkaException as error:
        yield [*left], dict.fromkeys(search([*left]).keys, _refused(error.args[0]))


_READING: Settings = {
    "group.id": READER,
    "group.protocol": "classic",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "earliest",
    "isolation.level": "read_uncommitted",
    "allow.auto.create.topics": False,
    "fetch.wait.max.ms": 20,
    "queued.max.messages.kbytes": 16 * 1024,
    "fetch.queue.backoff.ms": 10,  # by default a partition waits a second while records of the last one are queued
    "log_level": 0,
}


def _read(
    consumer: Consumer,
    left: dict[str, None],
    search: Callable[[Sequence[str]], Search],
    ends: dict[int, int],
    deadline: float,
) -> Iterator[tuple[Sequence[str], Records]]:
    """Takes the groups out of `left`."""
    groups = [*left]
    topic = consumer.list_topics(OFFSETS_TOPIC, timeout=_left(deadline)).topics.get(OFFSETS_TOPIC)
    if topic is None or topic.error is not None or not topic.partitions:
        reason = "it does not exist" if topic is None or topic.error is None else topic.error.str()
        missing = Unavailable(f"{OFFSETS_TOPIC} cannot be read: {reason}")
        yield groups, dict.fromkeys(search(groups).keys, missing)
        return
    by_partition: dict[int, list[str]] = defaultdict(list)
    for name, partition in zip(groups, partitions_for(groups, len(topic.partitions)), strict=True):
        by_partition[partition].append(name)
    for partition, names in sorted(by_partition.items()):
        records = _of_partition(consumer, partition, search(names), ends, deadline)
        for name in names:
            del left[name]
        yield names, records
        del records


def _of_partition(
    consumer: Consumer, partition: int, search: Search, ends: dict[int, int], deadline: float
) -> dict[bytes, FoundRecord | Unavailable]:
    """Read windows from the end backwards until every key was found, or everything was read. A known record is
    left out if there is no newer one."""
    from confluent_kafka import KafkaException, TopicPartition

    topic_partition = TopicPartition(OFFSETS_TOPIC, partition)
    keys, known = dict(search.keys), search.known if partition in ends else {}
    needed = keys.keys() - search.optional - known.keys()
    records: dict[bytes, FoundRecord | Unavailable] = {}
    missing = Unavailable(f"{OFFSETS_TOPIC}-{partition} contains no record of it")
    try:
        if _left(deadline) <= 0:
            raise _LimitError(f"there was no time left to read {OFFSETS_TOPIC}-{partition} (--timeout)")
        first, end = consumer.get_watermark_offsets(topic_partition, timeout=_left(deadline))
        read_to = max(ends.setdefault(partition, end), first)
        with Progress(f"reading {OFFSETS_TOPIC}-{partition}", end - first) as progress:
            scan = _Scan(consumer, partition, deadline, progress)
            size = FIRST_WINDOW
            while end > (first if needed else read_to) and (needed or known):
                begin = max(first, end - size) if needed else read_to
                newest = scan.newest(begin, end, keys, known if begin <= read_to else {})
                records |= newest
                needed -= newest.keys()
                for key in newest:
                    del keys[key]
                end, size = begin, size * GROWTH
    except _LimitError as error:
        missing = Unavailable(str(error))
    except KafkaException as error:
        missing = _refused(error.args[0], f"{OFFSETS_TOPIC}-{partition} cannot be read: ")
    return {**dict.fromkeys(keys.keys() - known.keys(), missing), **records}


class _LimitError(Exception):
    """The deadline has passed, or there is too much to read."""


class _Scan:
    def __init__(self, consumer: Consumer, partition: int, deadline: float, progress: Progress) -> None:
        self.consumer, self.partition, self.deadline = consumer, partition, deadline
        self.progress = progress
        self.read_bytes = 0

    def newest(
        self, begin: int, end: int, keys: Mapping[bytes, bytes | None], before: Mapping[bytes, FoundRecord]
    ) -> dict[bytes, FoundRecord]:
        """The newest accepted message with each of the keys in a range of offsets, compacted or not; `before` has
        the last records before it, as far as they are known."""
        from confluent_kafka import KafkaError, KafkaException, TopicPartition

        records, met = dict[bytes, FoundRecord](), dict(before)
        self.consumer.assign([TopicPartition(OFFSETS_TOPIC, self.partition, begin)])
        while True:
            if _left(self.deadline) <= 0:
                raise _LimitError(
                    f"its record was not found in {OFFSETS_TOPIC}-{self.partition} in time (--timeout)"
                )
            messages = self.consumer.consume(BATCH, timeout=min(PATIENCE_S, _left(self.deadline)))
            self.progress.advance(len(messages))
            for message in messages:
                error = message.error()
                if error is not None and error.code() == KafkaError._PARTITION_EOF:
                    return records
                if error is not None and message.topic() == OFFSETS_TOPIC:
                    raise KafkaException(error)
                if error is not None:
                    continue  # errors of a connection, which is reopened, or of a group that is not joined
                offset, key, value = message.offset() or 0, message.key() or b"", message.value()
                if offset >= end:
                    return records
                self.read_bytes += len(key) + len(value or b"")
                if key in keys:
                    record = FoundRecord(offset, key, value, message.timestamp()[1])
                    met[key] = record = record.after(met.get(key))
                    offset_bytes = keys[key]
                    if offset_bytes is None or (
                        value is not None and value.startswith(offset_bytes, OFFSET.start)
                    ):
                        records[key] = record
                if offset == end - 1:
                    return records
            if self.read_bytes > MOST_BYTES:
                raise _LimitError(
                    f"its record is not among the newest {MOST_BYTES >> 20} MiB of {OFFSETS_TOPIC}-{self.partition}"
                )


def _left(deadline: float) -> float:
    return deadline - time.monotonic()


def _refused(reason: KafkaError, prefix: str = "") -> Unavailable:
    return Unavailable(f"{prefix}{reason.str()} ({reason.name()})", cause_of(reason.name()))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderRecord:
    """The newest record of a group; all fields are None for a tombstone: there is no such classic group."""

    leader: str | None
    generation: int | None
    members: frozenset[str] = frozenset()


def read_leaders(
    config: Settings, groups: Iterable[str], timeout_s: float
) -> Mapping[str, LeaderRecord | Unavailable]:
    """The newest record of each group, or why it could not be read; never raises for an error of the cluster."""
    keys = {
        encode_record(ClassicGroupRecord(group=name, value=None))[0]: name for name in sorted(set(groups))
    }
    by_name = {name: key for key, name in keys.items()}

    def search(names: Sequence[str]) -> Search:
        return Search({by_name[name]: None for name in names})

    newest = read_newest(config, [*by_name], search, timeout_s)
    return {keys[key]: _decoded(item, _leader) for _, records in newest for key, item in records.items()}


def with_leader(group: Group, record: LeaderRecord | Unavailable) -> Group:
    """A described group with the facts of its record; the generation only if it is Stable: it grows before."""
    if isinstance(record, Unavailable):
        return replace(group, leader_problem=record.why)
    is_stable = group.state is GroupState.STABLE and record.leader in {member.id for member in group.members}
    generation = record.generation if group.generation is None and is_stable else group.generation
    members = tuple(replace(member, is_new=member.id not in record.members) for member in group.members)
    return replace(group, leader=record.leader, generation=generation, members=members)


def _decoded(item: FoundRecord | Unavailable, read: Callable[[FoundRecord], T]) -> T | Unavailable:
    """What is read from a found record, or why it is not known."""
    if isinstance(item, Unavailable):
        return item
    try:
        return read(item)
    except (DecodeError, UnknownKeyType) as error:
        return Unavailable(f"its record at offset {item.offset} cannot be read: {error}")


def _leader(item: FoundRecord) -> LeaderRecord:
    record = decode_record(item.key, item.value)
    value = record.value if isinstance(record, ClassicGroupRecord) else None
    if value is None:
        return LeaderRecord(leader=None, generation=None)
    members = frozenset(member.member for member in value.members)
    return LeaderRecord(leader=value.leader, generation=value.generation, members=members)


def read_commit_times(
    config: Settings,
    groups: Sequence[Group],
    timeout_s: float,
    *,
    last_members: bool = False,
    ends: dict[int, int] | None = None,
) -> ReadResult[Group]:
    """The groups with times of commits and rebalances, and topic ids; and why some are unknown. With `last_members`,
    groups without members also get the times at which their last members left. A commit whose time is known from an
    earlier reading with the same `ends` is searched for only in the records written since."""
    by_id = {group.id: group for group in groups}
    named = [group.id for group in groups if _is_searched(group, last_members=last_members)]

    def search(names: Sequence[str]) -> Search:
        return _search([by_id[name] for name in names], last_members=last_members)

    missing: Missing = defaultdict(list)
    for names, records in read_newest(config, named, search, timeout_s, ends) if named else ():
        by_id |= {name: _with_times(by_id[name], records, missing) for name in names}
        del records  # before the next are read
    return ReadResult(tuple(by_id.values()), tuple(_problems(missing)))


Missing: TypeAlias = dict[tuple[str, str, Unavailable], list[str]]
"""Groups by what is not known, of which unit, and why; a group once for each unit."""


def _is_searched(group: Group, *, last_members: bool) -> bool:
    return any(True for _ in _commit_keys(group)) or (last_members and _may_have_left(group))


def _may_have_left(group: Group) -> bool:
    """Whether a record may have the time when the last member left. An empty protocol type: it never had members."""
    return group.type in _GROUP_KEYS and not group.members and group.protocol_type != ""


def _search(groups: Iterable[Group], *, last_members: bool) -> Search:
    """The records of commits with the offsets that the broker reports, and of the groups."""
    keys: dict[bytes, bytes | None] = {}
    known: dict[bytes, FoundRecord] = {}
    optional: list[bytes] = []
    for group in groups:
        for key, _, committed in _commit_keys(group):
            keys[key] = offset = (committed.offset or 0).to_bytes(8, signed=True)
            if committed.timestamp is not None:
                value = bytes(OFFSET.start) + offset
                known[key] = FoundRecord(-1, key, value, committed.timestamp, None, committed.same_since_ms)
        if group.members and group.type in _GROUP_KEYS:
            optional.append(_group_key(group))
        elif last_members and _may_have_left(group):
            keys[_group_key(group)] = b""
    return Search(keys | dict.fromkeys(optional, b""), frozenset(optional), known)


def _commit_keys(group: Group) -> Iterator[tuple[bytes, TopicPartition, CommittedOffset]]:
    """The keys of committed offsets; share groups have none here, because theirs are in another topic."""
    if group.type is GroupType.SHARE:
        return
    for topic, partitions in (group.offsets or {}).items():
        key, _ = encode_record(OffsetRecord(group=group.id, topic=topic, partition=0, value=None))
        for number, committed in partitions.items():
            if committed.offset is not None:
                yield key[:-_PARTITION_BYTES] + number.to_bytes(_PARTITION_BYTES), (topic, number), committed


_PARTITION_BYTES = 4  # at the end of an OffsetCommitKey
_GROUP_KEYS: Mapping[GroupType, tuple[int, str]] = {
    GroupType.CLASSIC: (GROUP_METADATA.id, "group"),
    GroupType.CONSUMER: (CONSUMER_GROUP_METADATA.id, "groupId"),
    GroupType.SHARE: (SHARE_GROUP_METADATA.id, "groupId"),
    GroupType.STREAMS: (STREAMS_GROUP_METADATA.id, "groupId"),
}
"""By type: the key type of the record written at each rebalance and when the last member leaves, and its field with
the group id."""


def _group_key(group: Group) -> bytes:
    number, name = _GROUP_KEYS[group.type]
    return encode_key(number, {name: group.id})


def _changed(item: FoundRecord) -> int:
    """When a group last changed: a classic group's record has the time of its state, others are written then."""
    record = decode_record(item.key, item.value)
    value = record.value if isinstance(record, ClassicGroupRecord) else None
    return value.state_since_ms if value is not None and value.state_since_ms > 0 else item.timestamp_ms


def _commit(item: FoundRecord) -> tuple[FoundRecord, int, UUID | None]:
    """The record of a commit, its time, and its topic's id."""
    _, fields = decode_value(OFFSET_COMMIT_RECORD.id, item.value or b"")
    topic_id = fields.get("topicId", NO_UUID)
    return item, fields["commitTimestamp"], None if topic_id == NO_UUID else _same(topic_id)


@lru_cache(maxsize=10_000)
def _same(topic_id: UUID) -> UUID:
    """One object for all commits of a topic."""
    return topic_id


def _with_times(group: Group, records: Records, missing: Missing) -> Group:
    """The group with the times of its commits, since when each has been repeated, and of the group's record; adds
    what is not known."""
    commits: dict[str, dict[int, CommittedOffset]] = defaultdict(dict)
    gaps = [] if group.commit_gap_ms is None else [group.commit_gap_ms]
    for key, (topic, number), committed in _commit_keys(group):
        if key not in records:
            continue  # it is known, and there is no newer one
        commit = _decoded(records[key], _commit)
        if isinstance(commit, Unavailable):
            missing["the last commit of", "partition", commit].append(group.id)
            continue
        record, time_ms, topic_id = commit
        if record.before_ms is not None:
            gaps.append(record.timestamp_ms - record.before_ms)
        commits[topic][number] = replace(
            committed, timestamp=time_ms, topic_id=topic_id, same_since_ms=record.same_since_ms
        )
    item = records.get(_group_key(group)) if group.type in _GROUP_KEYS else None
    changed = None if item is None else _decoded(item, _changed)
    if isinstance(changed, Unavailable) and not group.members:
        missing["when the last member left", "group", changed].append(group.id)
    known_ms = group.rebalanced_ms if group.members else group.emptied_ms
    changed_ms = changed if isinstance(changed, int) else known_ms
    return replace(
        group,
        offsets=with_times(group.offsets or {}, commits) if commits else group.offsets,
        emptied_ms=None if group.members else changed_ms,
        rebalanced_ms=changed_ms if group.members else None,
        commit_gap_ms=min(gaps, default=None),
    )


def _problems(missing: Missing) -> Iterable[Problem]:
    """A line for each reason why something is not known, with the number of units."""
    for (what, unit, reason), groups in sorted(
        missing.items(), key=lambda item: (item[0][0], item[0][2].why)
    ):
        is_forbidden = reason.cause is Cause.FORBIDDEN
        hint = "; this needs READ on the topic __consumer_offsets" if is_forbidden else ""
        yield Problem(
            subject=first_names(sorted(set(groups)), SHOWN, "groups"),
            message=f"{what} {counted(len(groups), unit)} is not known: {reason.why}{hint}",
            cause=reason.cause,
        )
