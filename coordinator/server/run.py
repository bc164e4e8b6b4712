"""Serve until the process is told to end."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable

from coordinator.errors import CoordinatorError
from coordinator.server.listener import Listener
from coordinator.server.node import Node
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


def serve(node: Node, host: str, port: int, listening: Callable[[Address], None]) -> None:
    """Serve clients at `host`:`port` until SIGTERM or SIGINT; `listening` is told where, once it works.

    :raises CannotListen: :raises StorageLost:
    :raises StorageFailed: :raises DamagedLog: the data directory could not be closed in good order
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    asyncio.run(_serve(node, host, port, listening))


async def _serve(node: Node, host: str, port: int, listening: Callable[[Address], None]) -> None:
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


async def _open(node: Node, host: str, port: int) -> Listener:
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
