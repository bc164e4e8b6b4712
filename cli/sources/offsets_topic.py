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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from cli.progress import Progress
from cli.sources.permissions import cause_of
from cli.sources.source import ReadResult
from coordinator.engine.records import ClassicGroupRecord, OffsetRecord, StoredOffset
from coordinator.store.partition_files import OFFSETS_TOPIC, partition_for
from coordinator.store.records import decode_record, encode_record
from groups.counts import counted, first_names
from groups.model import Cause, CommittedOffset, Group, GroupState, GroupType, Problem
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType, encode_key
from wire.messages.schemas.classic_groups import GROUP_METADATA
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_METADATA
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
Accept: TypeAlias = Callable[[bytes, bytes | None], bool]  # Whether a record of this key and value counts


def read_newest(
    config: Settings,
    keys: Mapping[bytes, str],
    timeout_s: float,
    accept: Accept = lambda _key, _value: True,
    optional: Collection[bytes] = frozenset(),
) -> Mapping[bytes, FoundRecord | Unavailable]:
    """The newest record of each key (mapped to its group), or why it could not be read, in about `timeout_s`;
    `optional` ones are searched for no further than the others."""
    from confluent_kafka import Consumer, KafkaException

    deadline = time.monotonic() + timeout_s
    try:
        with closing(Consumer({**config, **_READING})) as consumer:
            return _read(consumer, keys, accept, frozenset(optional), deadline)
    except KafkaException as error:
        return dict.fromkeys(keys, _refused(error.args[0]))


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
    "log_level": 0,
}


def _read(
    consumer: Consumer, keys: Mapping[bytes, str], accept: Accept, optional: frozenset[bytes], deadline: float
) -> Mapping[bytes, FoundRecord | Unavailable]:
    topic = consumer.list_topics(OFFSETS_TOPIC, timeout=_left(deadline)).topics.get(OFFSETS_TOPIC)
    if topic is None or topic.error is not None or not topic.partitions:
        reason = "it does not exist" if topic is None or topic.error is None else topic.error.str()
        return dict.fromkeys(keys, Unavailable(f"{OFFSETS_TOPIC} cannot be read: {reason}"))
    by_partition: dict[int, set[bytes]] = defaultdict(set)
    places = {group: partition_for(group, len(topic.partitions)) for group in set(keys.values())}
    for key, group in keys.items():
        by_partition[places[group]].add(key)
    records: dict[bytes, FoundRecord | Unavailable] = {}
    for partition, held in sorted(by_partition.items()):
        records |= _of_partition(consumer, partition, held, accept, optional, deadline)
    return records


def _of_partition(
    consumer: Consumer,
    partition: int,
    keys: set[bytes],
    accept: Accept,
    optional: frozenset[bytes],
    deadline: float,
) -> dict[bytes, FoundRecord | Unavailable]:
    """Read windows from the end backwards until every key was found, or everything was read. Empties `keys`."""
    from confluent_kafka import KafkaException, TopicPartition

    topic_partition = TopicPartition(OFFSETS_TOPIC, partition)
    records: dict[bytes, FoundRecord | Unavailable] = {}
    missing = Unavailable(f"{OFFSETS_TOPIC}-{partition} contains no record of it")
    try:
        if _left(deadline) <= 0:
            raise _LimitError(f"there was no time left to read {OFFSETS_TOPIC}-{partition} (--timeout)")
        first, end = consumer.get_watermark_offsets(topic_partition, timeout=_left(deadline))
        with Progress(f"reading {OFFSETS_TOPIC}-{partition}", end - first) as progress:
            scan = _Scan(consumer, partition, deadline, progress)
            size = FIRST_WINDOW
            while end > first and keys - optional:
                begin = max(first, end - size)
                newest = scan.newest(begin, end, keys, accept)
                records |= newest
                keys -= newest.keys()
                end, size = begin, size * GROWTH
    except _LimitError as error:
        missing = Unavailable(str(error))
    except KafkaException as error:
        missing = _refused(error.args[0], f"{OFFSETS_TOPIC}-{partition} cannot be read: ")
    return {**dict.fromkeys(keys, missing), **records}


class _LimitError(Exception):
    """The deadline has passed, or there is too much to read."""


class _Scan:
    def __init__(self, consumer: Consumer, partition: int, deadline: float, progress: Progress) -> None:
        self.consumer, self.partition, self.deadline = consumer, partition, deadline
        self.progress = progress
        self.read_bytes = 0

    def newest(
        self, begin: int, end: int, keys: Collection[bytes], accept: Accept
    ) -> dict[bytes, FoundRecord]:
        """The newest accepted message with each of the keys in a range of offsets, compacted or not."""
        from confluent_kafka import KafkaError, KafkaException, TopicPartition

        records, met = dict[bytes, FoundRecord](), dict[bytes, FoundRecord]()
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
                    if accept(key, value):
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
        encode_record(ClassicGroupRecord(group=group, value=None))[0]: group for group in sorted(set(groups))
    }
    newest = read_newest(config, keys, timeout_s)
    return {keys[key]: _decoded(item, _leader) for key, item in newest.items()}


def with_leader(group: Group, record: LeaderRecord | Unavailable) -> Group:
    """A described group with the facts of its record; the generation only if it is Stable: it grows before."""
    if isinstance(record, Unavailable):
        return replace(group, leader_problem=record.why)
    is_stable = group.state is GroupState.STABLE and record.leader in {member.id for member in group.members}
    generation = record.generation if group.generation is None and is_stable else group.generation
    members = tuple(replace(member, is_new=member.id not in record.members) for member in group.members)
    return replace(group, leader=record.leader, generation=generation, members=members)


def _decoded(item: FoundRecord | Unavailable, read: Callable[[FoundRecord, object], T]) -> T | Unavailable:
    """What is read from a found record and its decoded form, or why it is not known."""
    if isinstance(item, Unavailable):
        return item
    try:
        return read(item, decode_record(item.key, item.value))
    except (DecodeError, UnknownKeyType) as error:
        return Unavailable(f"its record at offset {item.offset} cannot be read: {error}")


def _leader(_: FoundRecord, record: object) -> LeaderRecord:
    value = record.value if isinstance(record, ClassicGroupRecord) else None
    if value is None:
        return LeaderRecord(leader=None, generation=None)
    members = frozenset(member.member for member in value.members)
    return LeaderRecord(leader=value.leader, generation=value.generation, members=members)


def read_commit_times(
    config: Settings, groups: Sequence[Group], timeout_s: float, *, last_members: bool = False
) -> ReadResult[Group]:
    """The groups with times of commits and rebalances, and topic ids; and why some are unknown. With `last_members`,
    groups without members also get the times at which their last members left."""
    places: dict[bytes, tuple[str, str, int]] = {}
    offsets: dict[bytes, bytes] = {}
    for group in groups:
        for topic, partition, committed in _committed(group):
            record = OffsetRecord(group=group.id, topic=topic, partition=partition, value=None)
            key, _ = encode_record(record)
            places[key] = group.id, topic, partition
            offsets[key] = (committed.offset or 0).to_bytes(8, signed=True)
    keys = {key: group for key, (group, _, _) in places.items()}
    keyed = [group for group in groups if group.type in _GROUP_KEYS]
    rebalanced = {_group_key(group): group.id for group in keyed if group.members}
    # A group with an empty protocol type never had members.
    left_groups = [group for group in keyed if not group.members and group.protocol_type != ""]
    emptied = {_group_key(group): group.id for group in left_groups} if last_members else {}
    if not keys and not emptied:
        return ReadResult(tuple(groups))

    def is_wanted(key: bytes, value: bytes | None) -> bool:
        return value is not None and (key not in offsets or value[OFFSET] == offsets[key])

    newest = read_newest(config, keys | emptied | rebalanced, timeout_s, is_wanted, rebalanced.keys())
    last = {key: _decoded(answer, _commit) for key, answer in newest.items() if key in keys}
    changed = {key: _decoded(answer, _changed) for key, answer in newest.items() if key not in keys}
    left = {key: answer for key, answer in changed.items() if key in emptied}
    since = {emptied[key]: time_ms for key, time_ms in left.items() if isinstance(time_ms, int)}
    rebalances = {
        group: time_ms for key, group in rebalanced.items() if isinstance(time_ms := changed.get(key), int)
    }
    commits: dict[str, dict[tuple[str, int], tuple[StoredOffset, int | None]]] = defaultdict(dict)
    gaps: dict[str, list[int]] = defaultdict(list)
    for key, (group_id, topic, partition) in places.items():
        raw, commit = newest[key], last[key]
        if isinstance(raw, FoundRecord):
            if isinstance(commit, StoredOffset):
                commits[group_id][topic, partition] = commit, raw.same_since_ms
            if raw.before_ms is not None:
                gaps[group_id].append(raw.timestamp_ms - raw.before_ms)
    timed = (
        replace(
            _with_times(group, commits[group.id]),
            emptied_ms=since.get(group.id),
            rebalanced_ms=rebalances.get(group.id),
            commit_gap_ms=min(gaps[group.id], default=None),
        )
        for group in groups
    )
    problems = (
        *_problems(last, keys, "the last commit of", "partition"),
        *_problems(left, emptied, "when the last member left", "group"),
    )
    return ReadResult(tuple(timed), problems)


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


def _changed(raw_record: FoundRecord, record: object) -> int:
    """When a group last changed: a classic group's record has the time of its state, others are written then."""
    value = record.value if isinstance(record, ClassicGroupRecord) else None
    return value.state_since_ms if value is not None and value.state_since_ms > 0 else raw_record.timestamp_ms


def _committed(group: Group) -> Iterable[tuple[str, int, CommittedOffset]]:
    """The committed offsets; share groups have none here, because theirs are in another topic."""
    if group.type is GroupType.SHARE:
        return
    for topic, partitions in (group.offsets or {}).items():
        for partition, committed in partitions.items():
            if committed.offset is not None:
                yield topic, partition, committed


def _commit(raw_record: FoundRecord, record: object) -> StoredOffset | Unavailable:
    if not isinstance(record, OffsetRecord) or record.value is None:
        return Unavailable(f"its record at offset {raw_record.offset} is not a commit")
    return record.value


def _with_times(group: Group, commits: Mapping[tuple[str, int], tuple[StoredOffset, int | None]]) -> Group:
    """The group with its commits, and since when each has been repeated."""
    if not commits:
        return group
    offsets = {topic: dict(partitions) for topic, partitions in (group.offsets or {}).items()}
    for (topic, partition), (commit, same_since_ms) in commits.items():
        offsets[topic][partition] = replace(
            offsets[topic][partition],
            timestamp=commit.commit_ms,
            topic_id=commit.topic_id,
            same_since_ms=same_since_ms,
        )
    return replace(group, offsets=offsets)


def _problems(
    answers: Mapping[bytes, object], keys: Mapping[bytes, str], what: str, unit: str
) -> Iterable[Problem]:
    """A line for each reason why `what` is not known, with the number of `unit`s for each group."""
    missing: dict[Unavailable, list[str]] = {}
    for key, answer in answers.items():
        if isinstance(answer, Unavailable):
            missing.setdefault(answer, []).append(keys[key])
    for reason, groups in sorted(missing.items(), key=lambda item: item[0].why):
        is_forbidden = reason.cause is Cause.FORBIDDEN
        hint = "; this needs READ on the topic __consumer_offsets" if is_forbidden else ""
        yield Problem(
            subject=first_names(sorted(set(groups)), SHOWN, "groups"),
            message=f"{what} {counted(len(groups), unit)} is not known: {reason.why}{hint}",
            cause=reason.cause,
        )
