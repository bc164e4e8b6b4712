"""Share groups (KIP-932): record types 10 to 15, and the requests."""

from wire.messages.definition import api, record_type

SHARE_GROUP_MEMBER_METADATA = record_type("""
    ShareGroupMemberMetadata 10
    key
        groupId string
        memberId string
    value
        rackId string null
        clientId string
        clientHost string
        subscribedTopicNames string[]
""")

SHARE_GROUP_METADATA = record_type("""
    ShareGroupMetadata 11
    key
        groupId string
    value
        epoch int32
        metadataHash int64
""")

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA = record_type("""
    ShareGroupTargetAssignmentMetadata 12
    key
        groupId string
    value
        assignmentEpoch int32
        assignmentTimestamp int64 tag=0
""")

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER = record_type("""
    ShareGroupTargetAssignmentMember 13
    key
        groupId string
        memberId string
    value
        topicPartitions {}[]
            topicId uuid
            partitions int32[]
""")

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT = record_type("""
    ShareGroupCurrentMemberAssignment 14
    key
        groupId string
        memberId string
    value
        memberEpoch int32
        previousMemberEpoch int32
        state int8
        assignedPartitions {}[]
            topicId uuid
            partitions int32[]
""")

SHARE_GROUP_STATE_PARTITION_METADATA = record_type("""
    ShareGroupStatePartitionMetadata 15
    key
        groupId string
    value
        initializingTopics {}[]
            topicId uuid
            topicName string
            partitions int32[]
        initializedTopics initializingTopics[]
        deletingTopics {}[]
            topicId uuid
            topicName string
""")

SHARE_GROUP_DESCRIBE = api("""
    ShareGroupDescribe 77 1 flexible=1 since=4.1
    request
        groupIds string[]
        includeAuthorizedOperations bool
    response
        throttleTimeMs int32 default=0
        groups {}[]
            errorCode int16
            errorMessage string null default=null
            groupId string
            groupState string
            groupEpoch int32
            assignmentEpoch int32
            assignorName string
            members {}[]
                memberId string
                rackId string null default=null
                memberEpoch int32
                clientId string
                clientHost string
                subscribedTopicNames string[]
                assignment {}
                    topicPartitions {}[]
                        topicId uuid
                        topicName string
                        partitions int32[]
            authorizedOperations int32 default=-2147483648
""")

SHARE_GROUP_HEARTBEAT = api("""
    ShareGroupHeartbeat 76 1 flexible=1 since=4.1
    request
        groupId string
        memberId string
        memberEpoch int32
        rackId string null default=null
        subscribedTopicNames string[] null default=null
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null default=null
        memberId string null default=null
        memberEpoch int32
        heartbeatIntervalMs int32
        assignment {} null default=null
            topicPartitions {}[]
                topicId uuid
                partitions int32[]
""")

DESCRIBE_SHARE_GROUP_OFFSETS = api("""
    DescribeShareGroupOffsets 90 0-1 since=4.1
    request
        groups {}[]
            groupId string
            topics {}[] null
                topicName string
                partitions int32[]
    response
        throttleTimeMs int32 default=0
        groups {}[]
            groupId string
            topics {}[]
                topicName string
                topicId uuid
                partitions {}[]
                    partitionIndex int32
                    startOffset int64
                    leaderEpoch int32
                    lag int64 1+ default=-1
                    errorCode int16
                    errorMessage string null default=null
            errorCode int16
            errorMessage string null default=null
""")

ALTER_SHARE_GROUP_OFFSETS = api("""
    AlterShareGroupOffsets 91 0 flexible=0 since=4.1
    request
        groupId string
        topics {}[]
            topicName string
            partitions {}[]
                partitionIndex int32
                startOffset int64
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null default=null
        responses {}[]
            topicName string
            topicId uuid
            partitions {}[]
                partitionIndex int32
                errorCode int16
                errorMessage string null default=null
""")

DELETE_SHARE_GROUP_OFFSETS = api("""
    DeleteShareGroupOffsets 92 0 flexible=0 since=4.1
    request
        groupId string
        topics {}[]
            topicName string
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null default=null
        responses {}[]
            topicName string
            topicId uuid
            errorCode int16
            errorMessage string null default=null
""")
