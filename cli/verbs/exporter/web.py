"""HTTP and HTTPS responses to scrapers, probes and browsers, without requests to the cluster.

A thread for each connection, at most `MOST_CONNECTIONS`; idle ones are closed. The TLS handshake
is done in that thread, so that a client that sends nothing does not block others.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import socket
import ssl
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from threading import BoundedSemaphore
from typing import Any

from prometheus_client.exposition import gzip_accepted

from cli.verbs.exporter.cache import Exposition, FigureCache
from coordinator.server.security.users import Users
from wire.files import MEBIBYTE, read_bounded

MOST_CONNECTIONS = 64
SILENT_S = 30.0
"""Timeout of an idle connection."""
METRICS, HEALTHY, READY = "/metrics", "/-/healthy", "/-/ready"
_PLAIN = "text/plain; charset=utf-8"
_LANDING = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Kohort exporter</title></head>
<body><h1>Kohort exporter</h1><p>Metrics of Kafka groups.</p><ul>
<li><a href="{METRICS}">{METRICS}</a>: all metrics</li>
<li><a href="{HEALTHY}">{HEALTHY}</a>: 200 while the exporter runs</li>
<li><a href="{READY}">{READY}</a>: 200 after the first successful poll</li>
</ul></body></html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """The accepted logins: users with passwords, the token in a file, trusted client certificates.

    Without any of them, no login is required. The file is read for every request, because the token may be replaced.
    """

    users: Users = field(default_factory=lambda: Users({}))
    token_file: Path | None = None
    certificates: bool = False

    @property
    def is_asked_for(self) -> bool:
        """Whether a login is required."""
        return bool(len(self.users) or self.token_file or self.certificates)

    def allows(self, authorization: str, certificate: object) -> bool:
        """Whether a request with this header and client certificate is accepted."""
        if not self.is_asked_for or (self.certificates and certificate):
            return True
        scheme, _, given = authorization.partition(" ")
        if scheme.lower() == "bearer" and self.token_file is not None:
            return hmac.compare_digest(read_token(self.token_file).encode(), given.strip().encode())
        if scheme.lower() == "basic" and len(self.users):
            user, colon, password = _decoded(given).partition(":")
            return bool(colon) and self.users.has_password(user, password)
        return False


def read_token(file: Path) -> str:
    """The token in a file. :raises OSError: :raises ValueError: it is empty, or not text"""
    token = read_bounded(file, MEBIBYTE).decode().strip()
    if not token:
        raise ValueError("it is empty")
    return token


def reason(error: OSError | ValueError) -> str:
    """Why `read_token` failed, as a message without the file's name."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "it is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def _decoded(given: str) -> str:
    try:
        return base64.b64decode(given.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterPages:
    """The pages served."""

    cache: FigureCache
    login: Login
    report: Callable[[str], object]
    """Called with a line for each internal error."""


class WebServer(ThreadingHTTPServer):
    """Listens from its creation; answers in `serve_forever`."""

    daemon_threads = True
    request_queue_size = MOST_CONNECTIONS

    def __init__(
        self, host: str, port: int, site: ExporterPages, tls: Callable[[], ssl.SSLContext | None]
    ) -> None:
        """`tls` is called for each connection. :raises OSError: the address cannot be used"""
        self.site, self._tls = site, tls
        self._room = BoundedSemaphore(MOST_CONNECTIONS)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Bind the socket without the name lookup of http.server."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        tls = self._tls()
        if tls is not None:
            connection = tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Report an error, unless a connection was closed or a client uses another protocol."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self.site.report(f"a scrape failed: {type(error).__name__}: {error}")


class _Handler(BaseHTTPRequestHandler):
    server: WebServer
    protocol_version = "HTTP/1.1"
    server_version = "Kohort"
    sys_version = ""
    timeout = SILENT_S
    wbufsize = -1

    def do_GET(self) -> None:
        """Serve all pages."""
        path = self.path.partition("?")[0]
        answers: Mapping[str, Callable[[], None]] = {HEALTHY: self._healthy, READY: self._ready}
        if path in answers:
            answers[path]()
        elif not self._is_let_in():
            self._answer(
                HTTPStatus.UNAUTHORIZED,
                [b"login required\n"],
                {"WWW-Authenticate": 'Basic realm="kohort", charset="UTF-8"'},
            )
        elif path == METRICS:
            self._metrics()
        elif path == "/":
            self._answer(HTTPStatus.OK, [_LANDING.encode()], {"Content-Type": "text/html; charset=utf-8"})
        else:
            self._answer(HTTPStatus.NOT_FOUND, [f"not found; see / {METRICS} {HEALTHY} {READY}\n".encode()])

    do_HEAD = do_GET  # noqa: N815

    def _is_let_in(self) -> bool:
        connection = self.connection
        shown = connection.getpeercert() if isinstance(connection, ssl.SSLSocket) else None
        try:
            return self.server.site.login.allows(self.headers.get("Authorization", ""), shown)
        except (OSError, ValueError) as error:
            self.server.site.report(f"--token-file cannot be read: {reason(error)}")
            return False

    def _healthy(self) -> None:
        self._answer(HTTPStatus.OK, [b"running\n"])

    def _ready(self) -> None:
        if self.server.site.cache.state.last_ms is None:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, [b"no poll has succeeded yet\n"])
        else:
            self._answer(HTTPStatus.OK, [b"ready\n"])

    def _metrics(self) -> None:
        shown: Exposition = self.server.site.cache.exposition(
            self.headers.get("Accept", ""),
            compressed=gzip_accepted(self.headers.get("Accept-Encoding", "")),
        )
        more = {"Content-Encoding": "gzip"} if shown.is_compressed else {}
        self._answer(
            HTTPStatus.OK,
            shown.pieces,
            {"Content-Type": shown.content_type, "Vary": "Accept, Accept-Encoding", **more},
            length=shown.length,
        )

    def _answer(
        self,
        status: HTTPStatus,
        pieces: Iterable[bytes],
        headers: Mapping[str, str] | None = None,
        length: int | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": _PLAIN, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(sum(map(len, pieces)) if length is None else length))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            for piece in pieces:
                self.wfile.write(piece)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: there are many scrapes."""
