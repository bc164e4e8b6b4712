"""Make topics on a test broker, and set dynamic settings of topics and groups."""

from collections.abc import Mapping

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic

from tests.kafka.broker import RunningBroker
from tests.kafka.members import fresh_name
from tests.kafka.wait import wait_until


def create_topics(broker: RunningBroker, partitions: Mapping[str, int]) -> None:
    """Create topics, by name and number of partitions, and return when the broker shows them with leaders: the
    controller's answer comes before, and a regex that is resolved in between is not looked at again for ten seconds."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    futures = admin.create_topics([NewTopic(name, count, 1) for name, count in partitions.items()])
    for future in futures.values():
        future.result()

    def shown() -> bool:
        topics = admin.list_topics(timeout=10).topics
        led = {name: sum(one.leader >= 0 for one in it.partitions.values()) for name, it in topics.items()}
        return all(led.get(name) == count for name, count in partitions.items())

    wait_until(shown, f"the broker shows {sorted(partitions)}", every_s=0.01)


def delete_topic(broker: RunningBroker, name: str) -> None:
    """Delete a topic, and return when the broker does not show it any more: until then it takes commits for it."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.delete_topics([name], operation_timeout=10)[name].result()
    wait_until(lambda: name not in admin.list_topics(timeout=10).topics, f"{name} is gone", every_s=0.01)


def delete_records(broker: RunningBroker, offsets: Mapping[tuple[str, int], int]) -> None:
    """Delete what is before these offsets, by (topic, partition)."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    places = [TopicPartition(*partition, offset) for partition, offset in offsets.items()]
    for future in admin.delete_records(places).values():
        future.result()


def fresh_topic(broker: RunningBroker, partitions: int = 1, prefix: str = "orders") -> str:
    """Make a topic that no other test uses; its name."""
    name = fresh_name(prefix)
    create_topics(broker, {name: partitions})
    return name


def set_config(broker: RunningBroker, kind: ResourceType, name: str, settings: Mapping[str, str]) -> None:
    """Set some settings of a topic or a group; the others stay."""
    entries = [
        ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        for key, value in settings.items()
    ]
    resource = ConfigResource(kind, name, incremental_configs=entries)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for future in admin.incremental_alter_configs([resource]).values():
        future.result()
