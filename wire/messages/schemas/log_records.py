"""Writing and reading records."""

from wire.messages.definition import api

PRODUCE = api("""
    Produce 0 3-13 flexible=9
    request
        transactionalId string null default=null
        acks int16
        timeoutMs int32
        topicData {}[]
            name string 3-12
            topicId uuid 13+
            partitionData {}[]
                index int32
                records bytes null
    response
        responses {}[]
            name string 3-12
            topicId uuid 13+
            partitionResponses {}[]
                index int32
                errorCode int16
                baseOffset int64
                logAppendTimeMs int64 default=-1
                logStartOffset int64 5+ default=-1
                recordErrors {}[] 8+
                    batchIndex int32
                    batchIndexErrorMessage string null default=null
                errorMessage string 8+ null default=null
                currentLeader {} 10+ tag=0
                    leaderId int32 default=-1
                    leaderEpoch int32 default=-1
        throttleTimeMs int32 default=0
        nodeEndpoints {}[] 10+ tag=0
            nodeId int32
            host string
            port int32
            rack string null default=null
""")

FETCH = api("""
    Fetch 1 4-18 flexible=12 sent=4-12
    request
        clusterId string 12+ null tag=0 default=null
        replicaId int32 4-14 default=-1
        replicaState {} 15+ tag=1
            replicaId int32 default=-1
            replicaEpoch int64 default=-1
        maxWaitMs int32
        minBytes int32
        maxBytes int32 default=2147483647
        isolationLevel int8 default=0
        sessionId int32 7+ default=0
        sessionEpoch int32 7+ default=-1
        topics {}[]
            topic string 4-12
            topicId uuid 13+
            partitions {}[]
                partition int32
                currentLeaderEpoch int32 9+ default=-1
                fetchOffset int64
                lastFetchedEpoch int32 12+ default=-1
                logStartOffset int64 5+ default=-1
                partitionMaxBytes int32
                replicaDirectoryId uuid 17+ tag=0
                highWatermark int64 18+ tag=1 default=9223372036854775807
        forgottenTopicsData {}[] 7+
            topic string 7-12
            topicId uuid 13+
            partitions int32[]
        rackId string 11+ default=""
    response
        throttleTimeMs int32 default=0
        errorCode int16 7+
        sessionId int32 7+ default=0
        responses {}[]
            topic string 4-12
            topicId uuid 13+
            partitions {}[]
                partitionIndex int32
                errorCode int16
                highWatermark int64
                lastStableOffset int64 default=-1
                logStartOffset int64 5+ default=-1
                divergingEpoch {} 12+ tag=0
                    epoch int32 default=-1
                    endOffset int64 default=-1
                currentLeader {} 12+ tag=1
                    leaderId int32 default=-1
                    leaderEpoch int32 default=-1
                snapshotId {} 12+ tag=2
                    endOffset int64 default=-1
                    epoch int32 default=-1
                abortedTransactions {}[] null
                    producerId int64
                    firstOffset int64
                preferredReadReplica int32 11+ default=-1
                records bytes null
        nodeEndpoints {}[] 16+ tag=0
            nodeId int32
            host string
            port int32
            rack string null default=null
""")

INIT_PRODUCER_ID = api("""
    InitProducerId 22 0-5 flexible=2
    request
        transactionalId string null
        transactionTimeoutMs int32
        producerId int64 3+ default=-1
        producerEpoch int16 3+ default=-1
    response
        throttleTimeMs int32 default=0
        errorCode int16
        producerId int64 default=-1
        producerEpoch int16
""")

DELETE_RECORDS = api("""
    DeleteRecords 21 0-2 flexible=2
    request
        topics {}[]
            name string
            partitions {}[]
                partitionIndex int32
                offset int64
        timeoutMs int32
    response
        throttleTimeMs int32 default=0
        topics {}[]
            name string
            partitions {}[]
                partitionIndex int32
                lowWatermark int64
                errorCode int16
""")

OFFSET_FOR_LEADER_EPOCH = api("""
    OffsetForLeaderEpoch 23 2-4 flexible=4
    request
        replicaId int32 3+ default=-2
        topics {}[]
            topic string
            partitions {}[]
                partition int32
                currentLeaderEpoch int32 default=-1
                leaderEpoch int32
    response
        throttleTimeMs int32 default=0
        topics {}[]
            topic string
            partitions {}[]
                errorCode int16
                partition int32
                leaderEpoch int32 default=-1
                endOffset int64 default=-1
""")
