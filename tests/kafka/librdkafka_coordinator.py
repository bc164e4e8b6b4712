"""A stand-in for a broker that asks librdkafka: it tells a consumer that it leads a group of our making. So members,
their order and metadata, topics and racks may be anything, and what the leader sends back is read off the wire.
JoinGroup of the leader → `Round.events`; `Round.answer` with a `Lead` → the leader asks for Metadata, computes, sends
SyncGroup → `Round.events`. Clients are distinguished by their client id."""

import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from queue import Queue
from struct import Struct
from typing import Any

from kio.schema.errors import ErrorCode
from kio.schema.request_header.v1.header import RequestHeader
from kio.serial import entity_reader

from assignors.librdkafka.order import scala_set_order
from assignors.model import TopicSpec
from tests.conformance.messages import build, encode, request_type, response_type
from tests.kafka.ports import HOST

LENGTH = Struct(">i")
API_VERSIONS = 18
VERSIONS: Mapping[int, int] = {1: 11, 2: 5, 3: 7, 8: 7, 9: 5, 10: 2, 11: 5, 12: 3, 13: 1, 14: 3, 18: 3}
"""Newest version by API key; those that are never answered are here because librdkafka wants a broker to have them."""


Fields = dict[str, Any]  # of an answer, by kio's names; those that are not given are zero or empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    member_id: str
    instance: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    generation: int
    protocol: str
    member_id: str
    seats: tuple[Seat, ...]


@dataclass(slots=True)
class Round:
    """The rebalances of one client. Set `topics` before the leader subscribes."""

    topics: tuple[TopicSpec, ...] = ()
    events: Queue[Any] = field(default_factory=Queue)
    """What the client sent. Each JoinGroup wants an `answer`, each SyncGroup a `keep`."""
    joins: int = 0
    outdated: int | None = None
    """Heartbeats say that the group rebalances while the client has joined so often and no more."""
    answer: Queue[Lead] = field(default_factory=Queue)
    keep: Queue[bytes] = field(default_factory=Queue)  # what SyncGroup answers: the leader's own assignment


class Coordinator:
    """Serves until closed, each connection in a thread."""

    def __init__(self) -> None:
        self._answers: Mapping[int, tuple[str, Callable[[Round, Any], Fields]]] = {
            3: ("Metadata", self._metadata),
            10: ("FindCoordinator", self._find_coordinator),
            11: ("JoinGroup", _join),
            12: ("Heartbeat", _heartbeat),
            13: ("LeaveGroup", lambda *_: {}),
            14: ("SyncGroup", _sync),
            API_VERSIONS: ("ApiVersions", _api_versions),
        }
        self.rounds: dict[str, Round] = {}
        # Brokers only ever join: librdkafka 2.16 may crash after one has left the cluster.
        self._node: dict[str, int] = {}
        self._listener = socket.create_server((HOST, 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
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
        key = int(header.request_api_key)
        if key not in self._answers:
            return None
        api, answer = self._answers[key]
        # The header of an ApiVersions request continues, and its body does not matter.
        body = message[size:] if key != API_VERSIONS else None
        request = body and entity_reader(request_type(api, VERSIONS[key]))(body, 0)[0]
        fields = answer(self.rounds.setdefault(header.client_id or "", Round()), request)
        return LENGTH.pack(header.correlation_id) + encode(build(response_type(api, VERSIONS[key]), fields))

    def _find_coordinator(self, _round: Round, _request: Any) -> Fields:
        return {"error_message": None, "node_id": 0, "host": HOST, "port": self.port}

    def _metadata(self, round_: Round, request: Any) -> Fields:
        asked = tuple(str(topic.name) for topic in request.topics or ())
        topics = {topic.name: topic for topic in round_.topics}
        racks = sorted({rack for topic in round_.topics for spread in topic.racks or () for rack in spread})
        for rack in racks:
            self._node.setdefault(rack, len(self._node) + 1)
        brokers = [
            {"node_id": number, "host": HOST, "port": self.port, "rack": rack}
            for number, rack in enumerate([None, *self._node])
        ]
        return {
            "brokers": brokers,
            "cluster_id": "librdkafka-oracle",
            "controller_id": 0,
            "topics": [_topic(name, topics.get(name), self._node) for name in scala_set_order(asked)],
        }


def _topic(name: str, topic: TopicSpec | None, node: Mapping[str, int]) -> Fields:
    if topic is None:
        return {"error_code": ErrorCode.unknown_topic_or_partition.value, "name": name}
    nodes = [[node[rack] for rack in spread] for spread in topic.racks or [()] * topic.partitions]
    if topic.racks is None:
        nodes = [[0]] * topic.partitions
    partitions = [
        {
            "partition_index": number,
            "leader_id": replicas[0] if replicas else 0,
            "leader_epoch": 0,
            "replica_nodes": replicas,
            "isr_nodes": replicas,
        }
        for number, replicas in enumerate(nodes)
    ]
    return {"name": name, "partitions": partitions}


def _heartbeat(round_: Round, _request: Any) -> Fields:
    return {"error_code": ErrorCode.rebalance_in_progress.value if round_.joins == round_.outdated else 0}


def _join(round_: Round, request: Any) -> Fields:
    round_.joins += 1
    round_.events.put(request)
    lead = round_.answer.get()
    return {
        "generation_id": lead.generation,
        "protocol_name": lead.protocol,
        "leader": lead.member_id,
        "member_id": lead.member_id,
        "members": [
            {"member_id": seat.member_id, "group_instance_id": seat.instance, "metadata": seat.metadata}
            for seat in lead.seats
        ],
    }


def _sync(round_: Round, request: Any) -> Fields:
    round_.events.put(request)
    return {"assignment": round_.keep.get()}


def _api_versions(_round: Round, _request: Any) -> Fields:
    known = [{"api_key": key, "min_version": 0, "max_version": newest} for key, newest in VERSIONS.items()]
    return {"api_keys": known}
