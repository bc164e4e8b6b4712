"""Who leads the classic groups of a live cluster: read off their newest records in `__consumer_offsets`.

Theory of operation. No API tells who leads a group. Its record does (key type 2, field `leader`), which a coordinator
writes whenever a rebalance is finished, when a static member is replaced, and when the last member has left. All
records of a group stand in one partition, told by the hash of its id, among the commits of every group there; the
newest one is looked for from the end backwards, in windows that grow. A partition is read once for all its groups.

The consumer that reads is assigned its partitions: it joins no group and commits nothing. Records are read whether
their transaction was committed or not, as group records are in none.

Source: GroupMetadataKey, GroupMetadataValue; GroupCoordinatorService.partitionFor.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from coordinator.broker.records import ClassicGroupRecord
from coordinator.model import Group, GroupState
from coordinator.storage.partition_files import OFFSETS_TOPIC, partition_for
from coordinator.storage.record_codec import MalformedRecord, UnknownKeyType
from coordinator.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from confluent_kafka import Consumer

READER = "kohort-reads-leaders"
"""librdkafka wants the name of a group, which is never joined."""
FIRST_WINDOW = 2_000
"""Offsets."""
GROWTH = 4
MOST_BYTES = 256 * 1024 * 1024
"""Of keys and values, in one partition: some two million commits."""
BATCH = 5_000
PATIENCE_S = 0.2
"""How long one poll waits: the deadline is looked at between polls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderRecord:
    """What the newest record of a group says; all None where it is a tombstone: there is no such classic group."""

    leader: str | None
    generation: int | None
    members: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Untold:
    """Why nobody knows who leads."""

    why: str


Settings: TypeAlias = Mapping[str, str | int | float | bool]
"""librdkafka's."""
Told: TypeAlias = Mapping[str, LeaderRecord | Untold]
"""By group."""


def read_leaders(config: Settings, groups: Iterable[str], timeout_s: float) -> Told:
    """The newest record of each group, or why it could not be read; never raises for what a cluster answers.

    `config` may hold secrets. Takes at most `timeout_s` seconds and a little.
    """
    from confluent_kafka import Consumer, KafkaException

    wanted = sorted(set(groups))
    deadline = time.monotonic() + timeout_s
    try:
        consumer = Consumer({**config, **_READING})
    except KafkaException as error:
        return dict.fromkeys(wanted, Untold(_words(error)))
    try:
        return _read(consumer, wanted, deadline)
    except KafkaException as error:
        return dict.fromkeys(wanted, Untold(_words(error)))
    finally:
        consumer.close()


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


def with_leader(group: Group, told: LeaderRecord | Untold) -> Group:
    """A described group with what its record says.

    The generation is the record's only while nobody rebalances: it grows before the next record is written.
    """
    if isinstance(told, Untold):
        return replace(group, leader_problem=told.why)
    at_rest = group.state is GroupState.STABLE and told.leader in {member.id for member in group.members}
    generation = told.generation if group.generation is None and at_rest else group.generation
    members = tuple(replace(member, is_new=member.id not in told.members) for member in group.members)
    return replace(group, leader=told.leader, generation=generation, members=members)


def _read(consumer: Consumer, groups: Iterable[str], deadline: float) -> Told:
    topic = consumer.list_topics(OFFSETS_TOPIC, timeout=_left(deadline)).topics[OFFSETS_TOPIC]
    if topic.error is not None or not topic.partitions:
        reason = "it is not there" if topic.error is None else topic.error.str()
        return dict.fromkeys(groups, Untold(f"{OFFSETS_TOPIC} cannot be read: {reason}"))
    by_partition: dict[int, list[str]] = defaultdict(list)
    for group in groups:
        by_partition[partition_for(group, len(topic.partitions))].append(group)
    told: dict[str, LeaderRecord | Untold] = {}
    for partition, held in sorted(by_partition.items()):
        told |= _of_partition(consumer, partition, held, deadline)
    return told


def _of_partition(consumer: Consumer, partition: int, groups: list[str], deadline: float) -> Told:
    """Windows from the end backwards until every group has been met, or everything has been read."""
    from confluent_kafka import KafkaException, TopicPartition

    place = TopicPartition(OFFSETS_TOPIC, partition)
    keys = {encode_record(ClassicGroupRecord(group=group, value=None))[0]: group for group in groups}
    told: dict[str, LeaderRecord | Untold] = {}
    untold = Untold(f"{OFFSETS_TOPIC}-{partition} holds no record of it")
    try:
        if _left(deadline) <= 0:
            raise _GaveUpError(f"there was no time left to read {OFFSETS_TOPIC}-{partition} (--timeout)")
        first, end = consumer.get_watermark_offsets(place, timeout=_left(deadline))
        scan = _Scan(consumer, partition, deadline)
        size = FIRST_WINDOW
        while end > first and keys:
            begin = max(first, end - size)
            for key, found in scan.newest(begin, end, keys).items():
                told[keys.pop(key)] = _decoded(found)
            end, size = begin, size * GROWTH
    except _GaveUpError as error:
        untold = Untold(str(error))
    except KafkaException as error:
        untold = Untold(f"{OFFSETS_TOPIC}-{partition} cannot be read: {_words(error)}")
    return {**dict.fromkeys(keys.values(), untold), **told}


class _GaveUpError(Exception):
    """Too little time, or too much to read."""


@dataclass(frozen=True, slots=True)
class Found:
    """A record of a group."""

    offset: int
    key: bytes
    value: bytes | None


class _Scan:
    """Reads windows of one partition, and counts what it read."""

    def __init__(self, consumer: Consumer, partition: int, deadline: float) -> None:
        self.consumer, self.partition, self.deadline = consumer, partition, deadline
        self.read_bytes = 0

    def newest(self, begin: int, end: int, keys: Iterable[bytes]) -> dict[bytes, Found]:
        """The newest message with each of the keys in a range of offsets, compacted or not."""
        from confluent_kafka import KafkaError, KafkaException, TopicPartition

        wanted, found = frozenset(keys), dict[bytes, Found]()
        self.consumer.assign([TopicPartition(OFFSETS_TOPIC, self.partition, begin)])
        while True:
            if _left(self.deadline) <= 0:
                raise _GaveUpError(
                    f"its record was not found in {OFFSETS_TOPIC}-{self.partition} in time (--timeout)"
                )
            for message in self.consumer.consume(BATCH, timeout=min(PATIENCE_S, _left(self.deadline))):
                error = message.error()
                if error is not None and error.code() == KafkaError._PARTITION_EOF:
                    return found
                if error is not None and message.topic() == OFFSETS_TOPIC:
                    raise KafkaException(error)
                if error is not None:
                    continue  # of a connection, which is made again, or of a group that is not joined
                offset, key, value = message.offset() or 0, message.key() or b"", message.value()
                if offset >= end:
                    return found
                self.read_bytes += len(key) + len(value or b"")
                if key in wanted:
                    found[key] = Found(offset, key, value)
                if offset == end - 1:
                    return found
            if self.read_bytes > MOST_BYTES:
                raise _GaveUpError(
                    f"its record is not among the newest {MOST_BYTES >> 20} MiB of {OFFSETS_TOPIC}-{self.partition}"
                )


def _decoded(found: Found) -> LeaderRecord | Untold:
    try:
        record = decode_record(found.key, found.value)
    except (MalformedRecord, UnknownKeyType) as error:
        return Untold(f"its record at offset {found.offset} cannot be read: {error}")
    value = record.value if isinstance(record, ClassicGroupRecord) else None
    if value is None:
        return LeaderRecord(leader=None, generation=None)
    return LeaderRecord(
        leader=value.leader,
        generation=value.generation,
        members=frozenset(member.member for member in value.members),
    )


def _left(deadline: float) -> float:
    return deadline - time.monotonic()


def _words(error: Exception) -> str:
    reason = error.args[0]
    return f"{reason.str()} ({reason.name()})"
