"""The records around an offset, as digests to compare with those of another cluster; aborted ones are left out."""

from collections.abc import Mapping
from dataclasses import replace

from wire.client.cluster import KafkaClient
from wire.client.errors import Answers
from wire.client.metadata import TopicPartition
from wire.client.records_around import BatchedRecord, RecordsAround, RecordsRequest, records_around
from wire.log.log_records import RecordDigest, RecordWindow


def record_windows(
    client: KafkaClient, requests: Mapping[TopicPartition, RecordsRequest]
) -> Answers[TopicPartition, RecordWindow]:
    """The records around an offset of each partition, as digests. A window that is not whole is a failure."""
    digests = {partition: replace(request, as_digests=True) for partition, request in requests.items()}
    answers = records_around(client, digests)
    return Answers.of(
        {key: around.failure or _window(around) for key, around in answers.found.items()} | {**answers.failed}
    )


def _window(around: RecordsAround) -> RecordWindow:
    return RecordWindow(
        before=tuple(map(_digest, around.before)),
        after=tuple(map(_digest, around.after)),
        from_start=around.from_start,
        to_end=around.to_end,
    )


def _digest(stored: BatchedRecord) -> RecordDigest:
    record = stored.record
    return RecordDigest(
        offset=record.offset,
        timestamp_ms=record.timestamp,
        is_append_time=stored.batch.log_append_time,
        key=record.key,
        value=record.value,
        headers=record.headers,
    )
