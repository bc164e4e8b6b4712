"""The assignors of one classic member, and what runs of each at it (`assignors.conversation`): the user data in its
subscriptions, and the notice of its assignments. Source: kafka-clients 4.3.1, ConsumerCoordinator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assignors.assignor import Assignor, Side
from assignors.conversation import GroupMetadata, MemberAssignment
from assignors.registry import find
from assignors.rules import checked
from coordinator.consumer.leader import by_topic
from coordinator.consumer.library import ClientLibrary
from coordinator.consumer.outputs import Partitions
from coordinator.engine.records import JoinProtocol
from wire.messages.embedded_protocol import EmbeddedAssignment, EmbeddedSubscription, write_subscription


class MemberAssignors:
    """See the module."""

    def __init__(self, names: Sequence[str], library: ClientLibrary, custom: Iterable[Assignor]) -> None:
        """`names` are preferred first; none: the library's. `custom`: the application's, which count as eager.
        Raises UnknownAssignorError: one is unknown."""
        self.names = tuple(names) or library.assignors
        self._leader = library.leader
        self._custom = {assignor.name: checked(assignor) for assignor in custom}
        self._here = {name: self.named(name).at_member({}) for name in self.names}

    def named(self, name: str) -> Assignor:
        """The application's, or one that is registered. Raises UnknownAssignorError: there is none."""
        return self._custom.get(name) or find(name, Side.CLIENT, self._leader)

    def subscriptions(
        self, topics: tuple[str, ...], owned: Partitions, generation: int, rack: str | None, version: int
    ) -> tuple[JoinProtocol, ...]:
        """The protocols of a JoinGroup: the subscription, with each assignor's user data."""
        protocols = []
        for name, assignor in self._here.items():
            subscription = EmbeddedSubscription(
                version=version,
                topics=topics,
                user_data=assignor.subscription_user_data(topics),
                owned=by_topic(owned),
                generation=generation,
                rack=rack,
            )
            protocols.append(JoinProtocol(name, write_subscription(subscription)))
        return tuple(protocols)

    def remember(self, owned: Partitions, group: GroupMetadata) -> None:
        """All assignors are as after this assignment, which an earlier process of the member got."""
        for assignor in self._here.values():
            assignor.on_assignment(MemberAssignment(partitions=by_topic(owned)), group)

    def on_assignment(self, name: str, received: EmbeddedAssignment, group: GroupMetadata) -> None:
        """Notify the assignor that computed the assignment."""
        if name in self._here:
            assignment = MemberAssignment(partitions=received.partitions, user_data=received.user_data)
            self._here[name].on_assignment(assignment, group)
