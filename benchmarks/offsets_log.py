"""A log of `__consumer_offsets` for measurements, as a busy broker would write it, generated in seconds.

In each round a group commits all its partitions in one batch, and occasionally a group rebalances; every second group
is classic, the others use the consumer protocol. The first round is encoded record by record, later rounds only
change offsets, times and checksums. The same arguments give the same bytes.
"""

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np

from coordinator.engine.records import (
    ClassicGroupRecord,
    ClassicGroupValue,
    ClassicMemberValue,
    ConsumerGroupRecord,
    ConsumerGroupValue,
    CurrentAssignmentRecord,
    CurrentAssignmentValue,
    MemberState,
    OffsetRecord,
    Record,
    StoredOffset,
    TargetEpochRecord,
    TargetEpochValue,
    TargetMemberRecord,
)
from coordinator.store.partition_files import OFFSETS_TOPIC as OFFSETS_TOPIC
from coordinator.store.records import encode_record
from wire.log.batch_scan import scan
from wire.log.batch_writer import encode_batch
from wire.log.checksum import crc32c
from wire.log.columns import columns_of
from wire.log.indexes import write_indexes
from wire.log.segments import MOST_BYTES, read_segment, segment_name
from wire.messages.embedded_protocol import (
    EmbeddedAssignment,
    EmbeddedSubscription,
    write_assignment,
    write_subscription,
)

SEED = 20261122
FIRST_MS = 1_767_225_600_000
ROUND_MS = 60_000
TOPIC = "orders"
TOPIC_PARTITIONS = 20
MEMBERS = 4
REBALANCING = 100
"""In each round, one in this many groups rebalances."""

_INT64 = struct.Struct(">q")
_CRC = struct.Struct(">I")
_OFFSET_AT, _COMMIT_MS_AT = 2, 15
"""Positions in a value of version 4 without metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A partition's directory and its number of records."""

    directory: Path
    records: int


def write_partition(
    log_dir: Path,
    partition: int,
    topic_id: UUID,
    *,
    groups: int,
    rounds: int,
    indexed: bool = True,
    segment_bytes: int = MOST_BYTES,
    batch: int = TOPIC_PARTITIONS,
) -> Written:
    """Write one partition in segments of about `segment_bytes`, with or without a broker's indexes.

    `topic_id` is the id of `TOPIC`; `batch` is the number of commits in a batch.
    """
    directory = log_dir / f"{OFFSETS_TOPIC}-{partition}"
    directory.mkdir(parents=True)
    template = _Template(partition, groups, topic_id, batch)
    draw = random.Random(SEED + partition)
    offset, number = 0, 0
    while number < rounds:
        path = directory / segment_name(offset)
        with path.open("wb") as file:
            while number < rounds and file.tell() < segment_bytes:
                now_ms = FIRST_MS + number * ROUND_MS
                data, count = template.round(number, offset, now_ms)
                file.write(data)
                offset += count
                for group in draw.sample(range(groups), max(groups // REBALANCING, 1)):
                    name = name_of(partition, group)
                    rebalance = _rebalance(name, group % 2 == 1, number, now_ms, topic_id)
                    records = [encode_record(each) for each in rebalance]
                    file.write(encode_batch(records, base_offset=offset, timestamp=now_ms))
                    offset += len(records)
                number += 1
        if indexed:
            write_indexes(read_segment(path))
    return Written(directory=directory, records=offset)


class _Template:
    """The commits of a round, and the positions of the values in them that change."""

    def __init__(self, partition: int, groups: int, topic_id: UUID, batch: int) -> None:
        self._batch = batch
        batches = [
            encode_batch(some, base_offset=group * TOPIC_PARTITIONS + start, timestamp=0)
            for group in range(groups)
            for commits in [[encode_record(each) for each in _commits(name_of(partition, group), topic_id)]]
            for start in range(0, TOPIC_PARTITIONS, batch)
            for some in [commits[start : start + batch]]
        ]
        self._data = np.frombuffer(b"".join(batches), dtype=np.uint8).copy()
        found = scan(self._data.tobytes(), "template").batches
        values = np.concatenate([columns.value_start for columns in columns_of(found)])
        self._offsets_at = values[:, None] + np.arange(_OFFSET_AT, _OFFSET_AT + 8)
        self._times_at = values[:, None] + np.arange(_COMMIT_MS_AT, _COMMIT_MS_AT + 8)
        self._starts, self._ends = found.positions, found.ends
        self.records = len(values)

    def round(self, number: int, offset: int, now_ms: int) -> tuple[bytes, int]:
        """The bytes of a round, and its number of records."""
        data = self._data
        data[self._offsets_at] = _octets(np.arange(self.records) % 7 + 10 * number)
        data[self._times_at] = _octets(np.full(self.records, now_ms))
        data[self._starts[:, None] + np.arange(8)] = _octets(
            offset + np.arange(len(self._starts)) * self._batch
        )
        for at in (27, 35):
            data[self._starts[:, None] + np.arange(at, at + 8)] = _octets(np.full(len(self._starts), now_ms))
        view = data.data
        for start, end in zip(self._starts.tolist(), self._ends.tolist(), strict=True):
            _CRC.pack_into(view, start + 17, crc32c(view[start + 21 : end]))
        return data.tobytes(), self.records


def _octets(
    numbers: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return numbers.astype(">i8").view(np.uint8).reshape(-1, 8)


def name_of(partition: int, group: int) -> str:
    return f"team-{group % 17:02}.service-{partition:02}-{group:05}"


def _commits(group: str, topic_id: UUID) -> Iterator[Record]:
    for number in range(TOPIC_PARTITIONS):
        value = StoredOffset(offset=0, leader_epoch=3, metadata="", commit_ms=0, topic_id=topic_id)
        yield OffsetRecord(group=group, topic=TOPIC, partition=number, value=value)


def _rebalance(name: str, classic: bool, number: int, now_ms: int, topic_id: UUID) -> Iterator[Record]:
    members = [f"consumer-{name}-{each}-{number if not each else 0:08}" for each in range(MEMBERS)]
    shares = [tuple(range(each, TOPIC_PARTITIONS, MEMBERS)) for each in range(MEMBERS)]
    if classic:
        subscription = write_subscription(EmbeddedSubscription(version=1, topics=(TOPIC,)))
        yield ClassicGroupRecord(
            group=name,
            value=ClassicGroupValue(
                protocol_type="consumer",
                generation=number + 1,
                protocol="range",
                leader=members[0],
                state_since_ms=now_ms,
                members=tuple(
                    ClassicMemberValue(
                        member=member,
                        instance=None,
                        client_id=f"client-{name}",
                        host="/10.0.0.1",
                        rebalance_timeout_ms=300_000,
                        session_timeout_ms=45_000,
                        subscription=subscription,
                        assignment=write_assignment(EmbeddedAssignment(version=1, partitions={TOPIC: share})),
                    )
                    for member, share in zip(members, shares, strict=True)
                ),
            ),
        )
        return
    epoch = number + 2
    yield ConsumerGroupRecord(group=name, value=ConsumerGroupValue(epoch=epoch, metadata_hash=12345))
    yield TargetEpochRecord(group=name, value=TargetEpochValue(epoch=epoch, assigned_ms=now_ms))
    for member, share in zip(members, shares, strict=True):
        yield TargetMemberRecord(group=name, member=member, value={topic_id: share})
        yield CurrentAssignmentRecord(
            group=name,
            member=member,
            value=CurrentAssignmentValue(
                epoch=epoch,
                previous_epoch=epoch - 1,
                state=MemberState.STABLE,
                assigned={topic_id: share},
                assigned_epochs={(topic_id, each): epoch for each in share},
            ),
        )
