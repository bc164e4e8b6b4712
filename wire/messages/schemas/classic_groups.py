"""Classic groups: record type 2, the embedded protocol of consumers inside it, and the requests of members."""

from wire.messages.definition import api, message, record_type

GROUP_METADATA = record_type("""
    GroupMetadata 2 newest=4 flexible=4 written=3
    key
        group string
    value
        protocolType string
        generation int32
        protocol string null
        leader string null
        currentStateTimestamp int64 2+
        members {}[]
            memberId string
            groupInstanceId string 3+ null
            clientId string
            clientHost string
            rebalanceTimeout int32 1+
            sessionTimeout int32
            subscription bytes
            assignment bytes
""")
"""Kafka 4.4 reads version 4 and writes version 3."""

SUBSCRIPTION = message("""
    ConsumerProtocolSubscription newest=3 flexible=never
    fields
        topics string[]
        userData bytes null
        ownedPartitions {}[] 1+ newest=3
            topic string
            partitions int32[]
        generationId int32 2+ default=-1
        rackId string 3+ null default=null
""")

ASSIGNMENT = message("""
    ConsumerProtocolAssignment newest=3 flexible=never
    fields
        assignedPartitions {}[] newest=3
            topic string
            partitions int32[]
        userData bytes null
""")

JOIN_GROUP = api("""
    JoinGroup 11 0-9 flexible=6
    request
        groupId string
        sessionTimeoutMs int32
        rebalanceTimeoutMs int32 1+ default=-1
        memberId string
        groupInstanceId string 5+ null default=null
        protocolType string
        protocols {}[]
            name string
            metadata bytes
        reason string 8+ null default=null
    response
        throttleTimeMs int32 2+ default=0
        errorCode int16
        generationId int32 default=-1
        protocolType string 7+ null default=null
        protocolName string null=7+
        leader string
        skipAssignment bool 9+ default=false
        memberId string
        members {}[]
            memberId string
            groupInstanceId string 5+ null default=null
            metadata bytes
""")

SYNC_GROUP = api("""
    SyncGroup 14 0-5 flexible=4
    request
        groupId string
        generationId int32
        memberId string
        groupInstanceId string 3+ null default=null
        protocolType string 5+ null default=null
        protocolName string 5+ null default=null
        assignments {}[]
            memberId string
            assignment bytes
    response
        throttleTimeMs int32 1+ default=0
        errorCode int16
        protocolType string 5+ null default=null
        protocolName string 5+ null default=null
        assignment bytes
""")

HEARTBEAT = api("""
    Heartbeat 12 0-4 flexible=4
    request
        groupId string
        generationId int32
        memberId string
        groupInstanceId string 3+ null default=null
    response
        throttleTimeMs int32 1+ default=0
        errorCode int16
""")

LEAVE_GROUP = api("""
    LeaveGroup 13 0-5 flexible=4
    request
        groupId string
        memberId string 0-2
        members {}[] 3+
            memberId string
            groupInstanceId string null default=null
            reason string 5+ null default=null
    response
        throttleTimeMs int32 1+ default=0
        errorCode int16
        members {}[] 3+
            memberId string
            groupInstanceId string null
            errorCode int16
""")

DESCRIBE_GROUPS = api("""
    DescribeGroups 15 0-6 flexible=5
    request
        groups string[]
        includeAuthorizedOperations bool 3+
    response
        throttleTimeMs int32 1+ default=0
        groups {}[]
            errorCode int16
            errorMessage string 6+ null default=null
            groupId string
            groupState string
            protocolType string
            protocolData string
            members {}[]
                memberId string
                groupInstanceId string 4+ null default=null
                clientId string
                clientHost string
                memberMetadata bytes
                memberAssignment bytes
            authorizedOperations int32 3+ default=-2147483648
""")
