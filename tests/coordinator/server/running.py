"""A server in the process of a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial, wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from coordinator.configs.properties import parse_settings
from coordinator.server.broker import Broker
from coordinator.server.cluster import Cluster
from coordinator.server.listener import Listener, close_all
from coordinator.server.security.security import Security
from coordinator.store.data_directory import DataDirectory
from tests.conformance.cluster import Cluster as Client
from tests.conformance.peer import Peer
from wire.messages.definition import Api

HOST = "127.0.0.1"
DEADLINE_S = 60
P = ParamSpec("P")
S = TypeVar("S")


@asynccontextmanager
async def running(
    settings: Mapping[str, str] | None = None, security: Security | None = None
) -> AsyncIterator[Broker]:
    """A cluster of one broker, which listens on a free port: `broker.port`."""
    async with running_cluster(settings, security) as cluster:
        yield cluster.controller


@asynccontextmanager
async def running_cluster(
    settings: Mapping[str, str] | None = None,
    security: Security | None = None,
    data: DataDirectory | None = None,
    *,
    brokers: int = 1,
) -> AsyncIterator[Cluster]:
    parsed = parse_settings({"group.initial.rebalance.delay.ms": "0", **(settings or {})})
    cluster = Cluster(*parsed, data, security, brokers=brokers)
    cluster.start()
    try:
        for broker in cluster.brokers.values():
            await Listener.open(cluster, broker, HOST, 0)
        yield cluster
    finally:
        await close_all(cluster)
        await cluster.close()


@asynccontextmanager
async def connected(
    port: int, limit: int = 1 << 16
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to send bytes on; `limit`: the number of answer bytes that it buffers."""
    reader, writer = await asyncio.open_connection(HOST, port, limit=limit)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()


class WireClient:
    """A connection of a client that sends one request after another, in Kohort's own form."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client_id: str) -> None:
        self._reader, self.writer, self._client_id = reader, writer, client_id

    @classmethod
    async def connect(cls, port: int, client_id: str = "app-1") -> WireClient:
        return cls(*await asyncio.open_connection(HOST, port), client_id)

    async def ask(self, api: Api, fields: dict[str, Any], version: int | None = None) -> Any:
        """The answer. :raises IncompleteReadError: the connection is closed"""
        version = api.versions[1] if version is None else version
        content = api.encode_request(version, 7, self._client_id, fields)
        self.writer.write(len(content).to_bytes(4, "big") + content)
        async with asyncio.timeout(DEADLINE_S):
            length = int.from_bytes(await self._reader.readexactly(4), "big")
            return api.decode_response(version, (await self._reader.readexactly(length))[4:])

    def close(self) -> None:
        self.writer.transport.abort()


def played_in(
    scene: Callable[[], AbstractAsyncContextManager[S]],
) -> Callable[[Callable[Concatenate[S, P], Awaitable[None]]], Callable[P, None]]:
    """Runs an asynchronous test in an event loop; its first argument is what the scene provides."""

    def decorated(test: Callable[Concatenate[S, P], Awaitable[None]]) -> Callable[P, None]:
        @wraps(test)
        def played(*args: P.args, **kwargs: P.kwargs) -> None:
            async def run() -> None:
                async with scene() as provided:
                    await test(provided, *args, **kwargs)

            asyncio.run(run())

        known = signature(test)
        played.__signature__ = known.replace(parameters=[*known.parameters.values()][1:])  # type: ignore[attr-defined]
        return played

    return decorated


def on_cluster(
    settings: Mapping[str, str] | None = None, *, brokers: int = 1
) -> Callable[[Callable[Concatenate[Cluster, P], Awaitable[None]]], Callable[P, None]]:
    return played_in(partial(running_cluster, settings, brokers=brokers))


@asynccontextmanager
async def asking(broker: Broker) -> AsyncIterator[Client]:
    client = Client(await Peer.connect(HOST, broker.port))
    try:
        yield client
    finally:
        await client.close()
