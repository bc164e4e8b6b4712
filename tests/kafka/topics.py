"""Make topics on a test broker."""

from collections.abc import Mapping

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.kafka.broker import Broker


def create_topics(broker: Broker, partitions: Mapping[str, int]) -> None:
    """Create topics, `partitions` saying how many each has, and return when the broker has them.

    Raises:
        KafkaException: the broker refused one, for instance because it is there.
    """
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    futures = admin.create_topics([NewTopic(name, count, 1) for name, count in partitions.items()])
    for future in futures.values():
        future.result()
