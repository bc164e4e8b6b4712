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
    lines = cast("anyio.AsyncFile[str]", _lines(sys.stdin.buffer))
    async with anyio.create_task_group() as tasks, stdio_server(stdin=lines) as (reading, writing):
        tasks.start_soon(on_signal, tasks.cancel_scope.cancel)
        await server.run(reading, writing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def on_signal(stop: Callable[[], object]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            stop()


async def _lines(file: BinaryIO) -> AsyncIterator[str]:
    """The lines of a file, read ahead in a thread that nothing waits for: a read of a terminal or pipe cannot be
    cancelled. A line that is too long is empty, which is no request."""
    lines: asyncio.Queue[bytes] = asyncio.Queue(MOST_WAITING)
    loop = asyncio.get_running_loop()

    def read() -> None:
        with suppress(OSError, ValueError, RuntimeError):  # the file or the loop was closed
            line = b"\n"
            while line:
                line, is_cut = file.readline(MOST_LINE), False
                while len(line) == MOST_LINE and not line.endswith(b"\n"):
                    line, is_cut = file.readline(MOST_LINE), True
                asyncio.run_coroutine_threadsafe(lines.put(b"\n" if is_cut and line else line), loop).result()

    Thread(target=read, daemon=True).start()
    while line := await lines.get():
        yield line.decode(errors="replace")


class _Faults(logging.Handler):
    """What the SDK and uvicorn log: an internal error is a line, a malformed request is not."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        notice(record.getMessage() + ("" if error is None else f": {type(error).__name__}: {error}"))


def log_faults() -> None:
    for name in ("mcp", "uvicorn", "asyncio", "client"):
        logger = logging.getLogger(name)
        logger.propagate, logger.handlers = False, [_Faults(logging.ERROR)]
