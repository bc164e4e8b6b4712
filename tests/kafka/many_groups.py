"""Make thousands of groups of several types quickly, in one conversation on one plain connection for each type."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from kio.schema.consumer_group_heartbeat.v1.request import ConsumerGroupHeartbeatRequest
from kio.schema.consumer_group_heartbeat.v1.response import ConsumerGroupHeartbeatResponse
from kio.schema.errors import ErrorCode
from kio.schema.share_group_heartbeat.v1.request import ShareGroupHeartbeatRequest
from kio.schema.share_group_heartbeat.v1.response import ShareGroupHeartbeatResponse
from kio.schema.types import GroupId, TopicName
from kio.serial import entity_reader
from kio.static.primitive import i32, i32Timedelta

from tests.kafka.broker import Broker
from tests.kafka.commits import commit_request, send_commits
from tests.kafka.ports import HOST
from tests.kafka.wire import LENGTH, framed

QUICK_COORDINATOR: Mapping[str, str] = {
    "group.coordinator.append.linger.ms": "0",
    "share.coordinator.append.linger.ms": "0",
}
"""Settings of a broker that does not hold back what one client alone writes."""
_JOINS, _LEAVES = i32(0), i32(-1)
_REBALANCE_TIMEOUT = i32Timedelta.parse(timedelta(minutes=5))


def make_classic_groups(broker: Broker, groups: Sequence[str], topic: str, partitions: int) -> None:
    """Groups that have only ever committed offsets, of partitions 0, 1, … of the topic."""
    send_commits(broker, [commit_request(group, topic, range(partitions)) for group in groups])


def make_consumer_groups(broker: Broker, groups: Sequence[str], topic: str) -> None:
    """Empty groups of type consumer: a member has joined and left."""

    def beat(group: str, epoch: i32) -> ConsumerGroupHeartbeatRequest:
        joining: dict[str, Any] = (
            {
                "subscribed_topic_names": (TopicName(topic),),
                "topic_partitions": (),
                "rebalance_timeout": _REBALANCE_TIMEOUT,
            }
            if epoch == _JOINS
            else {"topic_partitions": None}
        )
        return ConsumerGroupHeartbeatRequest(
            group_id=GroupId(group), member_id=f"member-of-{group}", member_epoch=epoch, **joining
        )

    beats = [beat(group, epoch) for group in groups for epoch in (_JOINS, _LEAVES)]
    _converse(broker, beats, ConsumerGroupHeartbeatResponse)


def make_share_groups(broker: Broker, groups: Sequence[str], topic: str) -> None:
    """Empty share groups: a member has joined and left."""

    def beat(group: str, epoch: i32) -> ShareGroupHeartbeatRequest:
        return ShareGroupHeartbeatRequest(
            group_id=GroupId(group),
            member_id=f"member-of-{group}",
            member_epoch=epoch,
            subscribed_topic_names=(TopicName(topic),) if epoch == _JOINS else None,
        )

    beats = [beat(group, epoch) for group in groups for epoch in (_JOINS, _LEAVES)]
    _converse(broker, beats, ShareGroupHeartbeatResponse)


def _converse(broker: Broker, requests: Sequence[Any], answer_type: Any) -> None:
    """Send all requests and check the answers. AssertionError: one was refused"""
    messages = [framed(request) for request in requests]
    with socket.create_connection((HOST, broker.port)) as connection:
        # One thread writes while the other reads: neither side's buffers fill up.
        sender = threading.Thread(target=connection.sendall, args=(b"".join(messages),))
        sender.start()
        with connection.makefile("rb") as stream:
            for _ in messages:
                (length,) = LENGTH.unpack(stream.read(LENGTH.size))
                _check(stream.read(length), answer_type)
        sender.join()


def _check(answer: bytes, answer_type: Any) -> None:
    _, size = entity_reader(answer_type.__header_schema__)(answer, 0)
    response, _ = entity_reader(answer_type)(answer, size)
    assert response.error_code is ErrorCode.none, (response.error_code, response.error_message)
