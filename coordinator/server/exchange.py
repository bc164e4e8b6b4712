"""What a handler gets: a request, who sent it, and whom it was sent to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coordinator.engine.calls import A, Request
from coordinator.server.broker import Broker
from coordinator.server.caller import Caller
from coordinator.server.cluster import Cluster


class PeerFault(Exception):
    """What the client sent gets no answer: its connection is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request, as the version it came in has it, and who sent it to which broker."""

    cluster: Cluster
    broker: Broker
    request: Any
    version: int
    caller: Caller

    async def ask(self, call: Request[A]) -> A:
        """Hand a call to the engine and wait for the answer that belongs to its type."""
        return await self.cluster.ask(call, self.caller)
