"""Consumer groups (KIP-848): record types 3 to 8 and 16, and the requests."""

from wire.messages.definition import api, record_type

CONSUMER_GROUP_METADATA = record_type("""
    ConsumerGroupMetadata 3
    key
        groupId string
    value
        epoch int32
        metadataHash int64 tag=0
""")

CONSUMER_GROUP_PARTITION_METADATA = record_type("""
    ConsumerGroupPartitionMetadata 4
    key
        groupId string
    value
        topics {}[]
            topicId uuid
            topicName string
            numPartitions int32
            partitionMetadata {}[]
                partition int32
                racks string[]
""")
"""Written before Kafka 4.1, which has the hash in type 3 instead."""

CONSUMER_GROUP_MEMBER_METADATA = record_type("""
    ConsumerGroupMemberMetadata 5
    key
        groupId string
        memberId string
    value
        instanceId string null
        rackId string null
        clientId string
        clientHost string
        subscribedTopicNames string[]
        subscribedTopicRegex string null
        rebalanceTimeoutMs int32
        serverAssignor string null
        classicMemberMetadata {} null tag=0
            sessionTimeoutMs int32
            supportedProtocols {}[]
                name string
                metadata bytes
""")

CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA = record_type("""
    ConsumerGroupTargetAssignmentMetadata 6
    key
        groupId string
    value
        assignmentEpoch int32
        assignmentTimestamp int64 tag=0
""")

CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER = record_type("""
    ConsumerGroupTargetAssignmentMember 7
    key
        groupId string
        memberId string
    value
        topicPartitions {}[]
            topicId uuid
            partitions int32[]
""")

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT = record_type("""
    ConsumerGroupCurrentMemberAssignment 8
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
            assignmentEpochs int32[] null tag=0
        partitionsPendingRevocation assignedPartitions[]
""")
"""Kafka 4.3 stores the epoch at which each partition was assigned (KIP-1251); older versions do not."""

CONSUMER_GROUP_REGULAR_EXPRESSION = record_type("""
    ConsumerGroupRegularExpression 16
    key
        groupId string
        regularExpression string
    value
        topics string[]
        version int64
        timestamp int64
""")

CONSUMER_GROUP_HEARTBEAT = api("""
    ConsumerGroupHeartbeat 68 0-1
    request
        groupId string
        memberId string
        memberEpoch int32
        instanceId string null default=null
        rackId string null default=null
        rebalanceTimeoutMs int32 default=-1
        subscribedTopicNames string[] null default=null
        subscribedTopicRegex string 1+ null default=null
        serverAssignor string null default=null
        topicPartitions {}[] null
            topicId uuid
            partitions int32[]
        clientAssignors {}[] tag=848000 null default=null
            name string
            minimumVersion int16
            maximumVersion int16
            reason int8
            metadataVersion int16
            metadataBytes bytes
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null default=null
        memberId string null default=null
        memberEpoch int32
        heartbeatIntervalMs int32
        shouldComputeAssignment bool tag=848000
        assignment {} null default=null
            topicPartitions {}[]
                topicId uuid
                partitions int32[]
            error int8 tag=848000
            metadataVersion int16 tag=848001
            metadataBytes bytes tag=848002 null default=null
""")
"""The tagged fields are KIP-848's of client-side assignors, which Kafka never released and skips."""

CONSUMER_GROUP_DESCRIBE = api("""
    ConsumerGroupDescribe 69 0-1 since=3.7
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
                instanceId string null default=null
                rackId string null default=null
                memberEpoch int32
                clientId string
                clientHost string
                subscribedTopicNames string[]
                subscribedTopicRegex string null default=null
                assignment {}
                    topicPartitions {}[]
                        topicId uuid
                        topicName string
                        partitions int32[]
                    error int8 tag=848000
                    metadataVersion int16 tag=848001
                    metadataBytes bytes tag=848002 null default=null
                targetAssignment assignment
                memberType int8 1+ default=-1
            authorizedOperations int32 default=-2147483648
""")

# KIP-848's requests of a member that computes its group's assignment, which Kafka never released. The fields are the
# KIP's; it defines no keys, and the keys here are far above Kafka's. Metadata may be null if an assignor has none.
CONSUMER_GROUP_PREPARE_ASSIGNMENT = api("""
    ConsumerGroupPrepareAssignment 31011 0
    request
        groupId string
        memberId string
        memberEpoch int32
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null default=null
        groupEpoch int32
        assignorName string
        members {}[]
            memberId string
            memberEpoch int32
            instanceId string null
            rackId string null
            subscribedTopicIds uuid[]
            assignor {}
                reason int8
                metadataVersion int16
                metadataBytes bytes
            topicPartitions {}[]
                topicId uuid
                partitions int32[]
        topics {}[]
            topicId uuid
            topicName string
            numPartitions int32
""")

CONSUMER_GROUP_INSTALL_ASSIGNMENT = api("""
    ConsumerGroupInstallAssignment 31012 0
    request
        groupId string
        memberId string
        memberEpoch int32
        groupEpoch int32
        error int8
        members {}[]
            memberId string
            partitions {}[]
                topicId uuid
                partitions int32[]
            metadataVersion int32
            metadataBytes bytes null
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null default=null
""")
