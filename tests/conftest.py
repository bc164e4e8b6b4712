"""What the tests of every folder share."""

from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.chance import IS_DRAWN_ANEW

pytest_plugins = ["tests.kafka.plugin", "tests.coordinator.store.plugin"]

# How long an example takes says how busy the machine is; what must be fast is measured in benchmarks/.
settings.register_profile("kohort", deadline=None, derandomize=not IS_DRAWN_ANEW)
settings.load_profile("kohort")


SPARK_TIMEOUT_S = 900
"""For a test with sessions of Spark, which share two cores with others; it is there to end what hangs."""
SPARK_TESTS = Path(__file__).parent / "pipeline"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that wait for a real Kafka first: at the end all processes shall have something to compute."""
    for item in items:
        if item.path.is_relative_to(SPARK_TESTS) or "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(SPARK_TIMEOUT_S))
    waiting = {item.path for item in items if "kafka_jars" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path not in waiting)
