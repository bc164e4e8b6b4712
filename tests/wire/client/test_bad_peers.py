"""Peers that are down, silent, strange or broken: one clear error each, that names them and the next step."""

import re
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.wire.client.peer import Script, answer, black_hole, closed_port, peer, request
from tests.wire.client.scripted import api_versions
from tests.wire.client.test_client import coordinator
from wire.client.cluster import KafkaClient
from wire.client.errors import NotConnected, ProtocolError, RequestTimedOut, TlsFailed, Unreachable, WireError
from wire.client.offsets import fetch_offsets
from wire.client.security import ConnectionSettings, SecurityProtocol
from wire.messages.schemas.cluster import API_VERSIONS
from wire.messages.schemas.groups import FIND_COORDINATOR
from wire.messages.schemas.offsets import OFFSET_FETCH

# Silence in these tests is longer than any time they wait for, also on a machine that has other things to do.
SILENCE_S = 60
PATIENCE_MS = 60_000


def failure(servers: str, timeout_ms: int = PATIENCE_MS, **settings: Any) -> WireError:
    chosen = ConnectionSettings(
        bootstrap_servers=tuple(servers.split(",")), api_timeout_ms=timeout_ms, **settings
    )
    with pytest.raises(WireError) as caught, KafkaClient(chosen) as client:
        client.home()
    return caught.value


def test_no_connection() -> None:
    error = failure("no-such-host.invalid:9092")
    assert isinstance(error, NotConnected)
    assert str(error).startswith("no-such-host.invalid:9092: the host name is not known (")
    with closed_port() as address:
        assert str(failure(address)) == (
            f"{address}: connection refused. Nothing listens on that port: check host and port, "
            "and that the broker runs."
        )


@pytest.mark.parametrize("limit", ["timeout_ms", "connection_setup_timeout_ms"])
def test_a_host_that_never_answers_the_connection(limit: str) -> None:
    with black_hole() as address:
        began = time.monotonic()
        error = failure(address, **{limit: 300})
        # Ten seconds is what the setting up of a connection may take.
        assert 0.25 < time.monotonic() - began < 8
    assert isinstance(error, RequestTimedOut)
    assert str(error).startswith(f"{address}: timed out connecting.")


def _silent(connection: socket.socket) -> None:
    connection.settimeout(SILENCE_S)
    while connection.recv(1000):
        pass


def _deaf(connection: socket.socket) -> None:
    connection.recv(1000)


def _half(connection: socket.socket) -> None:
    request(connection)
    connection.sendall(b"\0\0\0\x20half an answer")


def _garbage(sent: bytes) -> Script:
    def script(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(sent)
        connection.recv(1000)

    return script


SILENT, TLS = {"timeout_ms": 300}, {"security_protocol": SecurityProtocol.SSL}
EMPTY = bytes.fromhex("0000010000000000")
UNREADABLE = "the answer to ApiVersions cannot be read: "
PEERS: dict[str, tuple[Script, dict[str, Any], type[WireError], str]] = {
    "says nothing": (_silent, SILENT, RequestTimedOut, "timed out waiting for the answer to ApiVersions[.]"),
    "closes at once": (
        socket.socket.close, {}, Unreachable, ".*Check that it is a Kafka listener with .* PLAINTEXT[.]",
    ),
    "closes in an answer": (_half, {}, Unreachable, "the connection was closed in the middle of an answer"),
    "no TLS": (
        _deaf, TLS, TlsFailed,
        r"the TLS handshake failed [(].*"
        r"If it is a PLAINTEXT listener, set security\.protocol to PLAINTEXT or SASL_PLAINTEXT\.",
    ),
    "a TLS handshake that hangs": (_silent, SILENT | TLS, RequestTimedOut, "timed out in the TLS handshake[.]"),
    **{
        f"sends {sent[:23]!r}": (_garbage(sent), {}, ProtocolError, said)
        for sent, said in (
            (b"\x7f\xff\xff\xff", "this is not a Kafka broker: a frame of 2147483647 bytes is announced[.]"),
            (b"\xff\xff\xff\xff", "this is not a Kafka broker: a frame of -1 bytes is announced[.]"),
            (b"HTTP/1.1 400 Bad Request\r\n", "an HTTP server answers there, not a Kafka broker[.]"),
            (b"\x15\x03\x03\0\2\2\x50", "the listener speaks TLS. Set security[.]protocol to SSL or SASL_SSL"),
            (b"\0\0\0\2\0\1", "the answer to ApiVersions has only 2 bytes"),
            (b"\0\0\0\5\0\0\0\0\0", UNREADABLE),
            (b"\0\0\0\x0a" + bytes(10), UNREADABLE),
            (b"\0\0\0\x0e" + bytes(4) + bytes.fromhex("0000feffffff0f000000"), UNREADABLE),
            (
                b"\0\0\0\x0d" + bytes(4) + bytes.fromhex("000001000000000000"),
                f"{UNREADABLE}it has 1 bytes too many",
            ),
            (
                (b"\0\0\0\x0c" + bytes(4) + EMPTY) * 2, "more responses than requests arrived for ApiVersions"
            ),
            (b"\0\0\0\x0c" + bytes(4) + bytes.fromhex("03e7010000000000"), "ApiVersions was refused: UNKNOWN_999"),
            (
                b"\0\0\0\x08\0\0\x30\x39" + bytes(4),
                "the answer to ApiVersions has correlation id 12345, expected 0",
            ),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize(("script", "settings", "kind", "said"), PEERS.values(), ids=PEERS.keys())
def test_a_peer_that(script: Script, settings: dict[str, Any], kind: type[WireError], said: str) -> None:
    with peer(script) as address:
        error = failure(address, **settings)
    assert isinstance(error, kind)
    assert re.match(f"{address}: {said}", str(error), re.DOTALL)


def test_when_no_bootstrap_server_answers_every_reason_is_shown() -> None:
    with closed_port() as first, peer(lambda connection: connection.close()) as second:
        error = failure(f"{first},{second}")
    assert str(error).startswith("no bootstrap server answers:\n")
    assert f"{first}: connection refused" in str(error)
    assert f"{second}: the connection " in str(error)


def test_the_first_bootstrap_server_that_answers_is_taken() -> None:
    def script(connection: socket.socket) -> None:
        _, _, correlation_id, _ = request(connection)
        answer(connection, correlation_id, EMPTY)
        connection.recv(1000)

    with black_hole() as dark, closed_port() as closed, peer(script) as good:
        began = time.monotonic()
        with KafkaClient(ConnectionSettings(bootstrap_servers=(dark, closed, good))) as client:
            client.home()
        assert time.monotonic() - began < 8


@pytest.mark.parametrize("alone_too", [False, True])
def test_an_answer_that_is_too_long(alone_too: bool) -> None:
    group = b"\2g\1\0\0\0"

    def serve(connection: socket.socket) -> None:
        while True:
            key, version, correlation_id, message = request(connection)
            if key != OFFSET_FETCH.key:
                plain(connection, key, version, correlation_id)
            elif alone_too or (b"\2g" in message and b"\2h" in message):
                connection.sendall((200 * 2**20).to_bytes(4, "big"))
            else:
                result = group if b"\2g" in message else group.replace(b"g", b"h")
                answer(connection, correlation_id, b"\0" + bytes(4) + b"\2" + result + b"\0")

    with peer(serve) as address:
        plain = _plain_answers(address, "g", "h")
        with KafkaClient(ConnectionSettings(bootstrap_servers=(address,))) as client:
            answers = fetch_offsets(client, ["g", "h"])
    if not alone_too:
        assert list(answers.found) == ["g", "h"]
        return
    assert {failure.message for failure in answers.failed.values()} == {
        f"{address}: the answer has 200 MiB, and no more than 100 MiB are read. "
        "Ask for less at once: name some of the groups, or choose them with --match."
    }


def _plain_answers(address: str, *groups: str) -> Callable[[socket.socket, int, int, int], None]:
    def respond(connection: socket.socket, key: int, version: int, correlation_id: int) -> None:
        if key == API_VERSIONS.key:
            known = {FIND_COORDINATOR.key: (4, 6), OFFSET_FETCH.key: (9, 9), API_VERSIONS.key: (0, 4)}
            answer(connection, correlation_id, api_versions(known, version, 4))
            return
        assert key == FIND_COORDINATOR.key
        fields = coordinator(lambda: address, *groups)(version)
        answer(connection, correlation_id, FIND_COORDINATOR.encode_response(version, 0, fields)[4:])

    return respond
