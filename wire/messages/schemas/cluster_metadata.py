"""Records of `__cluster_metadata` (KRaft) that tell of topics, partitions, racks and features, by their number.

Source: the `common/metadata` definitions of kafka-metadata 4.3.1. Kafka's bool is an int8 here.
"""

from collections.abc import Mapping

from wire.messages.schema import Array, Field, Message, Scalar, Struct
from wire.messages.schemas.common import INT32S

UUIDS = Array(Scalar.UUID)

REGISTER_BROKER = 0
UNREGISTER_BROKER = 1
TOPIC = 2
PARTITION = 3
PARTITION_CHANGE = 5
REMOVE_TOPIC = 9
FEATURE_LEVEL = 12
BEGIN_TRANSACTION = 23
END_TRANSACTION = 24
ABORT_TRANSACTION = 25

_ENDPOINT = Struct(
    Field("name", Scalar.STRING),
    Field("host", Scalar.STRING),
    Field("port", Scalar.UINT16),
    Field("securityProtocol", Scalar.INT16),
)

_FEATURE = Struct(
    Field("name", Scalar.STRING),
    Field("minSupportedVersion", Scalar.INT16),
    Field("maxSupportedVersion", Scalar.INT16),
)

_REGISTER_BROKER = Struct(
    Field("brokerId", Scalar.INT32),
    Field("isMigratingZkBroker", Scalar.INT8, since=2),
    Field("incarnationId", Scalar.UUID),
    Field("brokerEpoch", Scalar.INT64),
    Field("endPoints", Array(_ENDPOINT)),
    Field("features", Array(_FEATURE)),
    Field("rack", Scalar.STRING, nullable=True),
    Field("fenced", Scalar.INT8, default=1),
    Field("inControlledShutdown", Scalar.INT8, since=1),
    Field("logDirs", UUIDS, since=3, tag=0),
    Field("cordonedLogDirs", UUIDS, since=4, nullable=True, tag=1),
)

_PARTITION = Struct(
    Field("partitionId", Scalar.INT32),
    Field("topicId", Scalar.UUID),
    Field("replicas", INT32S),
    Field("isr", INT32S),
    Field("removingReplicas", INT32S),
    Field("addingReplicas", INT32S),
    Field("leader", Scalar.INT32),
    Field("leaderRecoveryState", Scalar.INT8, tag=0),
    Field("leaderEpoch", Scalar.INT32),
    Field("partitionEpoch", Scalar.INT32),
    Field("directories", UUIDS, since=1),
    Field("eligibleLeaderReplicas", INT32S, since=2, nullable=True, tag=1),
    Field("lastKnownElr", INT32S, since=2, nullable=True, tag=2),
)

_PARTITION_CHANGE = Struct(
    Field("partitionId", Scalar.INT32),
    Field("topicId", Scalar.UUID),
    Field("isr", INT32S, nullable=True, tag=0),
    Field("leader", Scalar.INT32, tag=1),
    Field("replicas", INT32S, nullable=True, tag=2),
    Field("removingReplicas", INT32S, nullable=True, tag=3),
    Field("addingReplicas", INT32S, nullable=True, tag=4),
    Field("leaderRecoveryState", Scalar.INT8, tag=5),
    Field("eligibleLeaderReplicas", INT32S, since=2, nullable=True, tag=6),
    Field("lastKnownElr", INT32S, since=2, nullable=True, tag=7),
    Field("directories", UUIDS, since=1, nullable=True, tag=8),
)

METADATA_RECORDS: Mapping[int, Message] = {
    REGISTER_BROKER: Message(name="RegisterBrokerRecord", struct=_REGISTER_BROKER, newest=4),
    UNREGISTER_BROKER: Message(
        name="UnregisterBrokerRecord",
        struct=Struct(Field("brokerId", Scalar.INT32), Field("brokerEpoch", Scalar.INT64)),
    ),
    TOPIC: Message(
        name="TopicRecord", struct=Struct(Field("name", Scalar.STRING), Field("topicId", Scalar.UUID))
    ),
    PARTITION: Message(name="PartitionRecord", struct=_PARTITION, newest=2),
    PARTITION_CHANGE: Message(name="PartitionChangeRecord", struct=_PARTITION_CHANGE, newest=2),
    REMOVE_TOPIC: Message(name="RemoveTopicRecord", struct=Struct(Field("topicId", Scalar.UUID))),
    FEATURE_LEVEL: Message(
        name="FeatureLevelRecord",
        struct=Struct(Field("name", Scalar.STRING), Field("featureLevel", Scalar.INT16)),
    ),
    BEGIN_TRANSACTION: Message(
        name="BeginTransactionRecord", struct=Struct(Field("name", Scalar.STRING, nullable=True, tag=0))
    ),
    END_TRANSACTION: Message(name="EndTransactionRecord", struct=Struct()),
    ABORT_TRANSACTION: Message(
        name="AbortTransactionRecord", struct=Struct(Field("reason", Scalar.STRING, nullable=True, tag=0))
    ),
}
