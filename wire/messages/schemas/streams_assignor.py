"""What Kafka Streams' assignor puts into the user data of the embedded protocol, on classic groups: see
`wire.messages.streams_assignor`. SubscriptionInfo is a message of Kafka's definitions; AssignmentInfo is not, but has
the same form: its texts have a length of two bytes, and names of topologies are UTF-16 with a length of four."""

from wire.messages.definition import message

SUBSCRIPTION_INFO = message("""
    SubscriptionInfo newest=11 flexible=never
    fields
        version int32
        latestSupportedVersion int32 3+ default=-1
        processId uuid
        prevTasks {}[] 1-6
            topicGroupId int32
            partition int32
        standbyTasks prevTasks[] 1-6
        userEndPoint bytes 2+
        taskOffsetSums {}[] 7+
            topicGroupId int32
            partition int32 10+
            offsetSum int64 10+
            namedTopology string 10+ null
            partitionToOffsetSum {}[] 7-9
                partition int32
                offsetSum int64
        uniqueField int8 8+
        errorCode int32 9+
        clientTags {}[] 11+
            key bytes
            value bytes
""")

ASSIGNMENT_INFO = message("""
    AssignmentInfo newest=11 flexible=never
    fields
        version int32
        commonlySupportedVersion int32 3+ default=-1
        activeTasks {}[]
            topicGroupId int32
            partition int32
            namedTopology uint16[] 10+
        standbyTasks {}[]
            topicGroupId int32
            partition int32
            namedTopology uint16[] 10+
            partitions {}[]
                topic string
                partition int32
        partitionsByHost {}[] 2-4
            host string
            port int32
            partitions {}[]
                topic string
                partition int32
        topics {}[] 5+
            index int32
            topic string
        indexesByHost {}[] 5+
            host string
            port int32
            partitions {}[]
                index int32
                partition int32
        standbyIndexesByHost indexesByHost[] 6+
        errorCode int32 4+
        nextRebalanceMs int64 7+ default=9223372036854775807
""")
