"""Serve an agent's program over standard input and output."""

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from threading import Thread
from typing import BinaryIO, cast

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from cli.output import notice

MOST_LINE = 8 * 1024 * 1024  # Bytes of a request
MOST_WAITING = 64  # Requests that are read ahead


async def serve_stdio(server: Server) -> None:
    """Serve until standard input ends, or a signal."""
    if sys.stdin.isatty():
        notice("waiting for an agent's program on standard input; Ctrl-C ends it")
    lines = cast("anyio.AsyncFile[str]", _Lines(sys.stdin.buffer))
    async with anyio.create_task_group() as tasks, stdio_server(stdin=lines) as (reading, writing):
        tasks.start_soon(on_signal, tasks.cancel_scope.cancel)
        await server.run(reading, writing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def on_signal(stop: Callable[[], object]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            stop()


class _Lines:
    """The lines of a file, read ahead in a thread that nothing waits for: a read of a terminal or pipe cannot be
    cancelled. A line that is too long is empty, which is no request."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def __aiter__(self) -> AsyncIterator[str]:
        lines: asyncio.Queue[bytes] = asyncio.Queue(MOST_WAITING)
        Thread(target=self._read, args=(lines, asyncio.get_running_loop()), daemon=True).start()
        while line := await lines.get():
            yield line.decode(errors="replace")

    def _read(self, lines: "asyncio.Queue[bytes]", loop: asyncio.AbstractEventLoop) -> None:
        with suppress(OSError, ValueError, RuntimeError):  # the file or the loop was closed
            while True:
                line = self._file.readline(MOST_LINE)
                if len(line) == MOST_LINE and not line.endswith(b"\n"):
                    while rest := self._file.readline(MOST_LINE):
                        if rest.endswith(b"\n"):
                            break
                    line = b"\n"
                asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
                if not line:
                    return


class _Faults(logging.Handler):
    """What the SDK and uvicorn log: an internal error is a line, a malformed request is not."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            error = record.exc_info[1] if record.exc_info else None
            notice(record.getMessage() + ("" if error is None else f": {type(error).__name__}: {error}"))


def log_faults() -> None:
    for name in ("mcp", "uvicorn", "asyncio", "client"):
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.handlers = [_Faults()]
