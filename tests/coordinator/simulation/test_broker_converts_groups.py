"""What a real broker makes of a downgrade followed by a restart, and of an upgrade before the first generation."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator, wait_topics_known
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask
from tests.support.long import LONG
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import EmbeddedSubscription, read_assignment, write_subscription

pytestmark = [pytest.mark.kafka, LONG]

TOPICS = {"orders": 2}
LONG_MS = 60_000
DELAY_MS = 3_000  # How long a group that was empty waits for more members
RANGE = {"name": "range", "metadata": write_subscription(EmbeddedSubscription(version=0, topics=("orders",)))}
JOINING: dict[str, Any] = {
    "session_timeout": LONG_MS,
    "rebalance_timeout": LONG_MS,
    "protocol_type": "consumer",
    "protocols": [RANGE],
}
BEATING: dict[str, Any] = {"member_id": "b", "instance_id": None, "rack_id": None, "server_assignor": None}
BEATING |= {"subscribed_topic_names": None, "subscribed_topic_regex": None, "topic_partitions": None}
STARTING = {
    "member_epoch": 0,
    "rebalance_timeout": LONG_MS,
    "subscribed_topic_names": ["orders"],
    "topic_partitions": [],
}
LEAVING = {"member_epoch": -1, "rebalance_timeout": -1}


@pytest.fixture
def broker(kafka_jars: Path, tmp_path: Path) -> Iterator[Broker]:
    """A broker that may be restarted."""
    broker = Broker(kafka_jars, tmp_path, {"group.initial.rebalance.delay.ms": str(DELAY_MS)})
    broker.start()
    try:
        wait_for_coordinator(broker)
        create_topics(broker, TOPICS)
        wait_topics_known(broker, "g", TOPICS)
        yield broker
    finally:
        broker.crash()


def _state(broker: Broker) -> str:
    """Of the classic group; empty while the coordinator loads."""
    (group,) = ask(broker.port, "DescribeGroups", 5, groups=["g"]).groups
    return str(group.group_state) if group.error_code == 0 else ""


def test_a_broker_forgets_that_a_downgraded_group_is_to_rebalance(broker: Broker) -> None:
    ask(broker.port, "ConsumerGroupHeartbeat", 1, group_id="g", **{**BEATING, **STARTING})
    joined = ask(broker.port, "JoinGroup", 3, group_id="g", **JOINING)
    member: dict[str, Any] = {
        "group_id": "g",
        "generation_id": joined.generation_id,
        "member_id": joined.member_id,
    }
    ask(broker.port, "SyncGroup", 2, **member)
    ask(broker.port, "ConsumerGroupHeartbeat", 1, group_id="g", **{**BEATING, **LEAVING})
    assert ask(broker.port, "Heartbeat", 3, **member).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert _state(broker) == "PreparingRebalance"

    broker.crash()
    broker.start()
    assert wait_until(lambda: _state(broker), "the group is loaded") == "Stable"
    assert ask(broker.port, "Heartbeat", 3, **member).error_code == ErrorCode.NONE
    assigned = read_assignment(ask(broker.port, "SyncGroup", 2, **member).assignment)
    assert {topic: len(numbers) for topic, numbers in assigned.partitions.items()} == {"orders": 1}


def test_a_broker_fails_to_upgrade_a_group_that_has_no_generation(broker: Broker) -> None:
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(
            ask, broker.port, "JoinGroup", 5, group_id="g", **JOINING, group_instance_id="i"
        )
        wait_until(lambda: _state(broker) == "PreparingRebalance", "the member waits")
        answer = ask(broker.port, "ConsumerGroupHeartbeat", 1, group_id="g", **{**BEATING, **STARTING})
        assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
        assert waiting.result().error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert "java.util.NoSuchElementException: No value present" in broker.log.read_text(errors="replace")
