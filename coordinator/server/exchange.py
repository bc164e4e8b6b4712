"""One request on its way through the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coordinator.engine.calls import A, Request
from coordinator.server.node import Caller, Node


class PeerFault(Exception):
    """What the client sent gets no answer: its connection is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request, as the version it came in has it, and who sent it to whom."""

    node: Node
    request: Any
    version: int
    caller: Caller

    async def ask(self, call: Request[A]) -> A:
        """Hand a call to the engine and wait for the answer that belongs to its type."""
        return await self.node.ask(call, self.caller)
