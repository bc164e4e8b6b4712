"""Produce: writing records."""

from __future__ import annotations

from functools import partial

from coordinator.engine.topics import TopicInfo
from coordinator.errors import RequestRefused
from coordinator.partitions.partition import Partition
from coordinator.partitions.validation import RecordsRefused, single_batch
from coordinator.server.apis import leadership
from coordinator.server.exchange import AnswerFields, Exchange, PeerFault
from coordinator.server.limits import Limits, Turn
from wire.acls import Operation, ResourceType
from wire.errors import ErrorCode
from wire.log.batch_header import ProducerIdentity, batch_at
from wire.messages.schemas import log_records as schemas

MANY_RECORDS, VERY_MANY_RECORDS = 20_000, 100_000
"""A batch that declares more records is read in a thread, or one after the other: a small one can take a second."""
BY_ID = 13
KNOWS_ABORTABLE = 11  # the first version whose clients know TRANSACTION_ABORTABLE (KIP-890)
ADDS_PARTITION = 12  # the first version in which a write adds its partition to the transaction (KIP-890)
SHOWS_LEADER = 10
NO_ANSWER, LEADER, ALL = 0, 1, -1  # the valid `acks`: with one replica 1 and -1 mean the same
NONE = -1
WITHOUT_START = frozenset(
    {ErrorCode.CORRUPT_MESSAGE, ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.KAFKA_STORAGE_ERROR}
)  # errors for which a broker does not return the log start offset


async def produce(exchange: Exchange[schemas.ProduceRequest]) -> AnswerFields | None:
    """Produce v3–v13: record errors v8 (KIP-467), the leader v10 (KIP-951), topic ids v13 (KIP-516)."""
    request = exchange.request
    turn = Turn()
    responses = [await _topic(exchange, topic, request.acks, turn) for topic in request.topic_data]
    results = [one for topic in responses for one in topic["partition_responses"]]
    if request.acks == NO_ANSWER:
        refused = next((one for one in results if one["error_code"]), None)
        if refused is not None:
            why = refused["error_message"] or ErrorCode(refused["error_code"]).name
            raise PeerFault(f"records were refused: {why}")
        return None
    if not all(one["error_code"] for one in results):
        await exchange.cluster.records_durable()
    return {"responses": responses, "node_endpoints": leadership.endpoints(exchange, results)}


async def _topic(
    exchange: Exchange[schemas.ProduceRequest],
    requested: schemas.ProduceRequestTopicData,
    acks: int,
    turn: Turn,
) -> schemas.ProduceResponseResponseFields:
    responses = []
    for one in requested.partition_data:
        responses.append(await _partition(exchange, requested, one, acks))
        await turn.pause()
    return {"name": requested.name, "topic_id": requested.topic_id, "partition_responses": responses}


async def _partition(
    exchange: Exchange[schemas.ProduceRequest],
    requested: schemas.ProduceRequestTopicData,
    one: schemas.ProduceRequestTopicDataPartitionData,
    acks: int,
) -> schemas.ProduceResponseResponsePartitionResponseFields:
    topic: TopicInfo | None = None
    start = NONE
    try:
        topic = leadership.topic_named(
            exchange, requested.name, requested.topic_id, Operation.WRITE, by_id=exchange.version >= BY_ID
        )
        batch = single_batch(one.records, exchange.version)
        if acks not in (NO_ANSWER, LEADER, ALL):
            raise RequestRefused(ErrorCode.INVALID_REQUIRED_ACKS)
        leadership.require_ordinary(topic)
        partition = leadership.led_partition(exchange, topic, one.index)
        _admit(exchange, partition, batch)
        start = partition.log_start_offset
        now_ms = exchange.cluster.now_ms()
        accepted = await _accepted(exchange.cluster.limits, partition, batch, now_ms)
        appended = partition.append(accepted, now_ms)
    except (RequestRefused, OSError) as error:
        return _refused(exchange, topic, one.index, leadership.refusal(error), start)
    return {
        "index": one.index,
        "error_code": ErrorCode.NONE,
        "base_offset": appended.base_offset,
        "log_append_time_ms": appended.append_time_ms,
        "log_start_offset": start,
        "record_errors": (),
    }


async def _accepted(limits: Limits, partition: Partition, batch: bytes, now_ms: int) -> bytearray:
    """As `Partition.accept`, in a thread unless it takes only about a millisecond."""
    count, accept = batch_at(batch).count, partial(partition.accept, batch, now_ms)
    if count > VERY_MANY_RECORDS:
        return await limits.run_slowly(accept)
    return await limits.bounded(accept, is_quick=count <= MANY_RECORDS)


def _admit(exchange: Exchange[schemas.ProduceRequest], partition: Partition, batch: bytes) -> None:
    """Check that a transactional batch may be written (AddPartitionsToTxnManager). Raises RequestRefused."""
    header = batch_at(batch)
    if not header.is_transactional:
        return
    transactional_id = exchange.request.transactional_id
    if transactional_id is None or not exchange.allows(
        Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id
    ):
        raise RequestRefused(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    producer = ProducerIdentity(header.producer_id, header.producer_epoch)
    if not partition.producers.is_open(producer):
        exchange.cluster.transactions.admit(
            transactional_id,
            producer,
            (partition.topic, partition.number),
            adds=exchange.version >= ADDS_PARTITION,
            is_abortable=exchange.version >= KNOWS_ABORTABLE,
        )


def _refused(
    exchange: Exchange, topic: TopicInfo | None, index: int, error: RequestRefused, start: int
) -> schemas.ProduceResponseResponsePartitionResponseFields:
    records = error.records if isinstance(error, RecordsRefused) else ()
    refused: schemas.ProduceResponseResponsePartitionResponseFields = {
        "index": index,
        "error_code": error.code,
        "base_offset": NONE,
        "log_append_time_ms": NONE,
        "log_start_offset": NONE if error.code in WITHOUT_START else start,
        "record_errors": [
            {"batch_index": one.index, "batch_index_error_message": one.message} for one in records
        ],
        "error_message": error.message,
    }
    if topic is not None and error.code in leadership.MOVED and exchange.version >= SHOWS_LEADER:
        refused["current_leader"] = leadership.current_leader(exchange, topic, index)
    return refused
