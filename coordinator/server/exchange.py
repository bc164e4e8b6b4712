"""What a handler gets: a request, who sent it, and whom it was sent to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coordinator.engine.calls import A, Request
from coordinator.server.broker import Broker
from coordinator.server.caller import Caller
from coordinator.server.cluster import Cluster
from wire.acls import OPERATIONS, Operation, ResourceType, operation_bits


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

    def allows(self, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        """Whether who sent the request may do it, by the ACLs of the cluster."""
        authorizer = self.cluster.security.authorizer
        return authorizer is None or authorizer.allows(
            self.caller.principal, self.caller.address, operation, resource_type, name
        )

    def operations(self, resource_type: ResourceType, name: str) -> int:
        """What it may do with a resource, as bits."""
        authorizer = self.cluster.security.authorizer
        if authorizer is None:
            return operation_bits(OPERATIONS[resource_type])
        return authorizer.operations(self.caller.principal, self.caller.address, resource_type, name)
