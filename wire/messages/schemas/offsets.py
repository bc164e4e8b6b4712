"""The commits of groups, and the offsets of logs. A record's key of type 0 or 1 once meant the same; for Kafka 4 type 0
is separate."""

from dataclasses import replace

from wire.messages.definition import api, record_type

LEGACY_OFFSET_COMMIT_RECORD = record_type("""
    LegacyOffsetCommit 0 flexible=never
    key
        group string
        topic string
        partition int32
    value
        offset int64
        metadata string
        commitTimestamp int64
""")

OFFSET_COMMIT_RECORD = record_type("""
    OffsetCommit 1 newest=4 flexible=4 written=4
    key
        group string
        topic string
        partition int32
    value
        offset int64
        leaderEpoch int32 3+
        metadata string
        commitTimestamp int64
        expireTimestamp int64 1
        topicId uuid tag=0
""")
"""Values with their own expiry are written in version 1 instead."""

OFFSET_COMMIT = api("""
    OffsetCommit 8 2-10 flexible=8 sent=2-9
    request
        groupId string
        generationIdOrMemberEpoch int32 default=-1
        memberId string
        retentionTimeMs int64 2-4 default=-1
        groupInstanceId string 7+ null default=null
        topics {}[]
            name string 2-9
            topicId uuid 10+
            partitions {}[]
                partitionIndex int32
                committedOffset int64
                committedLeaderEpoch int32 6+ default=-1
                committedMetadata string null
    response
        throttleTimeMs int32 3+ default=0
        topics {}[]
            name string 2-9
            topicId uuid 10+
            partitions {}[]
                partitionIndex int32
                errorCode int16
""")

OFFSET_COMMIT_BY_ID = replace(OFFSET_COMMIT, sent=(10, 10))  # the versions that name topics by their ids

OFFSET_FETCH = api("""
    OffsetFetch 9 1-10 flexible=6 sent=2-9
    request
        groupId string 1-7
        topics {}[] 1-7 null=2-7
            name string
            partitionIndexes int32[]
        groups {}[] 8+
            groupId string
            memberId string 9+ null default=null
            memberEpoch int32 9+ default=-1
            topics {}[] null
                name string 8-9
                topicId uuid 10+
                partitionIndexes int32[]
        requireStable bool 7+ default=false
    response
        throttleTimeMs int32 3+ default=0
        topics {}[] 1-7
            name string
            partitions {}[]
                partitionIndex int32
                committedOffset int64
                committedLeaderEpoch int32 5+ default=-1
                metadata string null
                errorCode int16
        errorCode int16 2-7 default=0
        groups {}[] 8+
            groupId string
            topics {}[]
                name string 8-9
                topicId uuid 10+
                partitions {}[]
                    partitionIndex int32
                    committedOffset int64
                    committedLeaderEpoch int32 default=-1
                    metadata string null
                    errorCode int16
            errorCode int16 default=0
""")

OFFSET_DELETE = api("""
    OffsetDelete 47 0 flexible=never since=2.4
    request
        groupId string
        topics {}[]
            name string
            partitions {}[]
                partitionIndex int32
    response
        errorCode int16
        throttleTimeMs int32 default=0
        topics {}[]
            name string
            partitions {}[]
                partitionIndex int32
                errorCode int16
""")

LIST_OFFSETS = api("""
    ListOffsets 2 1-11 flexible=6
    request
        replicaId int32
        isolationLevel int8 2+
        topics {}[]
            name string
            partitions {}[]
                partitionIndex int32
                currentLeaderEpoch int32 4+ default=-1
                timestamp int64
        timeoutMs int32 10+
    response
        throttleTimeMs int32 2+ default=0
        topics {}[]
            name string
            partitions {}[]
                partitionIndex int32
                errorCode int16
                timestamp int64 default=-1
                offset int64 default=-1
                leaderEpoch int32 4+ default=-1
""")
