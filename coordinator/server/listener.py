"""The listening sockets and their clients, until the process is stopped."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from typing import Self

from coordinator.errors import CoordinatorError
from coordinator.server.broker import Broker
from coordinator.server.cluster import Cluster
from coordinator.server.connection import ClientConnection, Connections
from coordinator.server.dispatch import Dispatcher
from coordinator.server.security.addresses import Advertised
from wire.client.address import Address

BACKLOG = 1024  # connections waiting to be accepted: a thousand clients may start at once
SWITCH_INTERVAL_S = 0.0005  # how long a computing thread may delay the event loop
LAST_ANSWERS_S = 0.2  # how long clients may read their refusals before their connections are closed


class CannotListen(CoordinatorError):
    def __init__(self, address: Address, error: OSError) -> None:
        super().__init__(
            f"{address} cannot be used: {error.strerror or error}. Use another port, or 0 for any free one."
        )


class StorageLost(CoordinatorError):
    def __init__(self, error: Exception) -> None:
        super().__init__(
            f"{error}. The server stops, because the directory no longer holds what it has in memory. "
            "Fix the cause and start it again: it continues from the directory."
        )


def serve(
    cluster: Cluster,
    host: str,
    port: int,
    listening: Callable[[Sequence[Address]], None],
    advertised: Advertised | None = None,
    alongside: Sequence[AbstractAsyncContextManager[object]] = (),
) -> None:
    """Serve on `port` (0: any) and the next ones until SIGTERM. Raises CannotListen or StorageLost or DamagedLog."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    with asyncio.Runner(loop_factory=_event_loop()) as runner:
        listen = partial(_listen, cluster, host, port, advertised)
        runner.run(_serve(cluster, listen, listening, alongside))


def _event_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, if installed: a request costs a third less. None: Python's own."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return new_event_loop


async def _serve(
    cluster: Cluster,
    listen: Callable[[], Awaitable[list[Address]]],
    listening: Callable[[Sequence[Address]], None],
    alongside: Sequence[AbstractAsyncContextManager[object]],
) -> None:
    stop_requested = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop_requested.set)
    try:
        cluster.start()
        async with AsyncExitStack() as stack:
            for task in alongside:
                await stack.enter_async_context(task)
            stack.push_async_callback(close_all, cluster)
            listening(await listen())
            await _first_of(stop_requested, cluster.failed)
            if cluster.failure is not None:
                await asyncio.sleep(LAST_ANSWERS_S)
    finally:
        await cluster.close()
    if cluster.failure is not None:
        raise StorageLost(cluster.failure)


async def _listen(cluster: Cluster, host: str, port: int, advertised: Advertised | None) -> list[Address]:
    places = []
    for number, broker in enumerate(cluster.brokers.values()):
        at = port and port + number
        try:
            await Listener.open(cluster, broker, host, at)
        except OSError as error:
            raise CannotListen(Address(host, at), error) from None
        places.append(Address(broker.host, broker.port))
        if advertised is not None:
            broker.host, first = advertised
            broker.port = broker.port if first is None else first + number
    return places


async def close_all(cluster: Cluster) -> None:
    for broker in cluster.brokers.values():
        if broker.endpoint is not None:
            await broker.endpoint.close()


async def _first_of(*events: asyncio.Event) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


class Listener:
    def __init__(self, cluster: Cluster, broker: Broker, host: str, port: int) -> None:
        self._cluster = cluster
        self._broker = broker
        self._host = host
        self._port = port
        self._connections: Connections | None = None
        self._server: asyncio.Server | None = None

    @classmethod
    async def open(cls, cluster: Cluster, broker: Broker, host: str, port: int) -> Self:
        """Listen on `host`:`port`, 0 for any free port; `broker.port` is the port in use. Raises OSError."""
        listener = cls(cluster, broker, host, port)
        await listener.listen()
        broker.host, broker.port, broker.endpoint = host, listener._port, listener
        return listener

    @property
    def connections(self) -> int:
        return 0 if self._connections is None else len(self._connections)

    async def listen(self) -> None:
        """Listen, also after `close`. Raises OSError."""
        connections = Connections(self._cluster.limits, len(self._cluster.brokers))
        dispatcher = Dispatcher(self._cluster, self._broker)
        try:
            self._server = await asyncio.get_running_loop().create_server(
                partial(ClientConnection, dispatcher, connections),
                self._host,
                self._port,
                backlog=BACKLOG,
                ssl=self._cluster.security.context,
            )
        except OSError:
            await connections.close()
            raise
        self._connections = connections
        self._port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening, and close every connection; calling it twice is allowed."""
        server, connections, self._server, self._connections = self._server, self._connections, None, None
        if server is not None and connections is not None:
            server.close()
            await connections.close()
