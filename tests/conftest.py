"""What the tests of every folder share."""

import pytest
from hypothesis import settings

from tests.support.chance import IS_DRAWN_ANEW

pytest_plugins = ["tests.kafka.plugin", "tests.coordinator.storage.plugin"]

# How long an example takes says how busy the machine is; what must be fast is measured in benchmarks/.
settings.register_profile("kohort", deadline=None, derandomize=not IS_DRAWN_ANEW)
settings.load_profile("kohort")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that wait for a real Kafka first: at the end all processes shall have something to compute."""
    waiting = {item.path for item in items if "kafka_jars" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path not in waiting)
