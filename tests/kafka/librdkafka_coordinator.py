"""A stand-in for a broker that asks librdkafka: it tells a consumer that it leads a group of our making.

It is there so that the members, their order and metadata, the topics and their racks may be anything at all, and so
that what the leader sends back is read off the wire. The leader is the real librdkafka. What a real broker does
instead (the order of members and topics, a leader whose claims are true) is tested in tests/assignors with one.

The rebalance goes: JoinGroup of the leader → `Round.events`; `Round.answer` with a `Lead` → the leader asks for
Metadata, computes, sends SyncGroup → `Round.events`. Clients are told apart by their client id.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from io import BytesIO
from queue import Queue
from struct import Struct

from kio.schema.api_versions.v3 import response as api_versions
from kio.schema.errors import ErrorCode
from kio.schema.find_coordinator.v2 import response as find_coordinator
from kio.schema.heartbeat.v3 import response as heartbeat
from kio.schema.join_group.v5 import request as join_request
from kio.schema.join_group.v5 import response as join_response
from kio.schema.leave_group.v1 import response as leave_group
from kio.schema.metadata.v7 import request as metadata_request
from kio.schema.metadata.v7 import response as metadata
from kio.schema.request_header.v1.header import RequestHeader
from kio.schema.sync_group.v3 import request as sync_request
from kio.schema.sync_group.v3 import response as sync_response
from kio.schema.types import BrokerId, TopicName
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i16, i32, i32Timedelta
from kio.static.protocol import ResponsePayload

from assignors.librdkafka.order import scala_set_order
from assignors.model import TopicSpec
from tests.kafka.ports import HOST

LENGTH = Struct(">i")
NO_THROTTLE = i32Timedelta.parse(timedelta())
VERSIONS: Mapping[int, int] = {1: 11, 2: 5, 3: 7, 8: 7, 9: 5, 10: 2, 11: 5, 12: 3, 13: 1, 14: 3, 18: 3}
"""Newest version by API key; those that are never answered are here because librdkafka wants a broker to have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A member as the leader's JoinGroup response names it."""

    member_id: str
    instance: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """What a JoinGroup response tells the leader."""

    generation: int
    protocol: str
    member_id: str
    seats: tuple[Seat, ...]


@dataclass(slots=True)
class Round:
    """The rebalances of one client. Set `topics` before the leader subscribes."""

    topics: tuple[TopicSpec, ...] = ()
    events: Queue[join_request.JoinGroupRequest | sync_request.SyncGroupRequest] = field(
        default_factory=Queue
    )
    """What the client sent. Each JoinGroup wants an `answer`, each SyncGroup a `keep`."""
    wanted: bool = False
    """Whether heartbeats are to say that the group rebalances."""
    answer: Queue[Lead] = field(default_factory=Queue)
    keep: Queue[bytes] = field(default_factory=Queue)
    """What SyncGroup answers: the leader's own assignment."""


class Coordinator:
    """Serves until closed, each connection in a thread."""

    def __init__(self) -> None:
        self.rounds: dict[str, Round] = {}
        # Brokers only ever join: librdkafka 2.16 may crash after one has left the cluster.
        self._node: dict[str, int] = {}
        self._listener = socket.create_server((HOST, 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening; connections end with their clients."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as stream:
                while prefix := stream.read(LENGTH.size):
                    message = stream.read(*LENGTH.unpack(prefix))
                    answer = self._answer(message)
                    if answer is not None:
                        connection.sendall(LENGTH.pack(len(answer)) + answer)
        except OSError:
            return

    def _answer(self, message: bytes) -> bytes | None:
        # The part of the header that is the same in both of its versions.
        header, size = entity_reader(RequestHeader)(message, 0)
        body, key = message[size:], int(header.request_api_key)
        correlation = LENGTH.pack(header.correlation_id)
        round_ = self.rounds.setdefault(header.client_id or "", Round())
        if key == 18:
            return correlation + _encode(_api_versions())
        payload: ResponsePayload
        if key == 3:
            payload = self._metadata(round_, entity_reader(metadata_request.MetadataRequest)(body, 0)[0])
        elif key == 10:
            payload = self._find_coordinator()
        elif key == 11:
            payload = _join(round_, entity_reader(join_request.JoinGroupRequest)(body, 0)[0])
        elif key == 14:
            payload = _sync(round_, entity_reader(sync_request.SyncGroupRequest)(body, 0)[0])
        elif key == 12:
            error = ErrorCode.rebalance_in_progress if round_.wanted else ErrorCode.none
            payload = heartbeat.HeartbeatResponse(throttle_time=NO_THROTTLE, error_code=error)
        elif key == 13:
            payload = leave_group.LeaveGroupResponse(throttle_time=NO_THROTTLE, error_code=ErrorCode.none)
        else:
            return None
        return correlation + _encode(payload)

    def _find_coordinator(self) -> ResponsePayload:
        return find_coordinator.FindCoordinatorResponse(
            throttle_time=NO_THROTTLE,
            error_code=ErrorCode.none,
            error_message=None,
            node_id=BrokerId(0),
            host=HOST,
            port=i32(self.port),
        )

    def _metadata(self, round_: Round, request: metadata_request.MetadataRequest) -> ResponsePayload:
        asked = tuple(str(topic.name) for topic in request.topics or ())
        topics = {topic.name: topic for topic in round_.topics}
        racks = sorted({rack for topic in round_.topics for place in topic.racks or () for rack in place})
        for rack in racks:
            self._node.setdefault(rack, len(self._node) + 1)
        return metadata.MetadataResponse(
            throttle_time=NO_THROTTLE,
            brokers=tuple(self._broker(number, rack) for number, rack in enumerate([None, *self._node])),
            cluster_id="librdkafka-oracle",
            controller_id=BrokerId(0),
            topics=tuple(_topic(name, topics.get(name), self._node) for name in scala_set_order(asked)),
        )

    def _broker(self, number: int, rack: str | None) -> metadata.MetadataResponseBroker:
        return metadata.MetadataResponseBroker(
            node_id=BrokerId(number), host=HOST, port=i32(self.port), rack=rack
        )


def _topic(name: str, topic: TopicSpec | None, node: Mapping[str, int]) -> metadata.MetadataResponseTopic:
    if topic is None:
        return metadata.MetadataResponseTopic(
            error_code=ErrorCode.unknown_topic_or_partition, name=TopicName(name), partitions=()
        )
    nodes = [[node[rack] for rack in place] for place in topic.racks or [()] * topic.partitions]
    if topic.racks is None:
        nodes = [[0]] * topic.partitions
    return metadata.MetadataResponseTopic(
        error_code=ErrorCode.none,
        name=TopicName(name),
        partitions=tuple(_partition(number, place) for number, place in enumerate(nodes)),
    )


def _partition(number: int, nodes: list[int]) -> metadata.MetadataResponsePartition:
    replicas = tuple(BrokerId(one) for one in nodes)
    return metadata.MetadataResponsePartition(
        error_code=ErrorCode.none,
        partition_index=i32(number),
        leader_id=replicas[0] if replicas else BrokerId(0),
        leader_epoch=i32(0),
        replica_nodes=replicas,
        isr_nodes=replicas,
    )


def _join(round_: Round, request: join_request.JoinGroupRequest) -> ResponsePayload:
    round_.wanted = False
    round_.events.put(request)
    lead = round_.answer.get()
    return join_response.JoinGroupResponse(
        throttle_time=NO_THROTTLE,
        error_code=ErrorCode.none,
        generation_id=i32(lead.generation),
        protocol_name=lead.protocol,
        leader=lead.member_id,
        member_id=lead.member_id,
        members=tuple(
            join_response.JoinGroupResponseMember(
                member_id=seat.member_id, group_instance_id=seat.instance, metadata=seat.metadata
            )
            for seat in lead.seats
        ),
    )


def _sync(round_: Round, request: sync_request.SyncGroupRequest) -> ResponsePayload:
    round_.events.put(request)
    return sync_response.SyncGroupResponse(
        throttle_time=NO_THROTTLE, error_code=ErrorCode.none, assignment=round_.keep.get()
    )


def _api_versions() -> ResponsePayload:
    return api_versions.ApiVersionsResponse(
        error_code=ErrorCode.none,
        api_keys=tuple(
            api_versions.ApiVersion(api_key=i16(key), min_version=i16(0), max_version=i16(newest))
            for key, newest in VERSIONS.items()
        ),
        throttle_time=NO_THROTTLE,
    )


def _encode(payload: ResponsePayload) -> bytes:
    buffer = BytesIO()
    entity_writer(type(payload))(buffer, payload)
    return buffer.getvalue()
