"""Streams groups (KIP-1071): record types 17 and 19 to 23, and the request. There is no type 18."""

from wire.messages.definition import api, record_type

STREAMS_GROUP_METADATA = record_type("""
    StreamsGroupMetadata 17
    key
        groupId string
    value
        epoch int32
        metadataHash int64
        validatedTopologyEpoch int32 tag=0 default=-1
        lastAssignmentConfigs {}[] null tag=1
            key string
            value string
        storedDescriptionTopologyEpoch int32 tag=2 default=-1
        failedDescriptionTopologyEpoch int32 tag=3 default=-1
""")

STREAMS_GROUP_MEMBER_METADATA = record_type("""
    StreamsGroupMemberMetadata 19
    key
        groupId string
        memberId string
    value
        instanceId string null
        rackId string null
        clientId string
        clientHost string
        rebalanceTimeoutMs int32
        topologyEpoch int32
        processId string
        userEndpoint {} null
            host string
            port uint16
        clientTags {}[]
            key string
            value string
""")

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA = record_type("""
    StreamsGroupTargetAssignmentMetadata 20
    key
        groupId string
    value
        assignmentEpoch int32
        assignmentTimestamp int64 tag=0
""")

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER = record_type("""
    StreamsGroupTargetAssignmentMember 21
    key
        groupId string
        memberId string
    value
        activeTasks {}[]
            subtopologyId string
            partitions int32[]
        standbyTasks activeTasks[]
        warmupTasks activeTasks[]
""")

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT = record_type("""
    StreamsGroupCurrentMemberAssignment 22
    key
        groupId string
        memberId string
    value
        memberEpoch int32
        previousMemberEpoch int32
        state int8
        activeTasks {}[]
            subtopologyId string
            partitions int32[]
            assignmentEpochs int32[] null tag=0
        standbyTasks activeTasks[]
        warmupTasks activeTasks[]
        activeTasksPendingRevocation activeTasks[]
        standbyTasksPendingRevocation activeTasks[]
        warmupTasksPendingRevocation activeTasks[]
""")

STREAMS_GROUP_TOPOLOGY = record_type("""
    StreamsGroupTopology 23
    key
        groupId string
    value
        epoch int32
        subtopologies {}[]
            subtopologyId string
            sourceTopics string[]
            sourceTopicRegex string[]
            stateChangelogTopics {}[]
                name string
                partitions int32
                replicationFactor int16
                topicConfigs {}[]
                    key string
                    value string
            repartitionSinkTopics string[]
            repartitionSourceTopics stateChangelogTopics[]
            copartitionGroups {}[]
                sourceTopics int16[]
                sourceTopicRegex int16[]
                repartitionSourceTopics int16[]
""")

STREAMS_GROUP_DESCRIBE = api("""
    StreamsGroupDescribe 89 0-1 since=4.1
    request
        groupIds string[]
        includeAuthorizedOperations bool
        includeTopologyDescription bool 1+ default=false
    response
        throttleTimeMs int32 default=0
        groups {}[]
            errorCode int16
            errorMessage string null default=null
            groupId string
            groupState string
            groupEpoch int32
            assignmentEpoch int32
            topology {} null default=null
                epoch int32
                subtopologies {}[] null
                    subtopologyId string
                    sourceTopics string[]
                    repartitionSinkTopics string[]
                    stateChangelogTopics {}[]
                        name string
                        partitions int32
                        replicationFactor int16
                        topicConfigs {}[]
                            key string
                            value string
                    repartitionSourceTopics stateChangelogTopics[]
            members {}[]
                memberId string
                memberEpoch int32
                instanceId string null default=null
                rackId string null default=null
                clientId string
                clientHost string
                topologyEpoch int32
                processId string
                userEndpoint {} null default=null
                    host string
                    port uint16
                clientTags {}[]
                    key string
                    value string
                taskOffsets {}[]
                    subtopologyId string
                    partition int32
                    offset int64
                taskEndOffsets taskOffsets[]
                assignment {}
                    activeTasks {}[]
                        subtopologyId string
                        partitions int32[]
                    standbyTasks activeTasks[]
                    warmupTasks activeTasks[]
                targetAssignment assignment
                isClassic bool
            authorizedOperations int32 default=-2147483648
            topologyDescription {} 1+ null default=null
                subtopologies {}[]
                    subtopologyId string
                    nodes {}[]
                        name string
                        nodeType int8
                        sourceTopics string[]
                        sinkTopic string null default=null
                        stores string[]
                        successors string[]
                globalStores {}[]
                    source {}
                        name string
                        nodeType int8
                        sourceTopics string[]
                        sinkTopic string null default=null
                        stores string[]
                        successors string[]
                    processor source
            topologyDescriptionStatus int8 1+ default=0
            assignorName string 1+ null default=null
""")

STREAMS_GROUP_HEARTBEAT = api("""
    StreamsGroupHeartbeat 88 0 since=4.1
    request
        groupId string
        memberId string
        memberEpoch int32
        endpointInformationEpoch int32
        instanceId string null default=null
        rackId string null default=null
        rebalanceTimeoutMs int32 default=-1
        topology {} null default=null
            epoch int32
            subtopologies {}[]
                subtopologyId string
                sourceTopics string[]
                sourceTopicRegex string[]
                stateChangelogTopics {}[]
                    name string
                    partitions int32
                    replicationFactor int16
                    topicConfigs {}[]
                        key string
                        value string
                repartitionSinkTopics string[]
                repartitionSourceTopics stateChangelogTopics[]
                copartitionGroups {}[]
                    sourceTopics int16[]
                    sourceTopicRegex int16[]
                    repartitionSourceTopics int16[]
        activeTasks {}[] null default=null
            subtopologyId string
            partitions int32[]
        standbyTasks activeTasks[] null default=null
        warmupTasks activeTasks[] null default=null
        processId string null default=null
        userEndpoint {} null default=null
            host string
            port uint16
        clientTags {}[] null default=null
            key string
            value string
        taskOffsets {}[] null default=null
            subtopologyId string
            partition int32
            offset int64
        taskEndOffsets taskOffsets[] null default=null
        shutdownApplication bool default=false
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null default=null
        memberId string
        memberEpoch int32
        heartbeatIntervalMs int32
        acceptableRecoveryLag int32
        taskOffsetIntervalMs int32
        status {}[] null default=null
            statusCode int8
            statusDetail string
        activeTasks {}[] null default=null
            subtopologyId string
            partitions int32[]
        standbyTasks activeTasks[] null default=null
        warmupTasks activeTasks[] null default=null
        endpointInformationEpoch int32
        partitionsByUserEndpoint {}[] null default=null
            userEndpoint {}
                host string
                port uint16
            activePartitions {}[]
                topic string
                partitions int32[]
            standbyPartitions activePartitions[]
""")
