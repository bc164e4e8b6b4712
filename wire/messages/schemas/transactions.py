"""Transactions: requests of producers and coordinators, and the log `__transaction_state` (definitions of Kafka
4.4.0)."""

from wire.messages.definition import api, record_type

ADD_PARTITIONS_TO_TXN = api("""
    AddPartitionsToTxn 24 0-5 flexible=3
    request
        transactions {}[] 4+
            transactionalId string
            producerId int64
            producerEpoch int16
            verifyOnly bool default=false
            topics {}[]
                name string
                partitions int32[]
        v3AndBelowTransactionalId string 0-3
        v3AndBelowProducerId int64 0-3
        v3AndBelowProducerEpoch int16 0-3
        v3AndBelowTopics {}[] 0-3
            name string
            partitions int32[]
    response
        throttleTimeMs int32 default=0
        errorCode int16 4+ default=0
        resultsByTransaction {}[] 4+
            transactionalId string
            topicResults {}[]
                name string
                resultsByPartition {}[]
                    partitionIndex int32
                    partitionErrorCode int16
        resultsByTopicV3AndBelow {}[] 0-3
            name string
            resultsByPartition {}[]
                partitionIndex int32
                partitionErrorCode int16
""")

ADD_OFFSETS_TO_TXN = api("""
    AddOffsetsToTxn 25 0-4 flexible=3
    request
        transactionalId string
        producerId int64
        producerEpoch int16
        groupId string
    response
        throttleTimeMs int32 default=0
        errorCode int16
""")

END_TXN = api("""
    EndTxn 26 0-5 flexible=3
    request
        transactionalId string
        producerId int64
        producerEpoch int16
        committed bool
    response
        throttleTimeMs int32 default=0
        errorCode int16
        producerId int64 5+ default=-1
        producerEpoch int16 5+ default=-1
""")

WRITE_TXN_MARKERS = api("""
    WriteTxnMarkers 27 1-2 flexible=1
    request
        markers {}[]
            producerId int64
            producerEpoch int16
            transactionResult bool
            topics {}[]
                name string
                partitionIndexes int32[]
            coordinatorEpoch int32
            transactionVersion int8 2+ default=0
    response
        markers {}[]
            producerId int64
            topics {}[]
                name string
                partitions {}[]
                    partitionIndex int32
                    errorCode int16
""")

TXN_OFFSET_COMMIT = api("""
    TxnOffsetCommit 28 0-6 flexible=3
    request
        transactionalId string
        groupId string
        producerId int64
        producerEpoch int16
        generationIdOrMemberEpoch int32 3+ default=-1
        memberId string 3+ default=""
        groupInstanceId string 3+ null default=null
        topics {}[]
            name string 0-5
            topicId uuid 6+
            partitions {}[]
                partitionIndex int32
                committedOffset int64
                committedLeaderEpoch int32 2+ default=-1
                committedMetadata string null
    response
        throttleTimeMs int32 default=0
        topics {}[]
            name string 0-5
            topicId uuid 6+
            partitions {}[]
                partitionIndex int32
                errorCode int16
""")

DESCRIBE_PRODUCERS = api("""
    DescribeProducers 61 0 since=2.8
    request
        topics {}[]
            name string
            partitionIndexes int32[]
    response
        throttleTimeMs int32 default=0
        topics {}[]
            name string
            partitions {}[]
                partitionIndex int32
                errorCode int16
                errorMessage string null default=null
                activeProducers {}[]
                    producerId int64
                    producerEpoch int32
                    lastSequence int32 default=-1
                    lastTimestamp int64 default=-1
                    coordinatorEpoch int32
                    currentTxnStartOffset int64 default=-1
""")

DESCRIBE_TRANSACTIONS = api("""
    DescribeTransactions 65 0 since=3.0
    request
        transactionalIds string[]
    response
        throttleTimeMs int32 default=0
        transactionStates {}[]
            errorCode int16
            transactionalId string
            transactionState string
            transactionTimeoutMs int32
            transactionStartTimeMs int64
            producerId int64
            producerEpoch int16
            topics {}[]
                topic string
                partitions int32[]
""")

LIST_TRANSACTIONS = api("""
    ListTransactions 66 0-2 since=3.0
    request
        stateFilters string[]
        producerIdFilters int64[]
        durationFilter int64 1+ default=-1
        transactionalIdPattern string 2+ null default=null
    response
        throttleTimeMs int32 default=0
        errorCode int16
        unknownStateFilters string[]
        transactionStates {}[]
            transactionalId string
            producerId int64
            transactionState string
""")

TRANSACTION_RECORD = record_type("""
    TransactionLog 0 newest=1 flexible=1 written=1
    key
        transactionalId string
    value
        producerId int64
        previousProducerId int64 tag=0 default=-1
        nextProducerId int64 tag=1 default=-1
        producerEpoch int16
        transactionTimeoutMs int32
        transactionStatus int8
        transactionPartitions {}[] null
            topic string
            partitionIds int32[]
        transactionLastUpdateTimestampMs int64
        transactionStartTimestampMs int64
        clientTransactionVersion int16 tag=2 default=0
""")
"""The one type of record in `__transaction_state`; a transactional id that has expired gets a tombstone."""
