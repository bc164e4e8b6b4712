"""What a handler gets: a request, who sent it, and whom it was sent to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from coordinator.engine.calls import A, Request
from coordinator.errors import RequestRefused
from coordinator.server.broker import Broker
from coordinator.server.caller import Caller
from coordinator.server.cluster import Cluster
from wire.acls import OPERATIONS, Operation, ResourceType, operation_bits
from wire.errors import ErrorCode

K = TypeVar("K", bound=Hashable)


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
        """Hand a call to the engine and wait for its answer; of a group, if the broker coordinates it."""
        group: str | None = getattr(call, "group", None)
        refusal = ErrorCode.NONE if group is None else self.refusal(group)
        return call.refused(RequestRefused(refusal)) if refusal else await self.cluster.ask(call, self.caller)

    async def ask_each(
        self,
        asked: Iterable[K],
        make: Callable[[tuple[K, ...]], Request[Any]],
        group_of: Callable[[K], str],
    ) -> Mapping[K, Any]:
        """As `ask`, of several groups at once: `make` gives a call for some of them, whose answer has `groups`.

        What is answered for each.
        """
        parts: dict[ErrorCode, list[K]] = {}
        for one in dict.fromkeys(asked):
            parts.setdefault(self.refusal(group_of(one)), []).append(one)
        found: dict[K, Any] = {}
        for refusal, some in parts.items():
            call = make(tuple(some))
            answer = (
                call.refused(RequestRefused(refusal))
                if refusal
                else await self.cluster.ask(call, self.caller)
            )
            found.update(zip(some, answer.groups, strict=True))
        return found

    def refusal(self, group: str) -> ErrorCode:
        """Why the broker does not answer for a group; NONE: it does."""
        return self.cluster.coordinators.refusal(self.broker.node_id, group)

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
