"""Producer ids and transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from coordinator.engine.offsets.commit import TxnOffsetCommit, find_topic
from coordinator.errors import RequestRefused
from coordinator.server.apis.fields import per_partition
from coordinator.server.apis.leadership import led_partition, refusal
from coordinator.server.apis.offsets import committed_fields, committed_offsets, forbidden_commits, judged
from coordinator.server.apis.permissions import keeping, producers_hidden
from coordinator.server.exchange import AnswerFields, Exchange
from coordinator.store.partition_files import INTERNAL_TOPICS, OFFSETS_TOPIC
from coordinator.store.producers import EndTransactionMarker, Producer
from coordinator.transactions.coordinator import Outcome
from coordinator.transactions.log import by_topic
from coordinator.transactions.transaction import (
    NO_START,
    TopicPartition,
    TransactionState,
    TransactionVersion,
)
from groups.regex.broker import InvalidRegexError, compile_filter
from wire.acls import Operation, ResourceType
from wire.errors import ErrorCode
from wire.log.batch_header import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ProducerIdentity
from wire.messages.schemas import log_records as log_records_schemas
from wire.messages.schemas import transactions as schemas

FORBIDDEN = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
KNOWS_FENCED = {"InitProducerId": 4, "AddPartitionsToTxn": 2, "AddOffsetsToTxn": 2, "EndTxn": 2}
"""The first version whose clients know PRODUCER_FENCED (KIP-360)."""
OF_BROKERS = 4  # the first AddPartitionsToTxn version for brokers, with several transactions
BUMPS_EPOCH = 5  # the first EndTxn version that returns the next epoch (KIP-890)
ADDS_PARTITION = 5  # the first TxnOffsetCommit version that adds the offsets partition (KIP-890)
KNOWS_ABORTABLE = 4  # the first version whose clients know TRANSACTION_ABORTABLE


async def init_producer_id(exchange: Exchange[log_records_schemas.InitProducerIdRequest]) -> AnswerFields:
    """InitProducerId v0–v5: a producer that continues after an error v3 (KIP-360)."""
    request = exchange.request
    transactional_id = request.transactional_id
    if transactional_id is not None and not _may_write(exchange, transactional_id):
        return _initialized(FORBIDDEN, ProducerIdentity())
    # Without a transaction, a caller that may write to some topic may have a producer id (KIP-679).
    if transactional_id is None and not (
        exchange.allows_cluster(Operation.IDEMPOTENT_WRITE)
        or exchange.allows_some(Operation.WRITE, ResourceType.TOPIC)
    ):
        return _initialized(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ProducerIdentity())
    has_id, has_epoch = request.producer_id != NO_PRODUCER_ID, request.producer_epoch != NO_PRODUCER_EPOCH
    if has_id != has_epoch:
        return _initialized(ErrorCode.INVALID_REQUEST, ProducerIdentity())
    if transactional_id is None:
        return _initialized(ErrorCode.NONE, ProducerIdentity(next(exchange.cluster.producer_ids), 0))
    expected = ProducerIdentity(request.producer_id, request.producer_epoch) if has_id else None
    init = exchange.cluster.transactions.coordinator.init_producer_id
    decide = partial(init, transactional_id, request.transaction_timeout_ms, expected)
    outcome = await _settled(exchange, "InitProducerId", transactional_id, decide)
    return _initialized(outcome.error, outcome.producer)


def _may_write(exchange: Exchange, transactional_id: str) -> bool:
    return exchange.allows(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id)


def _initialized(error: ErrorCode, producer: ProducerIdentity) -> AnswerFields:
    return {"error_code": error, "producer_id": producer.id, "producer_epoch": producer.epoch}


async def add_partitions_to_txn(exchange: Exchange[schemas.AddPartitionsToTxnRequest]) -> AnswerFields:
    """AddPartitionsToTxn v0–v5: for clients; from v4 also for brokers, which may only verify (KIP-890)."""
    request = exchange.request
    if exchange.version < OF_BROKERS:
        requested = {(topic.name, one) for topic in request.v3_and_below_topics for one in topic.partitions}
        if not _may_write(exchange, request.v3_and_below_transactional_id):
            return {"results_by_topic_v3_and_below": _topic_results(dict.fromkeys(requested, FORBIDDEN))}
        producer = ProducerIdentity(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
        errors = await _added(
            exchange, request.v3_and_below_transactional_id, producer, requested, TransactionVersion.TV_0
        )
        return {"results_by_topic_v3_and_below": _topic_results(errors)}
    if not exchange.allows_cluster(Operation.CLUSTER_ACTION):
        return {"error_code": ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "results_by_transaction": ()}
    results = []
    for one in request.transactions:
        producer = ProducerIdentity(one.producer_id, one.producer_epoch)
        requested = {(topic.name, number) for topic in one.topics for number in topic.partitions}
        version = None if one.verify_only else TransactionVersion.TV_2
        errors = await _added(exchange, one.transactional_id, producer, requested, version)
        results.append({"transactional_id": one.transactional_id, "topic_results": _topic_results(errors)})
    return {"error_code": ErrorCode.NONE, "results_by_transaction": results}


async def _added(
    exchange: Exchange,
    transactional_id: str,
    producer: ProducerIdentity,
    requested: set[TopicPartition],
    version: TransactionVersion | None,
) -> Mapping[TopicPartition, ErrorCode]:
    """Add all partitions, or none if one cannot be added; without a version, only verify them."""
    is_client = exchange.version < OF_BROKERS
    refused = {}
    for partition in requested:
        if is_client and not exchange.allows(Operation.WRITE, ResourceType.TOPIC, partition[0]):
            refused[partition] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif not _exists(exchange, partition):
            refused[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if refused:
        return dict.fromkeys(requested, ErrorCode.OPERATION_NOT_ATTEMPTED) | refused
    if version is None:
        if not _coordinates(exchange, transactional_id):
            return dict.fromkeys(requested, ErrorCode.NOT_COORDINATOR)
        verify = exchange.cluster.transactions.coordinator.verify
        return {partition: verify(transactional_id, producer, partition) for partition in requested}
    add = exchange.cluster.transactions.coordinator.add_partitions
    decide = partial(add, transactional_id, producer, requested, version)
    outcome = await _settled(exchange, "AddPartitionsToTxn", transactional_id, decide)
    return dict.fromkeys(requested, outcome.error)


def _topic_results(errors: Mapping[TopicPartition, ErrorCode]) -> list[AnswerFields]:
    keys = ("partition_index", "partition_error_code")
    results = [
        (topic, [dict(zip(keys, (number, errors[topic, number]), strict=True)) for number in numbers])
        for topic, numbers in by_topic(errors)
    ]
    return [{"name": topic, "results_by_partition": partitions} for topic, partitions in results]


async def add_offsets_to_txn(exchange: Exchange[schemas.AddOffsetsToTxnRequest]) -> AnswerFields:
    """AddOffsetsToTxn v0–v4: adds the partition that holds a group's offsets."""
    request = exchange.request
    if not _may_write(exchange, request.transactional_id):
        return {"error_code": FORBIDDEN}
    if not exchange.allows(Operation.READ, ResourceType.GROUP, request.group_id):
        return {"error_code": ErrorCode.GROUP_AUTHORIZATION_FAILED}
    producer = ProducerIdentity(request.producer_id, request.producer_epoch)
    partitions = [_offsets_partition(exchange, request.group_id)]
    add = exchange.cluster.transactions.coordinator.add_partitions
    decide = partial(add, request.transactional_id, producer, partitions, TransactionVersion.TV_0)
    outcome = await _settled(exchange, "AddOffsetsToTxn", request.transactional_id, decide)
    return {"error_code": outcome.error}


async def txn_offset_commit(exchange: Exchange[schemas.TxnOffsetCommitRequest]) -> AnswerFields:
    """TxnOffsetCommit v0–v6: the group's member v3 (KIP-447); v5 adds the offsets partition itself (KIP-890); topic
    ids v6 (KIP-1319)."""
    request = exchange.request
    producer = ProducerIdentity(request.producer_id, request.producer_epoch)
    call = TxnOffsetCommit(
        group=request.group_id,
        producer=producer,
        generation_or_epoch=request.generation_id_or_member_epoch,
        member=request.member_id,
        instance=request.group_instance_id,
        offsets=committed_offsets(request),
        version=exchange.version,
    )
    if not _may_write(exchange, request.transactional_id):
        return committed_fields(judged(call.offsets, FORBIDDEN))
    forbidden = forbidden_commits(exchange, call.group, call.offsets)
    if forbidden:
        call = replace(call, offsets=tuple(one for one in call.offsets if one not in forbidden))
    hidden = judged(forbidden, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if hidden and not call.offsets:
        return committed_fields(hidden)
    image = exchange.cluster.topics.image
    unknown, known = [], []
    for offset in call.offsets:
        topic = find_topic(image, offset, by_id=call.knows_epochs)
        if isinstance(topic, ErrorCode):
            unknown += judged([offset], topic)
        else:
            known.append(offset)
    if request.group_id and known and not exchange.refusal(request.group_id, Operation.READ):
        try:
            exchange.cluster.transactions.admit(
                request.transactional_id,
                producer,
                _offsets_partition(exchange, request.group_id),
                adds=exchange.version >= ADDS_PARTITION,
                is_abortable=exchange.version >= KNOWS_ABORTABLE,
            )
        except RequestRefused as error:
            return committed_fields([*hidden, *unknown, *judged(known, error.code)])
    committed = await exchange.ask(call)
    return committed_fields([*hidden, *committed.partitions])


async def end_txn(exchange: Exchange[schemas.EndTxnRequest]) -> AnswerFields:
    """EndTxn v0–v5: since v5 it returns the epoch of the next transaction (KIP-890)."""
    request = exchange.request
    if not _may_write(exchange, request.transactional_id):
        return _initialized(FORBIDDEN, ProducerIdentity())
    producer = ProducerIdentity(request.producer_id, request.producer_epoch)
    version = TransactionVersion.TV_2 if exchange.version >= BUMPS_EPOCH else TransactionVersion.TV_0
    end = exchange.cluster.transactions.coordinator.end
    decide = partial(end, request.transactional_id, producer, committed=request.committed, version=version)
    outcome = await _settled(exchange, "EndTxn", request.transactional_id, decide)
    return _initialized(outcome.error, outcome.producer)


async def write_txn_markers(exchange: Exchange[schemas.WriteTxnMarkersRequest]) -> AnswerFields:
    """WriteTxnMarkers v1–v2: for brokers, and to abort a hanging transaction (KIP-664), which never has offsets."""
    request = exchange.request
    markers = []
    for one in request.markers:
        end = EndTransactionMarker(
            one.producer_id, one.producer_epoch, one.transaction_result, one.coordinator_epoch
        )
        topics = ((topic.name, topic.partition_indexes) for topic in one.topics)
        results = per_partition(topics, partial(_marked, exchange, end))
        markers.append({"producer_id": one.producer_id, "topics": results})
    await exchange.cluster.records_durable()
    return {"markers": markers}


def _marked(exchange: Exchange, end: EndTransactionMarker, topic: str, number: int) -> AnswerFields:
    known, error = exchange.cluster.topics.image.topics.get(topic), ErrorCode.NONE
    if not (exchange.allows_cluster(Operation.CLUSTER_ACTION) or exchange.allows_cluster(Operation.ALTER)):
        error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    elif known is None or topic in INTERNAL_TOPICS:
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    else:
        try:
            led_partition(exchange, known, number).end_transaction(end, exchange.cluster.now_ms())
        except (RequestRefused, OSError) as refused:
            error = refusal(refused).code
    return {"partition_index": number, "error_code": error}


async def describe_transactions(exchange: Exchange[schemas.DescribeTransactionsRequest]) -> AnswerFields:
    """DescribeTransactions v0 (KIP-664)."""
    return {"transaction_states": [_described(exchange, one) for one in exchange.request.transactional_ids]}


def _described(exchange: Exchange, transactional_id: str) -> AnswerFields:
    transaction = exchange.cluster.transactions.coordinator.transactions.get(transactional_id)
    is_shown = exchange.allows(Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, transactional_id)
    if transaction is None or not is_shown or not _coordinates(exchange, transactional_id):
        error = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if transactional_id else ErrorCode.INVALID_REQUEST
        if not is_shown:
            error = FORBIDDEN
        elif not _coordinates(exchange, transactional_id):
            error = ErrorCode.NOT_COORDINATOR
        unknown = {"transaction_state": "", "transaction_timeout_ms": 0, "transaction_start_time_ms": 0}
        names = {"error_code": error, "transactional_id": transactional_id, "topics": ()}
        return {**names, **unknown, "producer_id": 0, "producer_epoch": 0}
    return {
        "error_code": ErrorCode.NONE,
        "transactional_id": transactional_id,
        "transaction_state": transaction.state.shown,
        "transaction_timeout_ms": transaction.timeout_ms,
        "transaction_start_time_ms": transaction.started_ms,
        "producer_id": transaction.producer.id,
        "producer_epoch": transaction.producer.epoch,
        "topics": [
            {"topic": topic, "partitions": numbers}
            for topic, numbers in by_topic(transaction.partitions)
            if exchange.allows(Operation.DESCRIBE, ResourceType.TOPIC, topic)
        ],
    }


_STATES = {state.shown: state for state in TransactionState}


async def list_transactions(exchange: Exchange[schemas.ListTransactionsRequest]) -> AnswerFields:
    """ListTransactions v0–v2: filter by duration v1 (KIP-994), by an RE2/J regex v2 (KIP-1152)."""
    request = exchange.request
    matches = None
    if request.transactional_id_pattern:
        try:
            compiled = await exchange.cluster.limits.run(compile_filter, request.transactional_id_pattern)
            matches = compiled.fullmatch
        except InvalidRegexError:
            error = ErrorCode.INVALID_REGULAR_EXPRESSION
            return {"error_code": error, "unknown_state_filters": (), "transaction_states": ()}
    states = {_STATES[name] for name in request.state_filters if name in _STATES}
    started_before_ms = exchange.cluster.now_ms() - request.duration_filter
    listed = [
        transaction
        for transaction in exchange.cluster.transactions.coordinator.transactions.values()
        if _coordinates(exchange, transaction.transactional_id)
        and (not request.producer_id_filters or transaction.producer.id in request.producer_id_filters)
        and (not request.state_filters or transaction.state in states)
        and (request.duration_filter < 0 or transaction.started_ms < started_before_ms)
        and (matches is None or matches(transaction.transactional_id))
        and exchange.allows(Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, transaction.transactional_id)
    ]
    return {
        "error_code": ErrorCode.NONE,
        "unknown_state_filters": [name for name in request.state_filters if name not in _STATES],
        "transaction_states": [
            {
                "transactional_id": transaction.transactional_id,
                "producer_id": transaction.producer.id,
                "transaction_state": transaction.state.shown,
            }
            for transaction in listed
        ],
    }


@keeping("topics", "topics", producers_hidden)
async def describe_producers(exchange: Exchange[schemas.DescribeProducersRequest]) -> AnswerFields:
    """DescribeProducers v0 (KIP-664)."""
    topics = ((one.name, one.partition_indexes) for one in exchange.request.topics)
    return {"topics": per_partition(topics, partial(_producers, exchange))}


def _producers(exchange: Exchange, topic: str, number: int) -> AnswerFields:
    known = exchange.cluster.topics.image.topics.get(topic)
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    producers: Iterable[tuple[int, Producer]] = ()
    if known is not None:
        try:
            producers = led_partition(exchange, known, number).producers.known()
            error = ErrorCode.NONE
        except RequestRefused as refused:
            error = refused.code
    return {
        "partition_index": number,
        "error_code": error,
        "active_producers": [
            {
                "producer_id": producer_id,
                "producer_epoch": one.epoch,
                "last_sequence": one.last_sequence,
                "last_timestamp": one.last_timestamp,
                "coordinator_epoch": one.coordinator_epoch,
                "current_txn_start_offset": NO_START
                if one.transaction_from is None
                else one.transaction_from,
            }
            for producer_id, one in producers
        ],
    }


def _coordinates(exchange: Exchange, transactional_id: str) -> bool:
    """Whether the broker coordinates the producer's transactions; every broker refuses an empty id."""
    coordinator = exchange.cluster.transaction_coordinator_of(transactional_id)
    return not transactional_id or coordinator is exchange.broker


async def _settled(exchange: Exchange, api: str, name: str, decide: Callable[..., Outcome]) -> Outcome:
    if not _coordinates(exchange, name):
        return Outcome(error=ErrorCode.NOT_COORDINATOR)
    try:
        outcome = await exchange.cluster.transactions.settle(decide(now_ms=exchange.cluster.now_ms()))
    except RequestRefused as error:
        outcome = Outcome(error=error.code)
    if outcome.error is ErrorCode.PRODUCER_FENCED and exchange.version < KNOWS_FENCED[api]:
        return replace(outcome, error=ErrorCode.INVALID_PRODUCER_EPOCH)
    return outcome


def _offsets_partition(exchange: Exchange, group: str) -> TopicPartition:
    return OFFSETS_TOPIC, exchange.cluster.coordinators.partition_of(group)


def _exists(exchange: Exchange, partition: TopicPartition) -> bool:
    topic = exchange.cluster.topics.image.topics.get(partition[0])
    return topic is not None and 0 <= partition[1] < topic.partitions
