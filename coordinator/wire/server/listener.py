"""The listening socket and the connections that came over it."""

from __future__ import annotations

import asyncio
import socket
from typing import Self

from coordinator.wire.server.connection import converse
from coordinator.wire.server.node import Node


class Listener:
    """Listens until it is closed."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, node: Node, host: str, port: int) -> Self:
        """Listen on `host`:`port`, 0 for any free port; `node.port` says which. :raises OSError:"""
        listener = cls(node)
        listener._server = await asyncio.start_server(listener._accept, host, port)
        address = listener._server.sockets[0].getsockname()
        node.host, node.port = host, address[1]
        node.start()
        return listener

    async def close(self) -> None:
        """Stop listening, close every connection, and stop the clock of the node."""
        if self._server is not None:
            self._server.close()
        self._node.stop()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a connection is served in a task of its own")
        self._connections.add(task)
        plug = writer.get_extra_info("socket")
        plug.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await converse(self._node, reader, writer)
        except asyncio.CancelledError:
            writer.close()
        finally:
            self._connections.discard(task)
