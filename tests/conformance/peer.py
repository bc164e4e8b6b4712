"""One connection of a script to a server: requests go out at once, answers come in the order of the requests."""

import asyncio
from collections import deque
from typing import Any, Self

from tests.conformance.messages import decoded, encoded

LENGTH_BYTES = 4


class Closed(Exception):
    """The server closed the connection."""


class Peer:
    """A connection. `host` and `port` are the server's."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: deque[tuple[int, Any, asyncio.Future[Any]]] = deque()
        self._correlation_id = 0
        self._closed = False
        self._task = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, host: str, port: int) -> Self:
        """Connect. :raises OSError:"""
        return cls(*await asyncio.open_connection(host, port))

    def send(
        self, message: Any, answer_type: Any, *, version: int | None = None, client_id: str | None = None
    ) -> asyncio.Future[Any]:
        """Send a request; returns its answer, or `Closed`."""
        self._correlation_id += 1
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self._closed:
            future.set_exception(Closed())
            return future
        self._waiting.append((self._correlation_id, answer_type, future))
        self.send_bytes(encoded(message, self._correlation_id, version, client_id))
        return future

    def send_bytes(self, content: bytes) -> None:
        self._writer.write(len(content).to_bytes(LENGTH_BYTES, "big") + content)

    async def ended(self) -> None:
        await asyncio.shield(self._task)

    async def close(self) -> None:
        self._task.cancel()
        self._writer.close()
        await asyncio.gather(self._task, self._writer.wait_closed(), return_exceptions=True)

    async def _read(self) -> None:
        try:
            while True:
                length = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big")
                content = await self._reader.readexactly(length)
                number, answer_type, future = self._waiting.popleft()
                id_ = int.from_bytes(content[:4], "big")
                if future.cancelled():
                    continue
                if id_ != number:
                    future.set_exception(ValueError(f"correlation id {id_} came instead of {number}"))
                    continue
                try:
                    future.set_result(decoded(answer_type, content))
                except ValueError as error:
                    future.set_exception(error)
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            self._closed = True
            for _, _, future in self._waiting:
                if not future.done():
                    future.set_exception(Closed())
                    future.exception()  # it may have no waiter
            self._waiting.clear()
