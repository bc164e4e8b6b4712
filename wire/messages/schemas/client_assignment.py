"""KIP-848's requests of a member that computes its group's assignment, which Kafka never shipped.

The fields are the document's; it leaves the keys open, and these are far above Kafka's. Metadata may be null: the
assignor has nothing to say to a member. What a heartbeat says of client-side assignors is in its tagged fields
(`consumer_groups`).
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
