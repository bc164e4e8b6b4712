"""Serve agents' programs over HTTP, each with a login."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from cli.output import notice, write_line
from cli.verbs.mcp.stdio import on_signal
from cli.web_guard import Guard
from coordinator.server.listener import CannotListen
from wire.client.address import Address

RENEWED_EVERY_S = 5.0  # TLS files are looked at again
PATH = "/mcp"


class _Quiet(uvicorn.Server):
    """Signals are handled here."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True


async def serve_http(server: Server, guard: Guard) -> None:
    """Serve until a signal. Raises CannotListen."""
    tls = guard.renewing_context()
    listener = _listener(guard)
    address = Address(guard.address.host, listener.getsockname()[1])
    # On loopback, pages of other sites may know the port: the SDK compares Host and Origin.
    host = "127.0.0.1" if guard.address.is_loopback else guard.address.host
    app = _guarded(server.streamable_http_app(streamable_http_path=PATH, host=host), guard)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=1,
        ssl_context_factory=None if tls is None else lambda _config, _default: tls,
    )  # fmt: skip
    running = _Quiet(config)
    with listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(on_signal, running.stop)
            tasks.start_soon(_renew, guard)
            write_line(f"Serving agents on {'http' if tls is None else 'https'}://{address}{PATH}")
            await running.serve(sockets=[listener])
            tasks.cancel_scope.cancel()
    notice("stopped")


def _listener(guard: Guard) -> socket.socket:
    host, port = guard.address.host, guard.address.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise CannotListen(Address(host, port), error) from None


async def _renew(guard: Guard) -> None:
    while True:
        await anyio.sleep(RENEWED_EVERY_S)
        guard.renew(notice)


def _guarded(app: ASGIApp, guard: Guard) -> ASGIApp:
    """The application for requests with a login."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        is_start = scope["type"] == "lifespan"
        if is_start or guard.login.admits(Headers(scope=scope).get("authorization", ""), None, notice):
            await app(scope, receive, send)
        else:
            challenge = {"WWW-Authenticate": 'Bearer realm="kohort"'}
            await PlainTextResponse("login required\n", 401, challenge)(scope, receive, send)

    return answer
