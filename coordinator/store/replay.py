"""Replay of a log's records into a coordinator: for inspecting a broker's log, and for recovery. Partitions may be
replayed in any order, as all records of a group are in one; share and streams groups, which the coordinator does not
serve, are kept separately. Source: GroupCoordinatorShard.replay."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeAlias
from uuid import UUID

import numpy as np

from coordinator.engine.engine import Engine
from coordinator.engine.records import OffsetRecord, PartitionMetadataRecord, Record, StoredOffset
from coordinator.store.digest import Digest, RecordStatus, RemainingRecord
from coordinator.store.other_groups import OtherGroups, topic_names_in
from coordinator.store.records import OtherRecord, decode_record
from coordinator.store.topic_names import KnownTopic
from wire.java_text import JAVA
from wire.log.batch_header import NO_PRODUCER_ID
from wire.log.offset_columns import (
    NO_TOPIC_ID,
    OFFSET_COMMIT,
    key_types,
    read_offset_keys,
    read_offset_values,
)
from wire.log.varints import Ints
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType

_EVENTS_AT_ONCE = 1 << 14  # the number of offsets that are decoded together

Malformed: TypeAlias = tuple[int, str]  # the position of a malformed record, and the reason


class Replay:
    """See the module. Has the state after the records applied so far."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.others = OtherGroups()
        self.unknown_keys: Counter[int] = Counter()
        """The number of records of types that Kafka 4.4 does not know, which a broker skips, too."""
        self.named_topics: dict[UUID, KnownTopic] = {}  # topics by id, as far as records name them
        # The same object for the same bytes: there are few, and each is repeated often.
        self._text = cache(lambda octets: str(octets, "utf-8", JAVA))
        self._id = cache(lambda octets: UUID(bytes=octets))

    def partition(self, digest: Digest) -> list[Malformed]:
        """Apply the remaining records of a partition. Returns the malformed ones, in the order of the log."""
        malformed = list(digest.malformed)
        events = digest.events()
        for start in range(0, len(events), _EVENTS_AT_ONCE):
            some = events[start : start + _EVENTS_AT_ONCE]
            for event, offset in zip(some, self._plain_offsets(some), strict=True):
                try:
                    self._event(event, decode_record(event.key, event.value) if offset is None else offset)
                except DecodeError as error:
                    malformed.append((event.position, str(error)))
                except UnknownKeyType as error:
                    self.unknown_keys[error.key_type] += 1
        return sorted(malformed)

    def _event(self, event: RemainingRecord, record: Record | OtherRecord) -> None:
        if isinstance(record, OtherRecord):
            self._other(record)
            return
        if isinstance(record, OffsetRecord):
            self._offset(event, record)
            return
        for topic in (record.value or ()) if isinstance(record, PartitionMetadataRecord) else ():
            known = KnownTopic(name=topic.name, id=topic.id, partitions=topic.partitions)
            self.named_topics[topic.id] = known
        self.engine.replay(record)
        if record.group in self.engine.state.groups:
            self.others.by_id.pop(record.group, None)

    def _offset(self, event: RemainingRecord, record: OffsetRecord) -> None:
        topic_id = None if record.value is None else record.value.topic_id
        if topic_id is not None and topic_id not in self.named_topics:
            self.named_topics[topic_id] = KnownTopic(name=record.topic, id=topic_id)
        if event.kind is RecordStatus.VALID:
            self.engine.replay(record)
            return
        self.engine.replay(record, event.producer_id)
        if event.kind is RecordStatus.LOST:
            self.engine.end_transaction(NO_PRODUCER_ID, committed=False)

    def _plain_offsets(self, events: Sequence[RemainingRecord]) -> Iterator[OffsetRecord | None]:
        """The offset of each event; None for every other record, and for offsets in a rare form."""
        keys, *key_bounds = _joined([event.key for event in events])
        values, *value_bounds = _joined([event.value or b"" for event in events])
        key_octets, value_octets = np.frombuffer(keys, np.uint8), np.frombuffer(values, np.uint8)
        key = read_offset_keys(key_octets, *key_bounds)
        value = read_offset_values(value_octets, *value_bounds)
        quick = key.quick & (key_types(key_octets, *key_bounds) == OFFSET_COMMIT)
        columns = (key.group_start, key.group_end, key.topic_start, key.topic_end, key.partition)
        fields = (value.metadata_start, value.metadata_end, value.id_start)
        numbers = (value.offset, value.leader_epoch, value.commit_ms)
        rows = zip(
            *(column.tolist() for column in (quick, value.quick, *columns, *fields, *numbers)), strict=True
        )
        for event, (is_key, is_value, *row) in zip(events, rows, strict=True):
            if not is_key or not (is_value or event.value is None):
                yield None
                continue
            group_start, group_end, topic_start, topic_end, partition, start, end, id_start, *of_commit = row
            stored = None
            if event.value is not None:
                offset, leader_epoch, commit_ms = of_commit
                stored = StoredOffset(
                    offset=offset,
                    leader_epoch=leader_epoch,
                    metadata=self._text(values[start:end]),
                    commit_ms=commit_ms,
                    topic_id=None if id_start == NO_TOPIC_ID else self._id(values[id_start : id_start + 16]),
                )
            yield OffsetRecord(
                group=self._text(keys[group_start:group_end]),
                topic=self._text(keys[topic_start:topic_end]),
                partition=partition,
                value=stored,
            )

    def _other(self, record: OtherRecord) -> None:
        self.others.replay(record.key_type, record.key, record.value)
        group = record.key["groupId"]
        self.engine.note_other_type(group, exists=group in self.others.by_id)
        for topic_id, name in topic_names_in(record.value or {}):
            self.named_topics.setdefault(topic_id, KnownTopic(name=name, id=topic_id))


def _joined(parts: Sequence[bytes]) -> tuple[bytes, Ints, Ints]:
    ends: Ints = np.cumsum([len(part) for part in parts], dtype=np.int64)
    return b"".join(parts), np.concatenate(([0], ends[:-1])), ends
