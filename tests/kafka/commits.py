"""Commit very many offsets quickly: requests one after the other on one plain connection."""

from collections.abc import Sequence
from typing import Any

from kio.schema.errors import ErrorCode

from tests.conformance.messages import response_type
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
    """Send all requests, `times` over, and wait for the answers; again while partitions of the log are being loaded.

    Raises:
        AssertionError: a commit was refused.
        OSError: the broker does not answer.
        TimeoutError: a partition is loaded for ever.
    """
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
