"""The client libraries that applications are made with, and what each can do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.migration.end_to_end.application import Subscription

ASSIGNORS = "org.apache.kafka.clients.consumer."
COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
OFTEN_MS = "300"  # how often offsets are committed and topics looked up


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A row of the table. `library` is `java`, `librdkafka` or one of OTHERS. `regex`: how it subscribes to a regex: as
    a topic's name with `^`, by a `pattern` of the client's, by one of the broker's (`re2`); None where none is looked
    up again. `consumer` are the settings of the consumer protocol, for a classic client that has it; `metadata` is the
    setting of how old metadata may be. `gives_the_end`: so does its look-up of a time without a later record."""

    library: str
    settings: Mapping[str, str] = field(default_factory=dict)
    regex: str | None = "names"
    static: bool = True
    compressions: Sequence[str] = COMPRESSIONS
    consumer: Mapping[str, str] | None = None
    metadata: str | None = "metadata.max.age.ms"
    gives_the_end: bool = False

    @property
    def is_classic(self) -> bool:
        return self.settings.get("group.protocol") != "consumer"

    def subscription(self, prefix: str, topics: Sequence[str]) -> Subscription:
        """Subscribe to topics; SubscriptionPattern is used for them too where it is what the client is there for."""
        return self.matching(prefix) if self.regex == "re2" else Subscription(topics=topics)

    def matching(self, prefix: str) -> Subscription:
        """Subscribe to all topics whose names begin with `prefix`."""
        match self.regex:
            case "pattern":
                return Subscription(pattern=f"{prefix}.*")
            case "re2":
                return Subscription(re2=f"{prefix}.*")
            case _:
                return Subscription(topics=[f"^{prefix}.*"])


CONSUMER = {"group.protocol": "consumer"}
LIBRDKAFKA = "topic.metadata.refresh.interval.ms"
CLIENTS: Mapping[str, Client] = {
    "confluent-kafka eager": Client(
        library="librdkafka",
        settings={"partition.assignment.strategy": "range"},
        consumer=CONSUMER,
        metadata=LIBRDKAFKA,
    ),
    "confluent-kafka cooperative": Client(
        library="librdkafka",
        settings={"partition.assignment.strategy": "cooperative-sticky"},
        # Its user data keeps Kafka from the online migration: docs/bridge.md.
        metadata=LIBRDKAFKA,
    ),
    "confluent-kafka consumer": Client(library="librdkafka", settings=CONSUMER, metadata=LIBRDKAFKA),
    "Java eager": Client(library="java", regex="pattern", consumer=CONSUMER),
    "Java cooperative": Client(
        library="java",
        settings={"partition.assignment.strategy": ASSIGNORS + "CooperativeStickyAssignor"},
        regex="pattern",
        consumer=CONSUMER,
    ),
    "Java consumer": Client(library="java", settings=CONSUMER, regex="pattern"),
    "Java SubscriptionPattern": Client(library="java", settings=CONSUMER, regex="re2"),
    "kafka-python": Client(library="kafka-python"),
    "aiokafka": Client(library="aiokafka"),
    "franz-go": Client(library="franz-go"),
    "sarama": Client(library="sarama", regex=None, metadata=None),
    "kafkajs": Client(
        library="kafkajs", regex=None, static=False, compressions=("none", "gzip"), gives_the_end=True
    ),
}
