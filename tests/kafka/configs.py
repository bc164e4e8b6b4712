"""Set dynamic settings on a test broker."""

from collections.abc import Mapping

from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourceType

from tests.kafka.broker import RunningBroker


def set_config(broker: RunningBroker, kind: ResourceType, name: str, settings: Mapping[str, str]) -> None:
    """Set some settings of a topic or a group; the others stay.

    Raises:
        KafkaException: the broker refused.
    """
    entries = [
        ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        for key, value in settings.items()
    ]
    resource = ConfigResource(kind, name, incremental_configs=entries)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for future in admin.incremental_alter_configs([resource]).values():
        future.result()
