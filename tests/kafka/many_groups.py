"""Make thousands of groups of several types quickly, in one conversation on one plain connection for each type."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from kio.schema.errors import ErrorCode

from tests.conformance.messages import response_type
from tests.kafka.broker import RunningBroker
from tests.kafka.commits import commit_request, send_commits
from tests.kafka.wire import converse, framed

QUICK_COORDINATOR: Mapping[str, str] = {
    "group.coordinator.append.linger.ms": "0",
    "share.coordinator.append.linger.ms": "0",
}
"""Settings of a broker that does not hold back what one client alone writes."""
_REBALANCE_TIMEOUT_MS = timedelta(minutes=5) // timedelta(milliseconds=1)


def make_classic_groups(broker: RunningBroker, groups: Sequence[str], topic: str, partitions: int) -> None:
    """Groups that have only ever committed offsets, of partitions 0, 1, … of the topic."""
    send_commits(broker, [commit_request(group, topic, range(partitions)) for group in groups])


def make_consumer_groups(broker: RunningBroker, groups: Sequence[str], topic: str) -> None:
    """Empty groups of type consumer: a member has joined and left."""
    joining = {"topic_partitions": (), "rebalance_timeout": _REBALANCE_TIMEOUT_MS}
    _come_and_go(broker, "ConsumerGroupHeartbeat", groups, topic, joining, {"topic_partitions": None})


def make_share_groups(broker: RunningBroker, groups: Sequence[str], topic: str) -> None:
    """Empty share groups: a member has joined and left."""
    _come_and_go(broker, "ShareGroupHeartbeat", groups, topic, {}, {})


def _come_and_go(
    broker: RunningBroker,
    api: str,
    groups: Sequence[str],
    topic: str,
    joining: Mapping[str, Any],
    leaving: Mapping[str, Any],
) -> None:
    """A member of each group joins and leaves. AssertionError: a heartbeat was refused"""
    beats = [
        framed(api, 1, group_id=group, member_id=f"member-of-{group}", **fields)
        for group in groups
        for fields in (
            {"member_epoch": 0, "subscribed_topic_names": [topic], **joining},
            {"member_epoch": -1, "subscribed_topic_names": None, **leaving},
        )
    ]
    for answer in converse(broker.port, beats, response_type(api, 1)):
        assert answer.error_code is ErrorCode.none, (answer.error_code, answer.error_message)
