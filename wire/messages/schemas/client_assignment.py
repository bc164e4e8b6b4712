"""The requests of KIP-848 for a member that computes its group's assignment. Kafka never released them.

The fields are the KIP's; it defines no API keys, and the keys here are far above Kafka's. Metadata may be null if the
assignor has none for a member. The client-side assignors of a heartbeat are in its tagged fields (`consumer_groups`).
"""

from wire.messages.definition import api

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
