"""A broker of Kafka 4.4 that belongs to another cluster than is wanted (KIP-1242), and what it says of a deletion."""

import socket
from typing import Any

import pytest

from tests.wire.client.peer import answer, peer, request
from tests.wire.client.scripted import broker
from tests.wire.client.test_client import client_of
from wire.client.address import Address
from wire.client.connection import Connection
from wire.client.errors import WrongCluster
from wire.client.groups import delete_groups
from wire.client.security import ConnectionSettings
from wire.client.steps import Deadline, run
from wire.errors import ErrorCode
from wire.messages.schemas.cluster import API_VERSIONS, METADATA
from wire.messages.schemas.groups import DELETE_GROUPS, FIND_COORDINATOR


def opened(address: str, node_id: int | None) -> Connection:
    host, _, port = address.rpartition(":")
    settings = ConnectionSettings(cluster_id="mine")
    connection = Connection(Address(host, int(port)), settings, node_id=node_id)
    try:
        run(connection.open(Deadline(5_000)))
    finally:
        connection.close()
    return connection


def test_the_ids_are_sent_and_a_refusal_names_them() -> None:
    seen: list[Any] = []

    def serve(connection: socket.socket) -> None:
        _, version, correlation_id, frame = request(connection)
        seen.append((version, b"mine" in frame))
        refusal = API_VERSIONS.encode_response(
            version, 0, {"error_code": ErrorCode.REBOOTSTRAP_REQUIRED, "api_keys": ()}
        )
        answer(connection, correlation_id, refusal[4:])

    with peer(serve) as address, pytest.raises(WrongCluster, match="not broker 3 of the cluster mine"):
        opened(address, 3)
    assert seen == [(5, True)]


@pytest.mark.parametrize(("node_id", "newest"), [(None, 5), (3, 4), (3, 3)])
def test_without_both_ids_or_before_4_4_no_broker_is_asked_to_check(node_id: int | None, newest: int) -> None:
    with peer(broker({}, {}, newest)) as address:
        assert opened(address, node_id).newest(API_VERSIONS.key) == newest


@pytest.mark.parametrize(
    ("version", "message"), [(3, "the plugin said no (GROUP_DELETION_FAILED)"), (2, "GROUP_DELETION_FAILED")]
)
def test_the_reason_of_a_failed_deletion_is_shown(version: int, message: str) -> None:
    results = [
        {"group_id": "g", "error_code": 134, "error_message": "the plugin said no"},
        {"group_id": "h", "error_code": 0, "error_message": None},
    ]
    versions = {api.name: api.sent for api in (METADATA, FIND_COORDINATOR)} | {"DeleteGroups": (0, version)}
    with client_of({"DeleteGroups": lambda _: {"results": results}}, versions, coordinates=True) as client:
        outcome = delete_groups(client, ["g", "h"])
    assert outcome.found == {"h": True}
    assert outcome.failed["g"].message == message
    assert DELETE_GROUPS.sent[1] == 3
