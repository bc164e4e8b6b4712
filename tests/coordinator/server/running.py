"""A server in the process of a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from coordinator.configs.properties import parse_settings
from coordinator.server.broker import Broker
from coordinator.server.cluster import Cluster
from coordinator.server.listener import Listener, close_all
from coordinator.server.security.security import Security
from coordinator.store.data_directory import DataDirectory

HOST = "127.0.0.1"


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
    """Brokers that listen on free ports."""
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
