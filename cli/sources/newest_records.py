"""The newest records of some keys in `__consumer_offsets`: what no API tells of groups, a live cluster's log does.

Theory of operation. All records of a group stand in one partition, told by the hash of its id, among the commits of
every group there. The newest ones are looked for from the end backwards, in windows that grow. A partition is read once
for all its keys.

The consumer that reads is assigned its partitions: it joins no group and commits nothing. Records are read whether
their transaction was committed or not.

Source: GroupCoordinatorService.partitionFor.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cli.progress import Progress
from coordinator.store.partition_files import OFFSETS_TOPIC, partition_for

if TYPE_CHECKING:
    from confluent_kafka import Consumer

READER = "kohort-reads-offsets-topic"
"""librdkafka wants the name of a group, which is never joined."""
FIRST_WINDOW = 2_000
"""Offsets."""
GROWTH = 4
MOST_BYTES = 256 * 1024 * 1024
"""Of keys and values, in one partition: some two million commits."""
BATCH = 5_000
PATIENCE_S = 0.2
"""How long one poll waits: the deadline is looked at between polls."""


@dataclass(frozen=True, slots=True)
class Untold:
    """Why a record is not known."""

    why: str


@dataclass(frozen=True, slots=True)
class Found:
    """A record."""

    offset: int
    key: bytes
    value: bytes | None


Settings: TypeAlias = Mapping[str, str | int | float | bool]
"""librdkafka's."""
Accept: TypeAlias = Callable[[bytes, bytes | None], bool]
"""Whether a key's record is one that is looked for; a newer one that is none is passed by."""


def read_newest(
    config: Settings, keys: Mapping[bytes, str], timeout_s: float, accept: Accept = lambda _key, _value: True
) -> Mapping[bytes, Found | Untold]:
    """The newest record of each key, or why it could not be read; never raises for what a cluster answers.

    `keys` are given with the groups they belong to. `config` may hold secrets. Takes at most `timeout_s` seconds and a
    little.
    """
    from confluent_kafka import Consumer, KafkaException

    deadline = time.monotonic() + timeout_s
    try:
        consumer = Consumer({**config, **_READING})
    except KafkaException as error:
        return dict.fromkeys(keys, Untold(_words(error)))
    try:
        return _read(consumer, keys, accept, deadline)
    except KafkaException as error:
        return dict.fromkeys(keys, Untold(_words(error)))
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


def _read(
    consumer: Consumer, keys: Mapping[bytes, str], accept: Accept, deadline: float
) -> Mapping[bytes, Found | Untold]:
    topic = consumer.list_topics(OFFSETS_TOPIC, timeout=_left(deadline)).topics[OFFSETS_TOPIC]
    if topic.error is not None or not topic.partitions:
        reason = "it is not there" if topic.error is None else topic.error.str()
        return dict.fromkeys(keys, Untold(f"{OFFSETS_TOPIC} cannot be read: {reason}"))
    by_partition: dict[int, set[bytes]] = defaultdict(set)
    places = {group: partition_for(group, len(topic.partitions)) for group in set(keys.values())}
    for key, group in keys.items():
        by_partition[places[group]].add(key)
    told: dict[bytes, Found | Untold] = {}
    for partition, held in sorted(by_partition.items()):
        told |= _of_partition(consumer, partition, held, accept, deadline)
    return told


def _of_partition(
    consumer: Consumer, partition: int, keys: set[bytes], accept: Accept, deadline: float
) -> dict[bytes, Found | Untold]:
    """Windows from the end backwards until every key has been met, or everything has been read. Empties `keys`."""
    from confluent_kafka import KafkaException, TopicPartition

    place = TopicPartition(OFFSETS_TOPIC, partition)
    told: dict[bytes, Found | Untold] = {}
    untold = Untold(f"{OFFSETS_TOPIC}-{partition} holds no record of it")
    try:
        if _left(deadline) <= 0:
            raise _GaveUpError(f"there was no time left to read {OFFSETS_TOPIC}-{partition} (--timeout)")
        first, end = consumer.get_watermark_offsets(place, timeout=_left(deadline))
        with Progress(f"reading {OFFSETS_TOPIC}-{partition}", end - first) as progress:
            scan = _Scan(consumer, partition, deadline, progress)
            size = FIRST_WINDOW
            while end > first and keys:
                begin = max(first, end - size)
                found = scan.newest(begin, end, keys, accept)
                told |= found
                keys -= found.keys()
                end, size = begin, size * GROWTH
    except _GaveUpError as error:
        untold = Untold(str(error))
    except KafkaException as error:
        untold = Untold(f"{OFFSETS_TOPIC}-{partition} cannot be read: {_words(error)}")
    return {**dict.fromkeys(keys, untold), **told}


class _GaveUpError(Exception):
    """Too little time, or too much to read."""


class _Scan:
    """Reads windows of one partition, and counts what it read."""

    def __init__(self, consumer: Consumer, partition: int, deadline: float, progress: Progress) -> None:
        self.consumer, self.partition, self.deadline = consumer, partition, deadline
        self.progress = progress
        self.read_bytes = 0

    def newest(self, begin: int, end: int, keys: Collection[bytes], accept: Accept) -> dict[bytes, Found]:
        """The newest accepted message with each of the keys in a range of offsets, compacted or not."""
        from confluent_kafka import KafkaError, KafkaException, TopicPartition

        found = dict[bytes, Found]()
        self.consumer.assign([TopicPartition(OFFSETS_TOPIC, self.partition, begin)])
        while True:
            if _left(self.deadline) <= 0:
                raise _GaveUpError(
                    f"its record was not found in {OFFSETS_TOPIC}-{self.partition} in time (--timeout)"
                )
            messages = self.consumer.consume(BATCH, timeout=min(PATIENCE_S, _left(self.deadline)))
            self.progress.advance(len(messages))
            for message in messages:
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
                if key in keys and accept(key, value):
                    found[key] = Found(offset, key, value)
                if offset == end - 1:
                    return found
            if self.read_bytes > MOST_BYTES:
                raise _GaveUpError(
                    f"its record is not among the newest {MOST_BYTES >> 20} MiB of {OFFSETS_TOPIC}-{self.partition}"
                )


def _left(deadline: float) -> float:
    return deadline - time.monotonic()


def _words(error: Exception) -> str:
    reason = error.args[0]
    return f"{reason.str()} ({reason.name()})"
