"""`kohort top --web`: the same screens in a browser, drawn there by textual-serve's terminal. Each page is a
separate process, which is read-only unless the command allows changes; a page of another site can open neither it nor
its socket."""

import asyncio
import json
import logging
import os
import signal
import ssl
from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from aiohttp import WSCloseCode, web
from aiohttp.http_exceptions import HttpProcessingError

from cli.errors import UsageError, fault
from cli.options import SourceOptions
from cli.output import notice, write_out
from cli.verbs.top.options import DEFAULT_LISTEN, TopOptions, option_words
from cli.verbs.top.page import PageProcess, running_page
from cli.verbs.top.words import KOHORT, source_words
from cli.web_guard import Guard, guard_of
from cli.web_guard_options import GuardOptions
from coordinator.server.listener import CannotListen
from wire.client.address import Address

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
MOST_PAGES = 16
MOST_INPUT = 1024 * 1024  # Bytes of a message, as of a text that is pasted
RENEWED_EVERY_S = 5.0  # TLS files are looked at again
HEARTBEAT_S = 15.0  # A browser that vanished is noticed within twice that
LOOPBACK = ("localhost", "127.0.0.1", "::1")
FOCUS = """
new MutationObserver((_, watch) => {
  if (!document.body.classList.contains("-loaded")) return;
  watch.disconnect();
  document.querySelector("textarea").focus();
}).observe(document.body, { attributes: true });
"""
"""Typing needs no click once the page is connected."""
_FOCUS_HASH = b64encode(sha256(FOCUS.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    f"script-src 'self' 'sha256-{_FOCUS_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cache-Control": "no-store",  # Nor does a browser keep a page, with its process, for its Back button
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>kohort top</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="static/css/xterm.css">
<script src="static/js/textual.js"></script>
<style>
@font-face {{ font-family: "Roboto Mono"; src: url(static/fonts/RobotoMono-VariableFont_wght.ttf); }}
html, body {{ height: 100%; margin: 0; overflow: hidden; background: #121212; }}
#terminal {{ height: 100%; }}
#ended {{ display: none; position: fixed; inset: auto 0 0 0; padding: 1em; background: #ffd75f; }}
.-closed #ended {{ display: block; font: 16px sans-serif; }}
.-closed #terminal {{ opacity: 0.5; }}
</style></head><body>
<div id="terminal" class="textual-terminal" data-session-websocket-url="ws" data-font-size="16"></div>
<p id="ended" role="alert">This page of kohort top has ended. <a href="">Open it again</a></p>
<script>{FOCUS}</script>
</body></html>
"""


def serve_top(options: TopOptions, access: GuardOptions, source: SourceOptions) -> None:
    """Serve until a signal. Raises CannotListen. UsageError: others could reach it, or change groups, without a
    login."""
    guard = guard_of(access, DEFAULT_LISTEN)
    if options.allow_changes and not guard.login.is_asked_for:
        raise UsageError(
            "--allow-changes needs a login (--access, --token-file or --tls-client-ca): "
            "every user of this machine can open the page"
        )
    page = replace(options, web=False, allow_changes=False, read_only=not options.allow_changes)
    words = (*KOHORT, "top", *source_words(source), *option_words(page), *option_words(options.selection))
    asyncio.run(TopServer(words, guard).serve())
    notice("stopped")


class TopServer:
    def __init__(self, words: Sequence[str], guard: Guard) -> None:
        """`words`: the command that draws a page."""
        self.words, self._guard = words, guard
        self._sockets: set[web.WebSocketResponse] = set()

    async def serve(self) -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as after nohup
                asyncio.get_running_loop().add_signal_handler(number, stop.set)
        with as_file(files("textual_serve") / "static") as static:
            application = self.application(static)
            runner = web.AppRunner(application, access_log=None, logger=_logger(), shutdown_timeout=5.0)
            await runner.setup()
            try:
                await self._listen(runner)
                while not stop.is_set():
                    self._guard.renew(notice)
                    with suppress(TimeoutError):
                        await asyncio.wait_for(stop.wait(), RENEWED_EVERY_S)
            finally:
                await runner.cleanup()

    def application(self, static: Path) -> web.Application:
        application = web.Application(middlewares=[self._guarded])
        application.router.add_get("/", self._index)
        application.router.add_get("/ws", self._socket)
        application.router.add_static("/static", static)
        application.on_response_prepare.append(_with_headers)
        application.on_shutdown.append(self._close_sockets)
        return application

    async def _listen(self, runner: web.AppRunner) -> None:
        host, port = self._guard.address.host, self._guard.address.port
        try:
            await web.TCPSite(runner, host, port, ssl_context=self._guard.renewing_context()).start()
        except OSError as error:
            # asyncio wraps the system's words in others.
            raise CannotListen(
                Address(host, port), OSError(error.errno, os.strerror(error.errno or 0))
            ) from None
        at = Address(host, runner.addresses[0][1])
        scheme = "http" if self._guard.tls is None else "https"
        write_out(lambda out: out.write(f"Serving kohort top on {scheme}://{at}\n"))

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A login where one is set up; and nothing for a page of another site, which may know the port: a browser names
        the page's origin, and the name by which it found this machine."""
        origin = request.headers.get("Origin")
        if origin is not None and _split(origin).netloc != request.host:
            raise web.HTTPForbidden(text="a page of another site asked for this\n")
        if self._guard.address.is_loopback and _split(f"//{request.host}").hostname not in LOOPBACK:
            raise web.HTTPForbidden(text="this machine is not called by that name\n")
        authorization = request.headers.get("Authorization", "")
        if not self._guard.login.admits(authorization, _certificate(request), notice):
            headers = {"WWW-Authenticate": 'Basic realm="kohort", charset="UTF-8"'}
            raise web.HTTPUnauthorized(text="login required\n", headers=headers)
        if len(self._sockets) >= MOST_PAGES and request.path in ("/", "/ws"):
            raise web.HTTPServiceUnavailable(text=f"{MOST_PAGES} pages are open already; close one\n")
        return await handler(request)

    async def _index(self, request: web.Request) -> web.Response:  # noqa: ARG002  (aiohttp's form)
        return web.Response(text=PAGE, content_type="text/html")

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        """A page, until it is closed or its process ends."""
        try:
            width, height = (int(request.query.get(name, "80")) for name in ("width", "height"))
        except ValueError:
            raise web.HTTPBadRequest(text="the size of a window is two numbers\n") from None
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=MOST_INPUT)
        self._sockets.add(socket)
        try:
            await socket.prepare(request)
            async with running_page(self.words, width, height) as page:
                drawing = asyncio.create_task(_draw(page, socket))
                try:
                    async for message in socket:
                        await _obey(message.data, page, socket)
                finally:
                    drawing.cancel()
        finally:
            self._sockets.discard(socket)
        return socket

    async def _close_sockets(self, application: web.Application) -> None:  # noqa: ARG002  (aiohttp's form)
        await asyncio.gather(*(socket.close(code=WSCloseCode.GOING_AWAY) for socket in self._sockets))


def _split(url: str) -> SplitResult:
    """Its parts; a malformed one has none."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


class _Faults(logging.Handler):
    """What aiohttp logs: a fault of Kohort is a line, a malformed request of a client is not."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, HttpProcessingError):
            notice(f"a page: this is {fault(error, '--debug')}")


def _logger() -> logging.Logger:
    logger = logging.getLogger("kohort.pages")
    if not os.environ.get("KOHORT_DEBUG"):
        logger.propagate = False
        logger.handlers = [_Faults()]
    return logger


async def _draw(page: PageProcess, socket: web.WebSocketResponse) -> None:
    with suppress(ConnectionError):
        async for data in page.output():
            await socket.send_bytes(data)
    await socket.close()


async def _obey(message: str, page: PageProcess, socket: web.WebSocketResponse) -> None:
    """Do what textual-serve's script asks for; anything else is nothing that it sends."""
    try:
        asked = json.loads(message)
    except (ValueError, RecursionError):
        asked = None
    match asked:
        case ["stdin", str(text)]:
            await page.type(text)
        case ["resize", {"width": int(width), "height": int(height)}]:
            await page.resize(width, height)
        case ["focus" | "blur" as kind, *_]:
            await page.focus(kind)
        case ["ping", str(data)]:
            await socket.send_json(["pong", data])
        case _:
            await socket.close(code=WSCloseCode.UNSUPPORTED_DATA)


async def _with_headers(request: web.Request, response: web.StreamResponse) -> None:  # noqa: ARG001  (aiohttp's form)
    response.headers.update(HEADERS)


def _certificate(request: web.Request) -> object:
    connection = request.get_extra_info("ssl_object")
    return connection.getpeercert() if isinstance(connection, ssl.SSLObject) else None
