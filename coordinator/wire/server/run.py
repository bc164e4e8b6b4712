"""Serve until the process is told to end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from coordinator.wire.address import Address
from coordinator.wire.errors import WireError
from coordinator.wire.server.listener import Listener
from coordinator.wire.server.node import Node


class CannotListen(WireError):
    """The address is taken, or not of this machine."""


def serve(node: Node, host: str, port: int, listening: Callable[[Address], None]) -> None:
    """Serve clients at `host`:`port` until SIGTERM or SIGINT; `listening` is told where, once it works.

    :raises CannotListen:
    """
    asyncio.run(_serve(node, host, port, listening))


async def _serve(node: Node, host: str, port: int, listening: Callable[[Address], None]) -> None:
    told_to_end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told_to_end.set)
    try:
        listener = await Listener.open(node, host, port)
    except OSError as error:
        raise CannotListen(
            f"{Address(host, port)} cannot be listened on: {error.strerror or error}. "
            "Take another port, or 0 for any free one."
        ) from None
    try:
        listening(Address(node.host, node.port))
        await told_to_end.wait()
    finally:
        await listener.close()
