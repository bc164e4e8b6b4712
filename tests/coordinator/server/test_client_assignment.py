"""Kohort's own members with client-side assignors, which Kafka never shipped, on the wire with `kohort serve`."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from coordinator.consumer.outputs import FindCoordinator, Send
from coordinator.engine.consumer.client_assignment import (
    InstallAssignment,
    InstallAssignmentAnswer,
    PrepareAssignment,
    PrepareAssignmentAnswer,
)
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.consumer.member import NEW_ASSIGNMENT, NEW_METADATA, ConsumerMember
from coordinator.engine.offsets.fetch import FetchedOffset, OffsetFetch, OffsetFetchAnswer, QueriedOffsets
from coordinator.engine.records import (
    ClientAssignor,
    ClientMetadata,
    TopicPartitions,
)
from coordinator.engine.topics import TopicImage, TopicInfo
from tests.cli.served_data import serving
from tests.coordinator.consumer.consumer_members import start
from tests.coordinator.consumer.driver import Application, Play
from tests.coordinator.consumer.test_local_assignors import Reversed
from tests.kafka.ports import HOST
from wire.errors import ErrorCode
from wire.messages.definition import Api
from wire.messages.framing import frame
from wire.messages.schemas.cluster import API_VERSIONS, METADATA
from wire.messages.schemas.consumer_groups import (
    CONSUMER_GROUP_HEARTBEAT,
    CONSUMER_GROUP_INSTALL_ASSIGNMENT,
    CONSUMER_GROUP_PREPARE_ASSIGNMENT,
)

OWN = {CONSUMER_GROUP_PREPARE_ASSIGNMENT.key, CONSUMER_GROUP_INSTALL_ASSIGNMENT.key}


class Wire:
    """One connection."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((HOST, port), 30)

    def ask(self, api: Api, version: int, **fields: Any) -> Any:
        self._socket.sendall(frame(api.encode_request(version, 1, "member", fields)))
        with self._socket.makefile("rb") as stream:
            length = stream.read(4)
            if not length:
                raise ConnectionError("the server has closed the connection")
            content = stream.read(int.from_bytes(length, "big"))
        return api.decode_response(version, content[4:])

    def close(self) -> None:
        self._socket.close()


def entries(partitions: TopicPartitions | None) -> list[dict[str, Any]] | None:
    if partitions is None:
        return None
    return [{"topic_id": topic, "partitions": numbers} for topic, numbers in partitions.items()]


def partitions_of(given: Any) -> TopicPartitions:
    return {one.topic_id: tuple(one.partitions) for one in given}


class WirePlay(Play):
    """A play with the coordinator on the other side of a connection. No offset is committed."""

    def __init__(self, wire: Wire, topics: TopicImage) -> None:
        self._wire = wire
        super().__init__(topics=topics)

    def deliver(self, each: Application, send: Send) -> None:
        request = send.request
        answer: object
        match request:
            case FindCoordinator():
                answer = self.node
            case ConsumerGroupHeartbeat():
                answer = self._beat(request)
            case PrepareAssignment():
                answer = self._prepare(request)
            case InstallAssignment():
                answer = self._install(request)
            case OffsetFetch():
                answer = OffsetFetchAnswer(groups=tuple(nothing_committed(one) for one in request.groups))
            case _:
                raise AssertionError(f"{request} has no wire form here")
        each.member.answered(send.number, answer, self.now_ms)

    def _beat(self, request: ConsumerGroupHeartbeat) -> ConsumerGroupHeartbeatAnswer:
        assignors = request.client_assignors
        beaten = self._wire.ask(
            CONSUMER_GROUP_HEARTBEAT,
            1,
            group_id=request.group,
            member_id=request.member,
            member_epoch=request.epoch,
            instance_id=request.instance,
            rack_id=request.rack,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            subscribed_topic_names=request.topics,
            subscribed_topic_regex=request.regex,
            server_assignor=request.assignor,
            topic_partitions=entries(request.owned),
            client_assignors=None if assignors is None else [offer(one) for one in assignors],
        )
        assigned = beaten.assignment
        said = None if assigned is None else assigned.metadata_bytes
        return ConsumerGroupHeartbeatAnswer(
            error=ErrorCode(beaten.error_code),
            message=beaten.error_message,
            member=beaten.member_id,
            epoch=beaten.member_epoch,
            heartbeat_interval_ms=beaten.heartbeat_interval_ms,
            assignment=None if assigned is None else partitions_of(assigned.topic_partitions),
            should_compute=beaten.should_compute_assignment,
            metadata=None if said is None else ClientMetadata(version=assigned.metadata_version, data=said),
            assignment_error=0 if assigned is None else assigned.error,
        )

    def _prepare(self, request: PrepareAssignment) -> PrepareAssignmentAnswer:
        prepared = self._wire.ask(
            CONSUMER_GROUP_PREPARE_ASSIGNMENT,
            0,
            group_id=request.group,
            member_id=request.member,
            member_epoch=request.epoch,
        )
        return PrepareAssignmentAnswer(
            error=ErrorCode(prepared.error_code),
            message=prepared.error_message,
            group_epoch=prepared.group_epoch,
            assignor=prepared.assignor_name,
            members=tuple(member(one) for one in prepared.members),
            subscribed={one.member_id: tuple(one.subscribed_topic_ids) for one in prepared.members},
            targets={one.member_id: partitions_of(one.topic_partitions) for one in prepared.members},
            topics=tuple((one.topic_id, one.topic_name, one.num_partitions) for one in prepared.topics),
        )

    def _install(self, request: InstallAssignment) -> InstallAssignmentAnswer:
        members = [
            {
                "member_id": one,
                "partitions": entries(partitions),
                "metadata_version": request.metadata[one].version,
                "metadata_bytes": request.metadata[one].data,
            }
            for one, partitions in request.assignments.items()
        ]
        installed = self._wire.ask(
            CONSUMER_GROUP_INSTALL_ASSIGNMENT,
            0,
            group_id=request.group,
            member_id=request.member,
            member_epoch=request.epoch,
            group_epoch=request.group_epoch,
            error=request.error,
            members=members,
        )
        return InstallAssignmentAnswer(error=ErrorCode(installed.error_code), message=installed.error_message)


def offer(one: ClientAssignor) -> dict[str, Any]:
    return {
        "name": one.name,
        "minimum_version": one.minimum_version,
        "maximum_version": one.maximum_version,
        "reason": one.reason,
        "metadata_version": one.metadata.version,
        "metadata_bytes": one.metadata.data,
    }


def member(one: Any) -> ConsumerMember:
    return ConsumerMember(
        id=one.member_id,
        metadata=replace(NEW_METADATA, instance=one.instance_id, rack=one.rack_id),
        current=replace(NEW_ASSIGNMENT, epoch=one.member_epoch),
    )


def nothing_committed(query: Any) -> QueriedOffsets:
    topics = [
        (topic, tuple((number, FetchedOffset()) for number in numbers)) for topic, numbers in query.topics
    ]
    return QueriedOffsets(group=query.group, topics=tuple(topics))


def image(wire: Wire) -> TopicImage:
    (topic,) = wire.ask(
        METADATA,
        12,
        topics=[{"name": "foo", "topic_id": None}],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=False,
    ).topics
    return TopicImage.of(
        [TopicInfo(name="foo", id=topic.topic_id, partitions=len(topic.partitions))], version=1
    )


@pytest.fixture
def wire() -> Iterator[Wire]:
    with (
        serving(None, "--topic", "foo:6", group_consumer_client_assignors_enable="true") as server,
        closing(Wire(server.port)) as connection,
    ):
        yield connection


def listed(wire: Wire) -> set[int]:
    answer = wire.ask(API_VERSIONS, 3, client_software_name="member", client_software_version="1")
    return {each.api_key for each in answer.api_keys}


def test_a_member_computes_the_assignment_of_all(wire: Wire) -> None:
    assert listed(wire) >= OWN
    play = WirePlay(wire, image(wire))
    one, other = Reversed(), Reversed()
    a = start(play, "a", local_assignors=(one,), enable_auto_commit=False)
    b = start(play, "b", local_assignors=(other,), enable_auto_commit=False)
    play.rest()
    play.rest()
    assert (a.owns, b.owns) == (["foo-1", "foo-3", "foo-5"], ["foo-0", "foo-2", "foo-4"])
    assert one.computed + other.computed == 2
    assert (one.received[-1][2], other.received[-1][2]) == (b"2", b"2")


def test_what_is_not_prepared_or_not_whole_is_refused(wire: Wire) -> None:
    play = WirePlay(wire, image(wire))
    a = start(play, "a", local_assignors=(Reversed(),), enable_auto_commit=False)
    play.rest()
    asked = {"group_id": "g", "member_id": "a", "member_epoch": a.member.epoch}
    prepared = wire.ask(CONSUMER_GROUP_PREPARE_ASSIGNMENT, 0, **asked)
    assert prepared.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    anonymous = wire.ask(CONSUMER_GROUP_PREPARE_ASSIGNMENT, 0, group_id="", member_id="", member_epoch=0)
    assert anonymous.error_code == ErrorCode.INVALID_REQUEST
    installed = wire.ask(CONSUMER_GROUP_INSTALL_ASSIGNMENT, 0, **asked, group_epoch=9, error=0, members=[])
    assert installed.error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_without_the_setting_the_apis_are_not_listed() -> None:
    with (
        serving(None, "--topic", "foo:6") as server,
        closing(Wire(server.port)) as connection,
    ):
        assert not listed(connection) & OWN
        play = WirePlay(connection, image(connection))
        a = start(play, "a", local_assignors=(Reversed(),), enable_auto_commit=False)
        assert (a.owns, a.raised) == ([], ["InvalidRequestException"])
        play.kill(a)
        with pytest.raises(ConnectionError):
            connection.ask(CONSUMER_GROUP_PREPARE_ASSIGNMENT, 0, group_id="g", member_id="a", member_epoch=1)
