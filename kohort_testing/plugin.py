"""The pytest plugin: `kohort_broker`, `kohort_session_broker`, and the marker with their options."""

import gc
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from kohort_testing.broker import KohortBroker

MARKER = "kohort_broker"


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(*, brokers=1, topics={{}}, config={{}}): options of the test's kohort_broker: "
        "partitions by topic, and settings by the broker's names.",
    )


@pytest.fixture
def kohort_broker(request: pytest.FixtureRequest) -> Iterator[KohortBroker]:
    """A broker for this test only, in memory, on any free port."""
    marker = request.node.get_closest_marker(MARKER)
    with KohortBroker(**_options({} if marker is None else marker.kwargs)) as broker:
        yield broker
        # A consumer of librdkafka that was not closed may wait forever once its broker is gone.
        gc.collect()


@pytest.fixture(scope="session")
def kohort_session_options() -> Mapping[str, object]:
    """The options of `kohort_session_broker`: override it in a conftest.py."""
    return {}


@pytest.fixture(scope="session")
def kohort_session_broker(kohort_session_options: Mapping[str, object]) -> Iterator[KohortBroker]:
    """A broker for all tests: use separate topics and groups in each, and clear its faults."""
    with KohortBroker(**_options(kohort_session_options)) as broker:
        yield broker


def _options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    unknown = options.keys() - {"brokers", "topics", "config"}
    if unknown:
        raise pytest.UsageError(
            f"kohort_broker has no option {', '.join(sorted(unknown))}; its options are brokers, topics and config"
        )
    return options
