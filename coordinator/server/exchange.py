"""A handler's input: a request, its sender, and the broker that received it."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar
from uuid import UUID

from coordinator.engine.calls import A, AnyRequest, Request
from coordinator.errors import RequestRefused
from coordinator.server.broker import Broker, Caller
from coordinator.server.cluster import Cluster
from wire.acls import CLUSTER_NAME, OPERATIONS, Operation, ResourceType, operation_bits
from wire.errors import ErrorCode

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    Q = TypeVarWithDefault("Q", default=object, covariant=True)
else:
    Q = TypeVar("Q")
K = TypeVar("K", bound=Hashable)
AnswerFields: TypeAlias = Mapping[str, object]  # the fields of a response, or of a part of it


class SteadyFields(dict[str, object]):
    """The fields of an answer to a heartbeat that `repeat` repeats: False if they may be others now."""

    def __init__(self, fields: AnswerFields, repeat: Callable[[], bool]) -> None:
        super().__init__(fields)
        self.repeat = repeat


class PeerFault(Exception):
    """The client's bytes cannot be answered: its connection is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange(Generic[Q]):
    cluster: Cluster
    broker: Broker
    request: Q
    version: int
    caller: Caller

    async def ask(self, call: Request[A], needs: Operation = Operation.READ) -> A:
        """Pass a call to the engine; one about a group `needs` an operation on it, and its coordinator."""
        group: str | None = getattr(call, "group", None)
        if group is None:
            return await self.cluster.groups.ask(call, self.caller)
        if not self.allows(needs, ResourceType.GROUP, group):
            return call.refused(RequestRefused(ErrorCode.GROUP_AUTHORIZATION_FAILED))
        refusal = self.cluster.coordinators.refusal(self.broker.node_id, group)
        return await self.cluster.groups.ask(call, self.caller, refusal)

    def steadily(self, call: AnyRequest, group: str, answer: object, fields: AnswerFields) -> AnswerFields:
        """The fields of the answer to a heartbeat, `SteadyFields` if the next one is likely to get the same."""
        repeat = self.cluster.groups.steady(call, answer, self.caller)
        if repeat is None:
            return fields
        features = self.cluster.configs.features
        epoch = features.epoch
        return SteadyFields(
            fields,
            lambda: features.epoch == epoch and not self.refusal(group, Operation.READ) and repeat(),
        )

    async def ask_each(
        self,
        asked: Iterable[K],
        make: Callable[[tuple[K, ...]], Request[Any]],
        group_of: Callable[[K], str],
        needs: Operation = Operation.DESCRIBE,
    ) -> Mapping[K, Any]:
        """As `ask`, for several groups: `make` returns the call for the permitted ones. Returns an answer for each."""
        parts: dict[ErrorCode, list[K]] = {}
        for one in dict.fromkeys(asked):
            parts.setdefault(self.refusal(group_of(one), needs), []).append(one)
        answers: dict[K, Any] = {}
        for refusal, some in parts.items():
            call = make(tuple(some))
            if refusal:
                answer = call.refused(RequestRefused(refusal))
            else:
                answer = await self.cluster.groups.ask(call, self.caller)
            answers.update(zip(some, answer.groups, strict=True))
        return answers

    def refusal(self, group: str, needs: Operation) -> ErrorCode:
        if not self.allows(needs, ResourceType.GROUP, group):
            return ErrorCode.GROUP_AUTHORIZATION_FAILED
        return self.cluster.coordinators.refusal(self.broker.node_id, group)

    def coordinates(self, group: str) -> bool:
        return not self.cluster.coordinators.refusal(self.broker.node_id, group)

    def allows(self, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        authorizer = self.cluster.security.authorizer
        return authorizer is None or authorizer.allows(
            self.caller.principal, self.caller.address, operation, resource_type, name
        )

    def hides(self, topic: str) -> bool:
        return not self.allows(Operation.DESCRIBE, ResourceType.TOPIC, topic)

    def allows_cluster(self, operation: Operation) -> bool:
        return self.allows(operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def allows_some(self, operation: Operation, resource_type: ResourceType) -> bool:
        authorizer = self.cluster.security.authorizer
        return authorizer is None or authorizer.allows_some(
            self.caller.principal, self.caller.address, operation, resource_type
        )

    @property
    def has_acls(self) -> bool:
        return self.cluster.security.authorizer is not None

    def topic_name(self, name: str | None, topic_id: UUID | None) -> str | None:
        return name if topic_id is None else self.cluster.topics.name_of(topic_id)

    @property
    def may_describe(self) -> Callable[[str], bool] | None:
        return (lambda topic: not self.hides(topic)) if self.has_acls else None

    def operations(self, resource_type: ResourceType, name: str) -> int:
        """The caller's authorized operations on a resource, as a bit field."""
        authorizer = self.cluster.security.authorizer
        if authorizer is None:
            return operation_bits(OPERATIONS[resource_type])
        return authorizer.operations(self.caller.principal, self.caller.address, resource_type, name)
