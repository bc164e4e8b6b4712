"""The server's shared limits: quick and slow threads for work, memory for incomplete requests and unread answers."""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Protocol, TypeVar

from wire.log.compression import MOST_BYTES, ExpandsTooFar

T = TypeVar("T")
_log = logging.getLogger(__name__)

TURN_S = 0.002  # how long a request of many parts keeps the event loop before other clients continue
IN_LOOP_BYTES = 256 << 10  # what a batch may decompress to in the event loop: a millisecond's work
QUICK_BYTES = 8 << 20  # the most bytes that work of a quick thread expands a batch to
QUICK_AT_ONCE = 4
MOST_RECEIVED = 192 << 20  # the bytes of long requests that are not yet answered, over all connections
MOST_UNSENT = 64 << 20  # the bytes of answers that clients have not read, over all connections
ANSWER_SHARE = 4  # a Fetch is answered with at most this part of the room for unsent bytes
STALLED_S = 60.0  # how long a long request may stop arriving


class LimitedConnection(Protocol):
    @property
    def unsent(self) -> int: ...
    def drop(self) -> None: ...


class Turn:
    def __init__(self) -> None:
        self._end_s = time.perf_counter() + TURN_S

    async def pause(self) -> None:
        """Between two parts: let other clients continue, if it is time."""
        if time.perf_counter() > self._end_s:
            await asyncio.sleep(0)
            self._end_s = time.perf_counter() + TURN_S


class Limits:
    def __init__(self) -> None:
        self.quick = ThreadPoolExecutor(QUICK_AT_ONCE, thread_name_prefix="quick")
        self.slow = ThreadPoolExecutor(1, thread_name_prefix="slow")
        self._turn = asyncio.Lock()
        self._received: dict[LimitedConnection, tuple[int, float]] = {}
        """The bytes of each long request and the time of the last ones, the oldest first."""
        self._arrived: dict[LimitedConnection, int] = {}  # the bytes of long requests that are answered now
        self._received_bytes = 0
        self._unread: dict[LimitedConnection, None] = {}
        """Connections with large unread answers, those that have had them the longest first."""

    async def run(self, work: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.quick, work, *arguments)

    async def run_slowly(self, work: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.slow, work, *arguments)

    async def bounded(self, work: Callable[[int], T], *, is_quick: bool = True) -> T:
        """The result of work limited to its argument's bytes; if it `is_quick`, it is tried in the event loop first."""
        with suppress(ExpandsTooFar):
            if is_quick:
                return work(IN_LOOP_BYTES)
        with suppress(ExpandsTooFar):
            return await self.run(work, QUICK_BYTES)
        return await self.run_slowly(work, MOST_BYTES)

    async def turn(self) -> None:
        """Wait until other clients have had their turn since the previous long request."""
        async with self._turn:
            await asyncio.sleep(0)

    def received(self, connection: LimitedConnection, size: int) -> None:
        before, _ = self._received.pop(connection, (0, 0.0))
        self._received[connection] = before + size, time.monotonic()
        self._received_bytes += size
        while self._received_bytes > MOST_RECEIVED and len(self._received) > 1:
            self._drop_receiving(next(iter(self._received)))

    def arrived(self, connection: LimitedConnection) -> None:
        """The connection's long request is whole; its bytes count until `release`."""
        self._arrived[connection] = self._received.pop(connection, (0, 0.0))[0]

    def release(self, connection: LimitedConnection) -> None:
        size, _ = self._received.pop(connection, (0, 0.0))
        self._received_bytes -= size + self._arrived.pop(connection, 0)

    def drop_stalled(self) -> None:
        stopped = time.monotonic() - STALLED_S
        for connection in [one for one, (_, progress) in self._received.items() if progress < stopped]:
            self._drop_receiving(connection)

    def _drop_receiving(self, connection: LimitedConnection) -> None:
        self.release(connection)
        connection.drop()

    @property
    def answer_bytes(self) -> int:
        return max(0, MOST_UNSENT - self._unsent()) // ANSWER_SHARE

    def written(self, connection: LimitedConnection) -> None:
        """Count a large answer; if there are too many bytes, clients that do not read lose their connections."""
        self._unread.setdefault(connection)
        unsent = self._unsent()
        for slowest in tuple(self._unread) if unsent > MOST_UNSENT else ():
            if unsent <= MOST_UNSENT or len(self._unread) == 1:
                break
            unsent -= slowest.unsent
            self.read(slowest)
            _log.warning(
                "A connection is closed: too many bytes of answers are unread, its own for the longest time"
            )
            slowest.drop()

    def read(self, connection: LimitedConnection) -> None:
        self._unread.pop(connection, None)

    def _unsent(self) -> int:
        sizes = {connection: connection.unsent for connection in self._unread}
        for connection, size in sizes.items():
            if not size:
                del self._unread[connection]
        return sum(sizes.values())

    def close(self) -> None:
        for threads in (self.quick, self.slow):
            threads.shutdown(wait=False, cancel_futures=True)
