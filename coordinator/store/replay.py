"""Bringing the records of a log into a coordinator: one way for looking at a broker's log and for recovery.

    replay = Replay(engine)
    replay.partition(digest) ...        in any order: a group has all its records in one partition

Share and streams groups, which the coordinator does not serve, are kept apart from it.

Source: GroupCoordinatorShard.replay.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias
from uuid import UUID

from coordinator.engine.engine import Engine
from coordinator.engine.records import OffsetRecord, PartitionMetadataRecord, StoredOffset
from coordinator.store.digest import Digest, RecordFate, RemainingRecord
from coordinator.store.other_groups import OtherGroups, topic_names_in
from coordinator.store.records import OtherRecord, decode_record
from coordinator.store.topic_names import KnownTopic
from wire.log.batch_header import NO_PRODUCER_ID
from wire.log.offset_records import (
    LEGACY_OFFSET_COMMIT,
    OFFSET_COMMIT,
    key_type,
    read_offset_key,
    read_offset_value,
)
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType

NEVER = -1

Malformed: TypeAlias = tuple[int, str]
"""The place in the log of a record that is none, and why."""


class Replay:
    """See the module; what the records have made so far."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.others = OtherGroups()
        self.unknown_keys: Counter[int] = Counter()
        """How many records there were of types that Kafka 4.3 does not know; a broker passes them by, too."""
        self.heard: dict[UUID, KnownTopic] = {}
        """Topics by id, as the records name them."""
        self._texts: dict[str, str] = {}
        self._ids: dict[bytes, UUID] = {}

    def partition(self, digest: Digest) -> list[Malformed]:
        """Make what is left of a partition true; the records that are none, in the order of the log."""
        malformed = list(digest.malformed)
        for event in digest.events():
            try:
                self._event(event)
            except DecodeError as error:
                malformed.append((event.position, str(error)))
            except UnknownKeyType as error:
                self.unknown_keys[error.key_type] += 1
        return sorted(malformed)

    def _event(self, event: RemainingRecord) -> None:
        if key_type(event.key, 0) in (LEGACY_OFFSET_COMMIT, OFFSET_COMMIT):
            self._offset(event)
            return
        record = decode_record(event.key, event.value)
        if isinstance(record, OtherRecord):
            self._other(record)
            return
        if isinstance(record, PartitionMetadataRecord):
            self._hear(record)
        self.engine.replay(record)
        if record.group in self.engine.state.groups:
            self.others.discard(record.group)

    def _offset(self, event: RemainingRecord) -> None:
        group, topic, partition = read_offset_key(event.key, 0, len(event.key))
        topic = self._texts.setdefault(topic, topic)
        record = OffsetRecord(
            group=self._texts.setdefault(group, group),
            topic=topic,
            partition=partition,
            value=None if event.value is None else self._committed(topic, event.key, event.value),
        )
        if event.kind is RecordFate.PLAIN:
            self.engine.replay(record)
            return
        self.engine.replay(record, event.producer_id)
        if event.kind is RecordFate.LOST:
            self.engine.end_transaction(NO_PRODUCER_ID, committed=False)

    def _committed(self, topic: str, key: bytes, value: bytes) -> StoredOffset:
        _, offset, leader_epoch, metadata, commit_ms, expire_ms, topic_id = read_offset_value(
            value, 0, len(value), key_type(key, 0)
        )
        return StoredOffset(
            offset=offset,
            leader_epoch=leader_epoch,
            metadata=self._texts.setdefault(metadata, metadata),
            commit_ms=commit_ms,
            expire_ms=None if expire_ms == NEVER else expire_ms,
            topic_id=None if topic_id is None else self._topic_id(topic_id, topic),
        )

    def _topic_id(self, topic_id: bytes, topic: str) -> UUID:
        known = self._ids.get(topic_id)
        if known is None:
            known = self._ids[topic_id] = UUID(bytes=topic_id)
            self.heard.setdefault(known, KnownTopic(name=topic, id=known))
        return known

    def _other(self, record: OtherRecord) -> None:
        self.others.replay(record.key_type, record.key, record.value)
        group = record.key["groupId"]
        self.engine.note_foreign(group, exists=group in self.others.by_id)
        for topic_id, name in topic_names_in(record.value or {}):
            self.heard.setdefault(topic_id, KnownTopic(name=name, id=topic_id))

    def _hear(self, record: PartitionMetadataRecord) -> None:
        for topic in record.value or ():
            self.heard[topic.id] = KnownTopic(name=topic.name, id=topic.id, partitions=topic.partitions)
