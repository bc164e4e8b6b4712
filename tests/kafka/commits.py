"""Commit very many offsets, and make thousands of groups, quickly: one conversation on one plain connection."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from kio.schema.errors import ErrorCode

from tests.conformance.messages import response_type
from tests.kafka.broker import RunningBroker
from tests.kafka.connect import Listening
from tests.kafka.wait import wait_until
from tests.kafka.wire import converse, framed

COMMIT = ("OffsetCommit", 9)


def commit_request(group: str, topic: str, offsets: Sequence[int]) -> bytes:
    """The bytes of a request that commits the offset of every partition, without membership."""
    partitions = [
        {"partition_index": number, "committed_offset": offset, "committed_metadata": ""}
        for number, offset in enumerate(offsets)
    ]
    topics = [{"name": topic, "partitions": partitions}]
    return framed(*COMMIT, group_id=group, topics=topics)


def send_commits(broker: Listening, requests: Sequence[bytes], *, times: int = 1) -> None:
    """Send all requests, `times` over, and wait for the answers; again while partitions of the log are being loaded."""
    left = [*requests] * times

    def all_taken() -> bool:
        answers = converse(broker.port, left, response_type(*COMMIT))
        left[:] = [
            request for request, answer in zip(tuple(left), answers, strict=True) if not _is_taken(answer)
        ]
        return not left

    wait_until(all_taken, lambda: f"{len(left)} commits are taken")


def _is_taken(answer: Any) -> bool:
    codes = {partition.error_code for topic in answer.topics for partition in topic.partitions}
    if codes & {ErrorCode.coordinator_load_in_progress, ErrorCode.not_coordinator}:
        return False
    assert codes == {ErrorCode.none}, codes
    return True


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
    joining = {"topic_partitions": (), "rebalance_timeout": _REBALANCE_TIMEOUT_MS}
    _come_and_go(broker, "ConsumerGroupHeartbeat", groups, topic, joining, {"topic_partitions": None})


def make_share_groups(broker: RunningBroker, groups: Sequence[str], topic: str) -> None:
    _come_and_go(broker, "ShareGroupHeartbeat", groups, topic, {}, {})


def _come_and_go(
    broker: RunningBroker,
    api: str,
    groups: Sequence[str],
    topic: str,
    joining: Mapping[str, Any],
    leaving: Mapping[str, Any],
) -> None:
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
