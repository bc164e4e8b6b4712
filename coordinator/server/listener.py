"""The listening socket and the connections that came over it."""

from __future__ import annotations

import asyncio
import logging
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from coordinator.server.connection import LONG_AT_ONCE, Connection
from coordinator.server.node import Node
from coordinator.server.open_files import most_connections

BACKLOG = 1024
"""Connections that wait to be accepted: a thousand clients may start at once."""
IDLE_S = 600.0
"""Kafka's `connections.max.idle.ms`: a client that is quiet for so long is taken for gone."""
SWEEP_S = 30.0
"""How often such clients are looked for."""

_log = logging.getLogger(__name__)


class Listener:
    """Listens until it is closed."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], Connection] = {}
        self._most = most_connections()
        self._turns = asyncio.Semaphore(LONG_AT_ONCE)
        # Threads of its own: those of the event loop see to it that records reach the disk.
        self._aside = ThreadPoolExecutor(LONG_AT_ONCE, thread_name_prefix="long")
        self._sweeper: asyncio.TimerHandle | None = None

    @classmethod
    async def open(cls, node: Node, host: str, port: int) -> Self:
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
        self._connections[task] = Connection(self._node, reader, writer, self._turns, self._aside)
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
