"""The HTTP server of metrics among clients that only hold connections."""

import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from coordinator.server import web
from coordinator.server.security.security import server_context
from coordinator.server.security.settings import ClientAuth
from coordinator.server.web import MOST_CONNECTIONS, WebPage, WebServer
from tests.kafka.wait import wait_until
from tests.wire.client.certificates import make_certificates, need_openssl
from wire.client.security import TlsSettings

HOST = "127.0.0.1"
LARGE = bytes(16 << 20)


@contextmanager
def listening(tls: ssl.SSLContext | None = None) -> Iterator[int]:
    errors: list[str] = []
    with WebServer(
        HOST,
        0,
        lambda request: WebPage(pieces=[LARGE if request.path == "/large" else b"running\n"]),
        errors.append,
        lambda: tls,
    ) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
    assert errors == []


def connect(port: int) -> socket.socket:
    connection = socket.create_connection((HOST, port), timeout=30)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return connection


def probe(port: int, tls: ssl.SSLContext | None = None) -> float:
    started = time.monotonic()
    scheme = "http" if tls is None else "https"
    with urllib.request.urlopen(f"{scheme}://{HOST}:{port}/-/healthy", timeout=30, context=tls) as answer:
        assert answer.read() == b"running\n"
    return time.monotonic() - started


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\n", b"GET /large HTTP/1.1\r\n\r\n"])
def test_a_probe_is_answered_among_clients_that_hold_connections(sent: bytes) -> None:
    with listening() as port, ExitStack() as stack:
        others = threading.active_count()
        for _ in range(3 * MOST_CONNECTIONS):
            stack.enter_context(connect(port)).sendall(sent)
        assert max(probe(port) for _ in range(3)) < 5
        assert threading.active_count() - others < MOST_CONNECTIONS + 10


def test_a_probe_is_answered_among_unfinished_tls_handshakes(tmp_path: Path) -> None:
    need_openssl()
    make_certificates(tmp_path)
    settings = TlsSettings(
        certificate_path=str(tmp_path / "broker.pem"), key_path=str(tmp_path / "broker.key")
    )
    trusting = ssl.create_default_context(cafile=tmp_path / "ca.pem")
    trusting.check_hostname = False
    with listening(server_context(settings, ClientAuth.NONE)) as port, ExitStack() as stack:
        for number in range(3 * MOST_CONNECTIONS):
            stack.enter_context(connect(port)).sendall(b"\x16\x03\x01\x02\x00" if number % 2 else b"")
        assert probe(port, trusting) < 5


@pytest.mark.parametrize(
    ("sent", "limit"), [(b"", "REQUEST_S"), (b"GET /large HTTP/1.1\r\n\r\n", "ANSWER_S")], ids=str
)
def test_a_connection_has_a_time_for_a_request_and_for_its_answer(
    monkeypatch: pytest.MonkeyPatch, sent: bytes, limit: str
) -> None:
    monkeypatch.setattr(web, limit, 0.4)
    with listening() as port:
        before = threading.active_count()
        with connect(port) as client:
            client.sendall(sent)
            client.settimeout(0.05)
            wait_until(lambda: threading.active_count() > before, "the connection has its thread")

            def is_ended() -> bool:
                with suppress(OSError):
                    client.recv(1) if sent else client.sendall(b"x")
                return threading.active_count() <= before

            wait_until(is_ended, "the thread has ended", timeout_s=20)
