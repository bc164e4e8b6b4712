"""Pages over HTTP and HTTPS: a thread for each connection; a new one takes the place of the longest silent client."""

import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import BoundedSemaphore, Lock
from typing import Any

MOST_CONNECTIONS = 64
BACKLOG = 1024
REQUEST_S = 30.0  # the time for a whole request, from the connection or the previous answer
ANSWER_S = 60.0  # the time in which an answer has to be read
PLACE_S = 1.0  # the time that a closed connection has to give up its place
PLAIN = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    path: str
    query: str
    headers: Message
    certificate: object  # the client's, if it has shown one


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """An answer. Pieces that can be read only once need their `length`."""

    pieces: Iterable[bytes]
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None


class WebServer(ThreadingHTTPServer):
    """Listens from its creation; answers in `serve_forever`, with what `page` returns in any thread."""

    daemon_threads = True
    request_queue_size = BACKLOG

    def __init__(
        self,
        host: str,
        port: int,
        page: Callable[[PageRequest], WebPage],
        report: Callable[[str], object],
        tls: Callable[[], ssl.SSLContext | None] = lambda: None,
    ) -> None:
        """`report` gets a line for each internal error, `tls` is called for each connection. Raises OSError."""
        self.page, self._report, self._tls = page, report, tls
        self._room = BoundedSemaphore(MOST_CONNECTIONS)
        self._lock = Lock()
        self._waiting: dict[socket.socket, float] = {}  # since when each request is incomplete, oldest first
        self._answered: dict[socket.socket, float] = {}  # since when each is answered, oldest first
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

    def process_request(self, request: Any, client_address: object) -> None:
        if not self._room.acquire(blocking=False):
            self._end_oldest()
            if not self._room.acquire(timeout=PLACE_S):
                self.shutdown_request(request)
                return
        self.waits(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: object) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._waiting.pop(request, None)
            self._answered.pop(request, None)
        super().shutdown_request(request)

    def waits(self, connection: socket.socket) -> None:
        with self._lock:
            self._answered.pop(connection, None)
            self._waiting[connection] = time.monotonic()

    def answers(self, connection: socket.socket) -> None:
        with self._lock:
            self._waiting.pop(connection, None)
            self._answered[connection] = time.monotonic()

    def service_actions(self) -> None:
        """Twice a second: end the connections whose time is over."""
        now = time.monotonic()
        with self._lock:
            for connections, most_s in ((self._waiting, REQUEST_S), (self._answered, ANSWER_S)):
                for connection in [stalled for stalled, since in connections.items() if now - since > most_s]:
                    self._end(connections, connection)

    def _end_oldest(self) -> None:
        with self._lock:
            connections = self._waiting or self._answered
            if connections:
                self._end(connections, next(iter(connections)))

    def _end(self, connections: dict[socket.socket, float], connection: socket.socket) -> None:
        del connections[connection]
        with suppress(OSError):
            socket.socket.shutdown(connection, socket.SHUT_RDWR)  # not that of TLS, which its thread uses

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        """Report an error, unless a connection was closed or a client uses another protocol."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self._report(f"a scrape failed: {type(error).__name__}: {error}")


class _Handler(BaseHTTPRequestHandler):
    server: WebServer
    protocol_version = "HTTP/1.1"
    server_version = "Kohort"
    sys_version = ""
    timeout = REQUEST_S
    wbufsize = -1

    def do_GET(self) -> None:
        self.server.answers(self.connection)
        path, _, query = self.path.partition("?")
        connection = self.connection
        certificate = connection.getpeercert() if isinstance(connection, ssl.SSLSocket) else None
        asked = PageRequest(path=path, query=query, headers=self.headers, certificate=certificate)
        page = self.server.page(asked)
        self.send_response(page.status)
        for name, value in {"Content-Type": PLAIN, **page.headers}.items():
            self.send_header(name, value)
        length = sum(map(len, page.pieces)) if page.length is None else page.length
        self.send_header("Content-Length", str(length))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            for piece in page.pieces:
                self.wfile.write(piece)
        self.wfile.flush()
        self.server.waits(connection)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: there are many scrapes."""
