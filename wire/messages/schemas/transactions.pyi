"""Types of the messages of `transactions.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection, Sequence
from typing import Final, NotRequired, TypedDict
from uuid import UUID

from wire.messages.definition import Api, RecordType

class AddPartitionsToTxnRequestTransactionTopic:
    name: str
    partitions: tuple[int, ...]

class AddPartitionsToTxnRequestTransaction:
    transactional_id: str
    producer_id: int
    producer_epoch: int
    verify_only: bool
    topics: tuple[AddPartitionsToTxnRequestTransactionTopic, ...]

class AddPartitionsToTxnRequestV3AndBelowTopic:
    name: str
    partitions: tuple[int, ...]

class AddPartitionsToTxnRequest:
    transactions: tuple[AddPartitionsToTxnRequestTransaction, ...]
    v3_and_below_transactional_id: str
    v3_and_below_producer_id: int
    v3_and_below_producer_epoch: int
    v3_and_below_topics: tuple[AddPartitionsToTxnRequestV3AndBelowTopic, ...]

class AddPartitionsToTxnRequestTransactionTopicFields(TypedDict):
    name: str
    partitions: Collection[int]

class AddPartitionsToTxnRequestTransactionFields(TypedDict):
    transactional_id: str
    producer_id: int
    producer_epoch: int
    verify_only: NotRequired[bool]
    topics: Collection[AddPartitionsToTxnRequestTransactionTopicFields]

class AddPartitionsToTxnRequestV3AndBelowTopicFields(TypedDict):
    name: str
    partitions: Collection[int]

class AddPartitionsToTxnRequestFields(TypedDict):
    transactions: NotRequired[Collection[AddPartitionsToTxnRequestTransactionFields]]
    v3_and_below_transactional_id: NotRequired[str]
    v3_and_below_producer_id: NotRequired[int]
    v3_and_below_producer_epoch: NotRequired[int]
    v3_and_below_topics: NotRequired[Collection[AddPartitionsToTxnRequestV3AndBelowTopicFields]]

class AddPartitionsToTxnResponseResultsByTransactionTopicResultResultsByPartition:
    partition_index: int
    partition_error_code: int

class AddPartitionsToTxnResponseResultsByTransactionTopicResult:
    name: str
    results_by_partition: tuple[
        AddPartitionsToTxnResponseResultsByTransactionTopicResultResultsByPartition, ...
    ]

class AddPartitionsToTxnResponseResultsByTransaction:
    transactional_id: str
    topic_results: tuple[AddPartitionsToTxnResponseResultsByTransactionTopicResult, ...]

class AddPartitionsToTxnResponseResultsByTopicV3AndBelowResultsByPartition:
    partition_index: int
    partition_error_code: int

class AddPartitionsToTxnResponseResultsByTopicV3AndBelow:
    name: str
    results_by_partition: tuple[AddPartitionsToTxnResponseResultsByTopicV3AndBelowResultsByPartition, ...]

class AddPartitionsToTxnResponse:
    throttle_time_ms: int
    error_code: int
    results_by_transaction: tuple[AddPartitionsToTxnResponseResultsByTransaction, ...]
    results_by_topic_v3_and_below: tuple[AddPartitionsToTxnResponseResultsByTopicV3AndBelow, ...]

class AddPartitionsToTxnResponseResultsByTransactionTopicResultResultsByPartitionFields(TypedDict):
    partition_index: int
    partition_error_code: int

class AddPartitionsToTxnResponseResultsByTransactionTopicResultFields(TypedDict):
    name: str
    results_by_partition: Collection[
        AddPartitionsToTxnResponseResultsByTransactionTopicResultResultsByPartitionFields
    ]

class AddPartitionsToTxnResponseResultsByTransactionFields(TypedDict):
    transactional_id: str
    topic_results: Collection[AddPartitionsToTxnResponseResultsByTransactionTopicResultFields]

class AddPartitionsToTxnResponseResultsByTopicV3AndBelowResultsByPartitionFields(TypedDict):
    partition_index: int
    partition_error_code: int

class AddPartitionsToTxnResponseResultsByTopicV3AndBelowFields(TypedDict):
    name: str
    results_by_partition: Collection[
        AddPartitionsToTxnResponseResultsByTopicV3AndBelowResultsByPartitionFields
    ]

class AddPartitionsToTxnResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: NotRequired[int]
    results_by_transaction: NotRequired[Collection[AddPartitionsToTxnResponseResultsByTransactionFields]]
    results_by_topic_v3_and_below: NotRequired[
        Collection[AddPartitionsToTxnResponseResultsByTopicV3AndBelowFields]
    ]

ADD_PARTITIONS_TO_TXN: Final[
    Api[
        AddPartitionsToTxnRequest,
        AddPartitionsToTxnResponse,
        AddPartitionsToTxnRequestFields,
        AddPartitionsToTxnResponseFields,
    ]
]

class AddOffsetsToTxnRequest:
    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str

class AddOffsetsToTxnRequestFields(TypedDict):
    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str

class AddOffsetsToTxnResponse:
    throttle_time_ms: int
    error_code: int

class AddOffsetsToTxnResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int

ADD_OFFSETS_TO_TXN: Final[
    Api[
        AddOffsetsToTxnRequest,
        AddOffsetsToTxnResponse,
        AddOffsetsToTxnRequestFields,
        AddOffsetsToTxnResponseFields,
    ]
]

class EndTxnRequest:
    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool

class EndTxnRequestFields(TypedDict):
    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool

class EndTxnResponse:
    throttle_time_ms: int
    error_code: int
    producer_id: int
    producer_epoch: int

class EndTxnResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    producer_id: NotRequired[int]
    producer_epoch: NotRequired[int]

END_TXN: Final[Api[EndTxnRequest, EndTxnResponse, EndTxnRequestFields, EndTxnResponseFields]]

class WriteTxnMarkersRequestMarkerTopic:
    name: str
    partition_indexes: tuple[int, ...]

class WriteTxnMarkersRequestMarker:
    producer_id: int
    producer_epoch: int
    transaction_result: bool
    topics: tuple[WriteTxnMarkersRequestMarkerTopic, ...]
    coordinator_epoch: int
    transaction_version: int

class WriteTxnMarkersRequest:
    markers: tuple[WriteTxnMarkersRequestMarker, ...]

class WriteTxnMarkersRequestMarkerTopicFields(TypedDict):
    name: str
    partition_indexes: Collection[int]

class WriteTxnMarkersRequestMarkerFields(TypedDict):
    producer_id: int
    producer_epoch: int
    transaction_result: bool
    topics: Collection[WriteTxnMarkersRequestMarkerTopicFields]
    coordinator_epoch: int
    transaction_version: NotRequired[int]

class WriteTxnMarkersRequestFields(TypedDict):
    markers: Collection[WriteTxnMarkersRequestMarkerFields]

class WriteTxnMarkersResponseMarkerTopicPartition:
    partition_index: int
    error_code: int

class WriteTxnMarkersResponseMarkerTopic:
    name: str
    partitions: tuple[WriteTxnMarkersResponseMarkerTopicPartition, ...]

class WriteTxnMarkersResponseMarker:
    producer_id: int
    topics: tuple[WriteTxnMarkersResponseMarkerTopic, ...]

class WriteTxnMarkersResponse:
    markers: tuple[WriteTxnMarkersResponseMarker, ...]

class WriteTxnMarkersResponseMarkerTopicPartitionFields(TypedDict):
    partition_index: int
    error_code: int

class WriteTxnMarkersResponseMarkerTopicFields(TypedDict):
    name: str
    partitions: Collection[WriteTxnMarkersResponseMarkerTopicPartitionFields]

class WriteTxnMarkersResponseMarkerFields(TypedDict):
    producer_id: int
    topics: Collection[WriteTxnMarkersResponseMarkerTopicFields]

class WriteTxnMarkersResponseFields(TypedDict):
    markers: Collection[WriteTxnMarkersResponseMarkerFields]

WRITE_TXN_MARKERS: Final[
    Api[
        WriteTxnMarkersRequest,
        WriteTxnMarkersResponse,
        WriteTxnMarkersRequestFields,
        WriteTxnMarkersResponseFields,
    ]
]

class TxnOffsetCommitRequestTopicPartition:
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None

class TxnOffsetCommitRequestTopic:
    name: str
    topic_id: UUID | None
    partitions: tuple[TxnOffsetCommitRequestTopicPartition, ...]

class TxnOffsetCommitRequest:
    transactional_id: str
    group_id: str
    producer_id: int
    producer_epoch: int
    generation_id_or_member_epoch: int
    member_id: str
    group_instance_id: str | None
    topics: tuple[TxnOffsetCommitRequestTopic, ...]

class TxnOffsetCommitRequestTopicPartitionFields(TypedDict):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: NotRequired[int]
    committed_metadata: str | None

class TxnOffsetCommitRequestTopicFields(TypedDict):
    name: NotRequired[str]
    topic_id: NotRequired[UUID | None]
    partitions: Collection[TxnOffsetCommitRequestTopicPartitionFields]

class TxnOffsetCommitRequestFields(TypedDict):
    transactional_id: str
    group_id: str
    producer_id: int
    producer_epoch: int
    generation_id_or_member_epoch: NotRequired[int]
    member_id: NotRequired[str]
    group_instance_id: NotRequired[str | None]
    topics: Collection[TxnOffsetCommitRequestTopicFields]

class TxnOffsetCommitResponseTopicPartition:
    partition_index: int
    error_code: int

class TxnOffsetCommitResponseTopic:
    name: str
    topic_id: UUID | None
    partitions: tuple[TxnOffsetCommitResponseTopicPartition, ...]

class TxnOffsetCommitResponse:
    throttle_time_ms: int
    topics: tuple[TxnOffsetCommitResponseTopic, ...]

class TxnOffsetCommitResponseTopicPartitionFields(TypedDict):
    partition_index: int
    error_code: int

class TxnOffsetCommitResponseTopicFields(TypedDict):
    name: NotRequired[str]
    topic_id: NotRequired[UUID | None]
    partitions: Collection[TxnOffsetCommitResponseTopicPartitionFields]

class TxnOffsetCommitResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    topics: Collection[TxnOffsetCommitResponseTopicFields]

TXN_OFFSET_COMMIT: Final[
    Api[
        TxnOffsetCommitRequest,
        TxnOffsetCommitResponse,
        TxnOffsetCommitRequestFields,
        TxnOffsetCommitResponseFields,
    ]
]

class DescribeProducersRequestTopic:
    name: str
    partition_indexes: tuple[int, ...]

class DescribeProducersRequest:
    topics: tuple[DescribeProducersRequestTopic, ...]

class DescribeProducersRequestTopicFields(TypedDict):
    name: str
    partition_indexes: Collection[int]

class DescribeProducersRequestFields(TypedDict):
    topics: Collection[DescribeProducersRequestTopicFields]

class DescribeProducersResponseTopicPartitionActiveProducer:
    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    current_txn_start_offset: int

class DescribeProducersResponseTopicPartition:
    partition_index: int
    error_code: int
    error_message: str | None
    active_producers: tuple[DescribeProducersResponseTopicPartitionActiveProducer, ...]

class DescribeProducersResponseTopic:
    name: str
    partitions: tuple[DescribeProducersResponseTopicPartition, ...]

class DescribeProducersResponse:
    throttle_time_ms: int
    topics: tuple[DescribeProducersResponseTopic, ...]

class DescribeProducersResponseTopicPartitionActiveProducerFields(TypedDict):
    producer_id: int
    producer_epoch: int
    last_sequence: NotRequired[int]
    last_timestamp: NotRequired[int]
    coordinator_epoch: int
    current_txn_start_offset: NotRequired[int]

class DescribeProducersResponseTopicPartitionFields(TypedDict):
    partition_index: int
    error_code: int
    error_message: NotRequired[str | None]
    active_producers: Collection[DescribeProducersResponseTopicPartitionActiveProducerFields]

class DescribeProducersResponseTopicFields(TypedDict):
    name: str
    partitions: Collection[DescribeProducersResponseTopicPartitionFields]

class DescribeProducersResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    topics: Collection[DescribeProducersResponseTopicFields]

DESCRIBE_PRODUCERS: Final[
    Api[
        DescribeProducersRequest,
        DescribeProducersResponse,
        DescribeProducersRequestFields,
        DescribeProducersResponseFields,
    ]
]

class DescribeTransactionsRequest:
    transactional_ids: tuple[str, ...]

class DescribeTransactionsRequestFields(TypedDict):
    transactional_ids: Collection[str]

class DescribeTransactionsResponseTransactionStateTopic:
    topic: str
    partitions: tuple[int, ...]

class DescribeTransactionsResponseTransactionState:
    error_code: int
    transactional_id: str
    transaction_state: str
    transaction_timeout_ms: int
    transaction_start_time_ms: int
    producer_id: int
    producer_epoch: int
    topics: tuple[DescribeTransactionsResponseTransactionStateTopic, ...]

class DescribeTransactionsResponse:
    throttle_time_ms: int
    transaction_states: tuple[DescribeTransactionsResponseTransactionState, ...]

class DescribeTransactionsResponseTransactionStateTopicFields(TypedDict):
    topic: str
    partitions: Collection[int]

class DescribeTransactionsResponseTransactionStateFields(TypedDict):
    error_code: int
    transactional_id: str
    transaction_state: str
    transaction_timeout_ms: int
    transaction_start_time_ms: int
    producer_id: int
    producer_epoch: int
    topics: Collection[DescribeTransactionsResponseTransactionStateTopicFields]

class DescribeTransactionsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    transaction_states: Collection[DescribeTransactionsResponseTransactionStateFields]

DESCRIBE_TRANSACTIONS: Final[
    Api[
        DescribeTransactionsRequest,
        DescribeTransactionsResponse,
        DescribeTransactionsRequestFields,
        DescribeTransactionsResponseFields,
    ]
]

class ListTransactionsRequest:
    state_filters: tuple[str, ...]
    producer_id_filters: tuple[int, ...]
    duration_filter: int
    transactional_id_pattern: str | None

class ListTransactionsRequestFields(TypedDict):
    state_filters: Collection[str]
    producer_id_filters: Collection[int]
    duration_filter: NotRequired[int]
    transactional_id_pattern: NotRequired[str | None]

class ListTransactionsResponseTransactionState:
    transactional_id: str
    producer_id: int
    transaction_state: str

class ListTransactionsResponse:
    throttle_time_ms: int
    error_code: int
    unknown_state_filters: tuple[str, ...]
    transaction_states: tuple[ListTransactionsResponseTransactionState, ...]

class ListTransactionsResponseTransactionStateFields(TypedDict):
    transactional_id: str
    producer_id: int
    transaction_state: str

class ListTransactionsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    unknown_state_filters: Collection[str]
    transaction_states: Collection[ListTransactionsResponseTransactionStateFields]

LIST_TRANSACTIONS: Final[
    Api[
        ListTransactionsRequest,
        ListTransactionsResponse,
        ListTransactionsRequestFields,
        ListTransactionsResponseFields,
    ]
]

class TransactionLogKey(TypedDict):
    transactionalId: str

class TransactionLogValueTransactionPartition(TypedDict):
    topic: str
    partitionIds: Sequence[int]

class TransactionLogValue(TypedDict):
    producerId: int
    previousProducerId: NotRequired[int]
    nextProducerId: NotRequired[int]
    producerEpoch: int
    transactionTimeoutMs: int
    transactionStatus: int
    transactionPartitions: Sequence[TransactionLogValueTransactionPartition] | None
    transactionLastUpdateTimestampMs: int
    transactionStartTimestampMs: int
    clientTransactionVersion: NotRequired[int]

TRANSACTION_RECORD: Final[RecordType[TransactionLogKey, TransactionLogValue]]
