"""Records of `__cluster_metadata` (KRaft), by their number: `common/metadata` of kafka-metadata 4.4.0. A bool is an
int8 here."""

from collections.abc import Mapping

from wire.messages.definition import message
from wire.messages.layout import Message

REGISTER_BROKER = 0
UNREGISTER_BROKER = 1
TOPIC = 2
PARTITION = 3
CONFIG = 4
PARTITION_CHANGE = 5
REMOVE_TOPIC = 9
FEATURE_LEVEL = 12
BEGIN_TRANSACTION = 23
END_TRANSACTION = 24
ABORT_TRANSACTION = 25

METADATA_RECORDS: Mapping[int, Message] = {
    REGISTER_BROKER: message("""
        RegisterBrokerRecord newest=4
        fields
            brokerId int32
            isMigratingZkBroker int8 2+
            incarnationId uuid
            brokerEpoch int64
            endPoints {}[]
                name string
                host string
                port uint16
                securityProtocol int16
            features {}[]
                name string
                minSupportedVersion int16
                maxSupportedVersion int16
            rack string null
            fenced int8 default=1
            inControlledShutdown int8 1+
            logDirs uuid[] 3+ tag=0
            cordonedLogDirs uuid[] 4+ null tag=1
    """),
    UNREGISTER_BROKER: message("""
        UnregisterBrokerRecord
        fields
            brokerId int32
            brokerEpoch int64
    """),
    TOPIC: message("""
        TopicRecord
        fields
            name string
            topicId uuid
    """),
    PARTITION: message("""
        PartitionRecord newest=2
        fields
            partitionId int32
            topicId uuid
            replicas int32[]
            isr int32[]
            removingReplicas int32[]
            addingReplicas int32[]
            leader int32
            leaderRecoveryState int8 tag=0
            leaderEpoch int32
            partitionEpoch int32
            directories uuid[] 1+
            eligibleLeaderReplicas int32[] 2+ null tag=1
            lastKnownElr int32[] 2+ null tag=2
    """),
    CONFIG: message("""
        ConfigRecord
        fields
            resourceType int8
            resourceName string
            name string
            value string null
    """),
    PARTITION_CHANGE: message("""
        PartitionChangeRecord newest=2
        fields
            partitionId int32
            topicId uuid
            isr int32[] null tag=0
            leader int32 tag=1
            replicas int32[] null tag=2
            removingReplicas int32[] null tag=3
            addingReplicas int32[] null tag=4
            leaderRecoveryState int8 tag=5
            eligibleLeaderReplicas int32[] 2+ null tag=6
            lastKnownElr int32[] 2+ null tag=7
            directories uuid[] 1+ null tag=8
    """),
    REMOVE_TOPIC: message("""
        RemoveTopicRecord
        fields
            topicId uuid
    """),
    FEATURE_LEVEL: message("""
        FeatureLevelRecord
        fields
            name string
            featureLevel int16
    """),
    BEGIN_TRANSACTION: message("""
        BeginTransactionRecord
        fields
            name string null tag=0
    """),
    END_TRANSACTION: message("""
        EndTransactionRecord
        fields
    """),
    ABORT_TRANSACTION: message("""
        AbortTransactionRecord
        fields
            reason string null tag=0
    """),
}
