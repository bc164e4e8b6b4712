"""The listening socket and the connections that came over it, until the process is told to end.

serve(node, host, port, listening)      from the outside: until SIGTERM or SIGINT
"""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from coordinator.errors import CoordinatorError
from coordinator.server.connection import LONG_AT_ONCE, ClientConnection
from coordinator.server.node import CoordinatorNode
from wire.client.address import Address

SWITCH_INTERVAL_S = 0.0005
"""How long a thread that computes, as compaction does, may keep the event loop waiting (Python's default: 5 ms)."""


LAST_ANSWERS_S = 0.2
"""How long clients get to read that they are refused, before their connections are closed."""


class CannotListen(CoordinatorError):
    """The address is taken, or not of this machine."""


class StorageLost(CoordinatorError):
    """The data directory could not be written any more."""

    def __init__(self, error: Exception) -> None:
        super().__init__(
            f"{error}. The server ends, as what it has in memory is no longer what the directory holds. "
            "Put that right and start it again: it goes on from what is there."
        )


def serve(node: CoordinatorNode, host: str, port: int, listening: Callable[[Address], None]) -> None:
    """Serve clients at `host`:`port` until SIGTERM or SIGINT; `listening` is told where, once it works.

    :raises CannotListen: :raises StorageLost:
    :raises StorageFailed: :raises DamagedLog: the data directory could not be closed in good order
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    asyncio.run(_serve(node, host, port, listening))


async def _serve(node: CoordinatorNode, host: str, port: int, listening: Callable[[Address], None]) -> None:
    told_to_end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told_to_end.set)
    try:
        listener = await _open(node, host, port)
        try:
            listening(Address(node.host, node.port))
            await _first_of(told_to_end, node.failed)
            if node.failure is not None:
                await asyncio.sleep(LAST_ANSWERS_S)
        finally:
            await listener.close()
    finally:
        await node.close()
    if node.failure is not None:
        raise StorageLost(node.failure)


async def _open(node: CoordinatorNode, host: str, port: int) -> Listener:
    try:
        return await Listener.open(node, host, port)
    except OSError as error:
        raise CannotListen(
            f"{Address(host, port)} cannot be listened on: {error.strerror or error}. "
            "Take another port, or 0 for any free one."
        ) from None


async def _first_of(*events: asyncio.Event) -> None:
    """Wait until one of them is set."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


ENOUGH = 65_536


KEPT_FREE = 256
"""For what is no connection: the log's files, the standard streams, libraries."""


def most_connections() -> int:
    """Take what the system allows, and say how many connections that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft == resource.RLIM_INFINITY:
        soft = ENOUGH
    elif soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return max(1, soft - KEPT_FREE)


BACKLOG = 1024
"""Connections that wait to be accepted: a thousand clients may start at once."""


IDLE_S = 600.0
"""Kafka's `connections.max.idle.ms`: a client that is quiet for so long is taken for gone."""


SWEEP_S = 30.0
"""How often such clients are looked for."""


_log = logging.getLogger(__name__)


class Listener:
    """Listens until it is closed."""

    def __init__(self, node: CoordinatorNode) -> None:
        self._node = node
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], ClientConnection] = {}
        self._most = most_connections()
        self._turns = asyncio.Semaphore(LONG_AT_ONCE)
        # Threads of its own: those of the event loop see to it that records reach the disk.
        self._aside = ThreadPoolExecutor(LONG_AT_ONCE, thread_name_prefix="long")
        self._sweeper: asyncio.TimerHandle | None = None

    @classmethod
    async def open(cls, node: CoordinatorNode, host: str, port: int) -> Self:
        """Listen on `host`:`port`, 0 for any free port; `node.port` says which. :raises OSError:"""
        listener = cls(node)
        listener._server = await asyncio.start_server(listener._accept, host, port, backlog=BACKLOG)
        address = listener._server.sockets[0].getsockname()
        node.host, node.port = host, address[1]
        node.start()
        listener._sweep_later()
        return listener

    async def close(self) -> None:
        """Stop listening, close every connection, and stop the clock of the node."""
        if self._server is not None:
            self._server.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._node.stop()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self._aside.shutdown(wait=False, cancel_futures=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a connection is served in a task of its own")
        if len(self._connections) == self._most:
            _log.warning("A connection is refused: %d are open, and there are no more files", self._most)
            writer.transport.abort()
            return
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._connections[task] = ClientConnection(self._node, reader, writer, self._turns, self._aside)
        try:
            await self._connections[task].converse()
        except asyncio.CancelledError:
            pass  # the listener is being closed
        finally:
            del self._connections[task]

    def _sweep_later(self) -> None:
        self._sweeper = asyncio.get_running_loop().call_later(SWEEP_S, self._sweep)

    def _sweep(self) -> None:
        """Drop the clients that are quiet for too long."""
        for connection in self._connections.values():
            if connection.quiet_s() > IDLE_S:
                connection.drop()
        self._sweep_later()
