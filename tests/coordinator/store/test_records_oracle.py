"""Kohort writes a record of any version that it has read in the same way as Kafka's coordinator."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coordinator.engine import records as engine
from coordinator.engine.consumer.member import normal_assignment, normal_partitions, normal_topics
from coordinator.store.records import OtherRecord, decode_record, encode_record
from tests.wire.log import records_oracle
from tests.wire.log.random_records import random_value
from tests.wire.log.records_oracle import Bytes
from wire.messages.record_codec import RECORD_TYPES, encode_key, encode_value

KEY = {"group": "g", "topic": "t", "partition": 0, "groupId": "g", "memberId": "m"}


@pytest.mark.kafka
@pytest.mark.parametrize("key_type", [1, 5, 7, 8])
def test_a_record_is_written_again_as_kafka_writes_it(kafka_jars: Path, key_type: int) -> None:
    records = list(_records(key_type))
    for record, kafkas in zip(records, records_oracle.write_again(kafka_jars, records), strict=True):
        ours = encode_record(decode_record(*record))
        if key_type == 1:
            assert ours == kafkas, record
        assert _normal(ours) == _normal(kafkas), record


def _records(key_type: int) -> Iterator[Bytes]:
    rng = random.Random(key_type)
    for version in range(RECORD_TYPES[key_type].value.newest + 1):
        for _ in range(150):
            fields = random_value(rng, key_type, version)
            if all(_is_set(topics) for topics in fields.values() if isinstance(topics, list)):
                yield encode_key(key_type, KEY), encode_value(key_type, version, fields)


def _is_set(topics: list[Any]) -> bool:
    """Whether each topic is there once: Kafka fails otherwise."""
    ids = [topic["topicId"] for topic in topics if isinstance(topic, dict)]
    return len(ids) == len(set(ids))


def _normal(record: Bytes) -> engine.Record | OtherRecord:
    read = decode_record(*record)
    match read:
        case engine.ConsumerMemberRecord(value=member) if member is not None:
            return replace(read, value=replace(member, topics=normal_topics(member.topics)))
        case engine.TargetMemberRecord(value=target) if target is not None:
            return replace(read, value=normal_partitions(target))
        case engine.CurrentAssignmentRecord(value=current) if current is not None:
            return replace(read, value=normal_assignment(current))
        case engine.OffsetRecord():
            return read
    raise AssertionError(read)
