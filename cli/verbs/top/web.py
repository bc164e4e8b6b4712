"""`kohort top --web`: the same screens in a browser. Each page is a process of its own, which is read-only unless the
command says otherwise; a page of another site can open neither it nor its socket."""

import shlex
import ssl
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web
from textual_serve.server import Server

from cli.errors import UsageError
from cli.options import SourceOptions
from cli.output import write_out
from cli.verbs.top.choice import selection_words
from cli.verbs.top.options import DEFAULT_LISTEN, TopOptions
from cli.verbs.top.words import KOHORT, source_words
from cli.web_guard import Guard, guard_of
from cli.web_guard_options import GuardOptions
from wire.client.address import Address

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def serve_top(options: TopOptions, access: GuardOptions, source: SourceOptions) -> None:
    """Serve until Ctrl-C. UsageError: the address cannot be used, or others could reach it without a login."""
    guard = guard_of(access, DEFAULT_LISTEN)
    words = [
        *KOHORT,
        "top",
        "--every",
        str(options.every),
        "--read-only",
    ]
    server = TopServer(
        shlex.join([*words, *source_words(source), *selection_words(options.selection)]), guard
    )
    try:
        web.run_app(
            server.application(),
            host=guard.address.host,
            port=guard.address.port,
            ssl_context=guard.tls,
            print=None,
            access_log=None,
            handle_signals=True,
        )
    except OSError as error:
        raise UsageError(
            f"--listen {guard.address.host}:{guard.address.port}: {error.strerror or error}"
        ) from None


class TopServer(Server):
    def __init__(self, command: str, guard: Guard) -> None:
        host, port = guard.address.host, guard.address.port
        scheme = "http" if guard.tls is None else "https"
        url = f"{scheme}://{Address(host, port)}"
        super().__init__(command, host=host, port=port, title="kohort top", public_url=url)
        self._guard = guard

    async def application(self) -> web.Application:
        app = await self._make_app()
        app.middlewares.append(self._guarded)
        return app

    async def on_startup(self, app: web.Application) -> None:  # noqa: ARG002  (aiohttp's form)
        write_out(lambda out: out.write(f"Serving kohort top on {self.public_url}\n"))

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A login where one is set up; and nothing for a page of another site, which may know the port: a browser names
        the page's origin, and the name by which it found this machine."""
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="a page of another site asked for this\n")
        if self._guard.address.is_loopback and urlsplit(f"//{request.host}").hostname not in LOOPBACK:
            raise web.HTTPForbidden(text="this machine is not called by that name\n")
        certificate = _certificate(request)
        if not self._guard.login.allows(request.headers.get("Authorization", ""), certificate):
            headers = {"WWW-Authenticate": 'Basic realm="kohort", charset="UTF-8"'}
            raise web.HTTPUnauthorized(text="login required\n", headers=headers)
        return await handler(request)


LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _certificate(request: web.Request) -> object:
    connection = request.get_extra_info("ssl_object")
    return connection.getpeercert() if isinstance(connection, ssl.SSLObject) else None
