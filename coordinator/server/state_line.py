"""The state of a running server in one line, printed when the process receives SIGUSR1."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from coordinator.server.cluster import Cluster


@asynccontextmanager
async def state_reports(cluster: Cluster, report: Callable[[str], object]) -> AsyncIterator[None]:
    """`report` gets the line at every SIGUSR1; its seconds count from the entry of this context."""
    loop = asyncio.get_running_loop()
    began = time.monotonic()
    loop.add_signal_handler(signal.SIGUSR1, lambda: report(state_line(cluster, time.monotonic() - began)))
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)


def state_line(cluster: Cluster, seconds: float) -> str:
    """`brokers=2/3 connections=12 groups=2 classic.Stable=1 …`: every key every time, except states without groups."""
    state, topics = cluster.groups.state, cluster.topics.image.topics.values()
    by_state = Counter(f"{group.type.value}.{group.state.value}" for group in state.groups.values())
    values = {
        "brokers": f"{len(cluster.present)}/{len(cluster.brokers)}",
        "connections": sum(
            each.endpoint.connections for each in cluster.present if each.endpoint is not None
        ),
        "groups": len(state.groups),
        **dict(sorted(by_state.items())),
        "offsets": sum(map(len, state.offsets.values())),
        "topics": len(topics),
        "partitions": sum(topic.partitions for topic in topics),
        "requests": cluster.requests,
        "seconds": f"{seconds:.0f}",
    }
    return " ".join(f"{name}={value}" for name, value in values.items())
