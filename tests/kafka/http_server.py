"""A small HTTP server on loopback that stands where a cloud's own service does."""

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.kafka.ports import HOST


@dataclass(frozen=True, kw_only=True)
class Asked:
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A response; the type is what clients look at."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


@contextmanager
def http_server(answer: Callable[[Asked], Answer], certificate: Path | None = None) -> Iterator[str]:
    """Serve until the end of the block, with a PEM file of key and chain over https; gives its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            made = answer(Asked(path=self.path, headers=dict(self.headers.items()), body=body))
            self.send_response(made.status)
            for name, value in made.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(made.body)))
            self.end_headers()
            self.wfile.write(made.body)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_args: Any) -> None:
            """Nothing goes to stderr."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    serving.start()
    try:
        yield f"{'http' if certificate is None else 'https'}://{HOST}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
