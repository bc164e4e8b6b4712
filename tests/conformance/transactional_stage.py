"""A server and a topic on it, with clients of librdkafka that use transactions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec  # type: ignore[attr-defined]

from tests.kafka.members import fresh_name

TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A server, and a topic of one partition on it."""

    bootstrap: str
    topic: str

    def create(self, *topics: str) -> None:
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        for made in admin.create_topics([NewTopic(name, 1, 1) for name in topics]).values():
            made.result(TIMEOUT_S)

    def producer(self, transactional_id: str, **settings: Any) -> Producer:
        # Some outlive their server, and say so again and again.
        fields = {"transactional.id": transactional_id, "log_level": 0, **settings}
        producer = Producer({"bootstrap.servers": self.bootstrap, **fields})
        producer.init_transactions(TIMEOUT_S)
        return producer

    def transact(self, producer: Producer, *values: str, commit: bool = True) -> None:
        producer.begin_transaction()
        for value in values:
            producer.produce(self.topic, value)
        assert producer.flush(TIMEOUT_S) == 0
        (producer.commit_transaction if commit else producer.abort_transaction)(TIMEOUT_S)

    def consumer(self, group: str, isolation: str = "read_committed") -> Consumer:
        reading = {"auto.offset.reset": "earliest", "enable.auto.commit": False, "enable.partition.eof": True}
        at = {"bootstrap.servers": self.bootstrap, "group.id": group, "isolation.level": isolation}
        return Consumer({**at, **reading})

    def values(self, isolation: str, topic: str | None = None) -> list[str]:
        consumer = self.consumer(fresh_name("reader"), isolation)
        consumer.assign([TopicPartition(topic or self.topic, 0, 0)])
        try:
            return list(_up_to_the_end(consumer))
        finally:
            consumer.close()

    def end(self, isolation: IsolationLevel) -> int:
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        asked = {TopicPartition(self.topic, 0): OffsetSpec.latest()}  # type: ignore[no-untyped-call]
        (future,) = admin.list_offsets(asked, isolation_level=isolation).values()
        return int(future.result(TIMEOUT_S).offset)

    def committed(self, group: str) -> int:
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        asked = ConsumerGroupTopicPartitions(group, [TopicPartition(self.topic, 0)])
        (future,) = admin.list_consumer_group_offsets([asked], require_stable=True).values()
        return int(future.result(TIMEOUT_S).topic_partitions[0].offset)


def _up_to_the_end(consumer: Consumer) -> Iterator[str]:
    while True:
        message = consumer.poll(TIMEOUT_S)
        assert message is not None, "the end is not reached"
        error = message.error()
        if error is not None:
            assert error.code() == KafkaError._PARTITION_EOF, error
            return
        yield (message.value() or b"").decode()
