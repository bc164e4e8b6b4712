"""Creating and deleting topics."""

from wire.messages.definition import api

CREATE_TOPICS = api("""
    CreateTopics 19 2-7 flexible=5
    request
        topics {}[]
            name string
            numPartitions int32
            replicationFactor int16
            assignments {}[]
                partitionIndex int32
                brokerIds int32[]
            configs {}[]
                name string
                value string null
        timeoutMs int32 default=60000
        validateOnly bool default=false
    response
        throttleTimeMs int32 default=0
        topics {}[]
            name string
            topicId uuid 7+
            errorCode int16
            errorMessage string null
            topicConfigErrorCode int16 5+ tag=0
            numPartitions int32 5+ default=-1
            replicationFactor int16 5+ default=-1
            configs {}[] 5+ null
                name string
                value string null
                readOnly bool
                configSource int8 default=-1
                isSensitive bool
""")

DELETE_TOPICS = api("""
    DeleteTopics 20 1-6 flexible=4
    request
        topicNames string[] 1-5
        topics {}[] 6+
            name string null default=null
            topicId uuid
        timeoutMs int32
    response
        throttleTimeMs int32 default=0
        responses {}[]
            name string null=6+
            topicId uuid 6+
            errorCode int16
            errorMessage string 5+ null default=null
""")

CREATE_PARTITIONS = api("""
    CreatePartitions 37 0-3 flexible=2
    request
        topics {}[]
            name string
            count int32
            assignments {}[] null
                brokerIds int32[]
        timeoutMs int32
        validateOnly bool
    response
        throttleTimeMs int32 default=0
        results {}[]
            name string
            errorCode int16
            errorMessage string null default=null
""")
