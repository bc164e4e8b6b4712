"""Commit very many offsets quickly: requests one behind the other on one plain connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from io import BytesIO

from kio.schema.errors import ErrorCode
from kio.schema.offset_commit.v9.request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kio.schema.offset_commit.v9.response import OffsetCommitResponse
from kio.schema.types import GroupId, TopicName
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i32, i64

from tests.kafka.broker import Broker
from tests.kafka.ports import HOST
from tests.kafka.wait import wait_until

LENGTH_BYTES = 4


def commit_request(group: str, topic: str, offsets: Sequence[int]) -> bytes:
    """The bytes of a request that commits the offset of every partition, without membership."""
    partitions = tuple(
        OffsetCommitRequestPartition(
            partition_index=i32(number), committed_offset=i64(offset), committed_metadata=""
        )
        for number, offset in enumerate(offsets)
    )
    request = OffsetCommitRequest(
        group_id=GroupId(group),
        member_id="",
        topics=(OffsetCommitRequestTopic(name=TopicName(topic), partitions=partitions),),
    )
    header = OffsetCommitRequest.__header_schema__(
        request_api_key=request.__api_key__,
        request_api_version=request.__version__,
        correlation_id=i32(1),
        client_id="commits",
    )
    buffer = BytesIO()
    entity_writer(type(header))(buffer, header)
    entity_writer(OffsetCommitRequest)(buffer, request)
    message = buffer.getvalue()
    return len(message).to_bytes(LENGTH_BYTES) + message


def send_commits(broker: Broker, requests: Sequence[bytes], *, times: int = 1) -> None:
    """Send all requests, `times` over, and wait for the answers; again while partitions of the log are being loaded.

    Raises:
        AssertionError: a commit was refused.
        OSError: the broker does not answer.
        TimeoutError: a partition is loaded for ever.
    """
    left = [*requests] * times

    def all_taken() -> bool:
        left[:] = _refused_for_now(broker, left)
        return not left

    wait_until(all_taken, lambda: f"{len(left)} commits are taken")


def _refused_for_now(broker: Broker, requests: Sequence[bytes]) -> list[bytes]:
    """Send the requests one behind the other; those whose coordinator is still loading."""
    with socket.create_connection((HOST, broker.port)) as connection:
        sender = threading.Thread(target=_send, args=(connection, requests))
        sender.start()
        with connection.makefile("rb") as stream:
            refused = [
                request
                for request in requests
                if not _is_taken(stream.read(int.from_bytes(stream.read(LENGTH_BYTES))))
            ]
        sender.join()
    return refused


def _send(connection: socket.socket, requests: Sequence[bytes]) -> None:
    for request in requests:
        connection.sendall(request)


def _is_taken(answer: bytes) -> bool:
    _, size = entity_reader(OffsetCommitResponse.__header_schema__)(answer, 0)
    response, _ = entity_reader(OffsetCommitResponse)(answer, size)
    codes = {partition.error_code for topic in response.topics for partition in topic.partitions}
    if codes & {ErrorCode.coordinator_load_in_progress, ErrorCode.not_coordinator}:
        return False
    assert codes == {ErrorCode.none}, codes
    return True
