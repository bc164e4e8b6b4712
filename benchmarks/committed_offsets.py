"""A log of many offset commits, written by a real broker: five partitions of `__consumer_offsets`, 17 MB each.

1,000 groups commit 100 partitions 12 times, one request each time: 1,200,000 records, of which 100,000 count.
"""

from __future__ import annotations

import socket
import threading
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
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.ports import HOST
from tests.kafka.topics import create_topics

GROUPS = 1000
PARTITIONS = 100
ROUNDS = 12
TOPIC = "orders"
LENGTH_BYTES = 4


def write_commits(broker: Broker) -> None:
    """Have a broker that runs write the log. SystemExit: a commit was refused"""
    wait_for_coordinator(broker)
    create_topics(broker, {TOPIC: PARTITIONS})
    requests = [_request(f"group-{number:04}") for number in range(GROUPS)]
    with socket.create_connection((HOST, broker.port)) as connection:
        sender = threading.Thread(target=_send, args=(connection, requests))
        sender.start()
        with connection.makefile("rb") as stream:
            for _ in range(GROUPS * ROUNDS):
                _check(stream.read(int.from_bytes(stream.read(LENGTH_BYTES))))
        sender.join()


def _send(connection: socket.socket, requests: list[bytes]) -> None:
    for _ in range(ROUNDS):
        for request in requests:
            connection.sendall(request)


def _request(group: str) -> bytes:
    partitions = tuple(
        OffsetCommitRequestPartition(
            partition_index=i32(number), committed_offset=i64(1_000_000 + number), committed_metadata=""
        )
        for number in range(PARTITIONS)
    )
    request = OffsetCommitRequest(
        group_id=GroupId(group),
        member_id="",
        topics=(OffsetCommitRequestTopic(name=TopicName(TOPIC), partitions=partitions),),
    )
    header = OffsetCommitRequest.__header_schema__(
        request_api_key=request.__api_key__,
        request_api_version=request.__version__,
        correlation_id=i32(1),
        client_id="bench",
    )
    buffer = BytesIO()
    entity_writer(type(header))(buffer, header)
    entity_writer(OffsetCommitRequest)(buffer, request)
    message = buffer.getvalue()
    return len(message).to_bytes(LENGTH_BYTES) + message


def _check(answer: bytes) -> None:
    _, size = entity_reader(OffsetCommitResponse.__header_schema__)(answer, 0)
    response, _ = entity_reader(OffsetCommitResponse)(answer, size)
    codes = {partition.error_code for topic in response.topics for partition in topic.partitions}
    if codes != {ErrorCode.none}:
        raise SystemExit(f"a commit was answered {codes}")
