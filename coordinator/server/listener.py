"""The listening socket and its clients, until the process is told to end: frames in, answers out.

serve(cluster, host, port, listening)      from the outside: until SIGTERM or SIGINT

A client's answers leave in the order of its requests. The next request is read when the last one is answered, as Kafka
does (`SocketServer` mutes the channel): a request that waits holds every later one on its connection.

What is long is read, and what may be long written, by a thread beside the event loop, so that others do not wait
for it; and only a few long requests are read at a time, which bounds the memory that all clients together can take.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from ipaddress import IPv6Address, ip_address
from typing import Self

from coordinator.errors import CoordinatorError
from coordinator.server.broker import Broker
from coordinator.server.caller import Session
from coordinator.server.cluster import Cluster
from coordinator.server.dispatch import LONG_BYTES, Dispatcher, Incoming, understand
from coordinator.server.exchange import PeerFault
from wire.client.address import Address
from wire.messages.framing import LENGTH_BYTES, MAX_FRAME_BYTES, frame
from wire.messages.reader import DecodeError

_log = logging.getLogger(__name__)

LONG_AT_ONCE = 4
"""Requests longer than `LONG_BYTES`; others wait for their turn. Every connection may hold that much unasked."""
BACKLOG = 1024
"""Connections that wait to be accepted: a thousand clients may start at once."""
ENOUGH = 65_536
"""No more connections than these, whatever the system allows."""
KEPT_FREE = 256
"""Files for what is no connection: the log's, the standard streams, libraries."""
IDLE_S = 600.0
"""Kafka's `connections.max.idle.ms`: a client that is quiet for so long is taken for gone."""
SWEEP_S = 30.0
"""How often such clients are looked for."""
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


def serve(cluster: Cluster, host: str, port: int, listening: Callable[[Address], None]) -> None:
    """Serve clients at `host`:`port` until SIGTERM or SIGINT; `listening` is told where, once it works.

    :raises CannotListen: :raises StorageLost:
    :raises StorageFailed: :raises DamagedLog: the data directory could not be closed in good order
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    asyncio.run(_serve(cluster, host, port, listening))


async def _serve(cluster: Cluster, host: str, port: int, listening: Callable[[Address], None]) -> None:
    told_to_end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told_to_end.set)
    try:
        listener = await _open(cluster, cluster.controller, host, port)
        cluster.start()
        try:
            listening(Address(cluster.controller.host, cluster.controller.port))
            await _first_of(told_to_end, cluster.failed)
            if cluster.failure is not None:
                await asyncio.sleep(LAST_ANSWERS_S)
        finally:
            await listener.close()
    finally:
        await cluster.close()
    if cluster.failure is not None:
        raise StorageLost(cluster.failure)


async def _open(cluster: Cluster, broker: Broker, host: str, port: int) -> Listener:
    try:
        return await Listener.open(cluster, broker, host, port)
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


class Listener:
    """Where one broker of the cluster listens, until it is closed."""

    def __init__(self, cluster: Cluster, broker: Broker) -> None:
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], ClientConnection] = {}
        self._most = most_connections()
        self._turns = asyncio.Semaphore(LONG_AT_ONCE)
        # Threads of its own: those of the event loop see to it that records reach the disk.
        self._aside = ThreadPoolExecutor(LONG_AT_ONCE, thread_name_prefix="long")
        self._dispatcher = Dispatcher(cluster, broker, self._aside)
        self._sweeper: asyncio.TimerHandle | None = None

    @classmethod
    async def open(cls, cluster: Cluster, broker: Broker, host: str, port: int) -> Self:
        """Listen on `host`:`port`, 0 for any free port; `broker.port` says which. :raises OSError:"""
        listener = cls(cluster, broker)
        listener._server = await asyncio.start_server(listener._accept, host, port, backlog=BACKLOG)
        address = listener._server.sockets[0].getsockname()
        broker.host, broker.port = host, address[1]
        listener._sweep_later()
        return listener

    async def close(self) -> None:
        """Stop listening, and close every connection."""
        if self._server is not None:
            self._server.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
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
        self._connections[task] = ClientConnection(self._dispatcher, reader, writer, self._turns, self._aside)
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


class ClientConnection:
    """A client, and the conversation with it."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        turns: asyncio.Semaphore,
        aside: Executor,
    ) -> None:
        """`turns` are those of the `LONG_AT_ONCE` requests that may be read at a time, over all connections.

        `aside` runs what takes long.
        """
        self._dispatcher = dispatcher
        self._reader = reader
        self._writer = writer
        self._turns = turns
        self._aside = aside
        self._session = Session(host=as_java_shows(writer.get_extra_info("peername")[0]))
        self._quiet_since: float | None = time.monotonic()

    def quiet_s(self) -> float:
        """For how long the client has sent no request, or not read its answer; 0 while it waits for one."""
        return 0.0 if self._quiet_since is None else time.monotonic() - self._quiet_since

    def drop(self) -> None:
        """End it now; what the client has not read is thrown away."""
        self._writer.transport.abort()

    async def converse(self) -> None:
        """Answer the client until it goes, or sends what cannot be read."""
        try:
            while (incoming := await self._read()) is not None:
                self._quiet_since = None
                answer = await self._dispatcher.respond(incoming, self._session)
                self._quiet_since = time.monotonic()
                if answer is not None:
                    self._writer.write(frame(answer))
                    await self._writer.drain()
        except (DecodeError, PeerFault) as error:
            _log.warning("A connection from %s is closed: %s", self._session.host, error)
        except OSError:
            pass  # the client is gone
        finally:
            self._writer.close()

    async def _read(self) -> Incoming | None:
        """The next request; None at the end of the connection."""
        try:
            length = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big", signed=True)
            if not 0 <= length <= MAX_FRAME_BYTES:
                raise PeerFault(f"a frame of {length} bytes is announced")
            if length <= LONG_BYTES:
                return understand(await self._reader.readexactly(length))
            async with self._turns:
                content = await self._reader.readexactly(length)
                return await asyncio.get_running_loop().run_in_executor(self._aside, understand, content)
        except asyncio.IncompleteReadError:
            return None


def as_java_shows(host: str) -> str:
    """An address in the form of Java's `InetAddress`: `/127.0.0.1`, `/0:0:0:0:0:0:0:1`."""
    address = ip_address(host.partition("%")[0])
    if isinstance(address, IPv6Address):
        return "/" + ":".join(f"{int(group, 16):x}" for group in address.exploded.split(":"))
    return f"/{address}"
