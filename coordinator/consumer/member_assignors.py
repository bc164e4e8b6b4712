"""The assignors of one member, and what runs of each at it (`assignors.conversation`): the user data in its
subscriptions, or in KIP-848's client side its metadata, and the notice of its assignments. Calls of custom assignors
are reported, with what they take and return. Source: kafka-clients 4.3.1, ConsumerCoordinator."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.conversation import ApplicationState, AssignorMetadata, GroupMetadata, MemberAssignment
from assignors.errors import AssignorFailedError
from assignors.guard import guarded
from assignors.model import NO_GENERATION
from assignors.registry import BUILT_IN, find
from assignors.streams import STREAMS
from coordinator.consumer.leader import by_topic, places
from coordinator.consumer.member import ClientMember
from coordinator.consumer.outputs import AssignedMember, AssignorCall, AssignorMethod, Partitions
from coordinator.engine.records import ClassicMemberValue, JoinProtocol
from wire.messages.embedded_protocol import (
    EmbeddedSubscription,
    read_assignment,
    read_subscription,
    write_subscription,
)


class MemberAssignors:
    """See the module."""

    def __init__(
        self, member: ClientMember, names: Sequence[str], custom: Iterable[Assignor], state: ApplicationState
    ) -> None:
        """`names` are preferred first; none: the library's. `custom`: the application's, which count as eager.
        Raises UnknownAssignorError: one is unknown. Raises BrokenAssignorError: one cannot be imported or made."""
        self._consumer, library = member, member.identity.library
        self.names = tuple(names) or library.assignors
        self._leader = library.leader
        self._custom = MappingProxyType({assignor.name: guarded(assignor) for assignor in custom})
        self._here = {name: self.named(name).at_member(state) for name in self.names}
        self._reported = frozenset(
            name for name in self.names if name != STREAMS and self.named(name) not in BUILT_IN
        )
        self._sent: dict[str, AssignorMetadata] = {}  # Each assignor's last metadata
        self._assigned_generation = NO_GENERATION
        """The generation of the last assignment."""

    def named(self, name: str) -> Assignor:
        """The application's, or one that is registered. Raises UnknownAssignorError: there is none."""
        return self._custom.get(name) or find(name, Side.CLIENT, self._leader)

    def subscriptions(
        self, topics: tuple[str, ...], owned: Partitions, version: int
    ) -> tuple[JoinProtocol, ...]:
        """The protocols of a JoinGroup: the subscription, with each assignor's user data. Raises AssignorFailedError:
        an assignor throws."""
        protocols = []
        for name in self.names:
            subscription = EmbeddedSubscription(
                version=version,
                topics=topics,
                user_data=self._user_data(name, topics),
                owned=by_topic(owned),
                generation=self._generation(name),
                rack=self._consumer.identity.rack,
            )
            protocols.append(JoinProtocol(name, write_subscription(subscription)))
        return tuple(protocols)

    def _generation(self, name: str) -> int:
        """Java sends the one that the member knows; librdkafka that of the last assignment, and only for
        `cooperative-sticky` (rd_kafka_sticky_assignor_get_metadata)."""
        if self._leader is Leader.JAVA:
            return self._consumer.epoch
        cooperates = RebalanceProtocol.COOPERATIVE in self.named(name).protocols
        return self._assigned_generation if cooperates else NO_GENERATION

    def _user_data(self, name: str, topics: tuple[str, ...]) -> bytes | None:
        if name not in self._reported:
            return self._here[name].subscription_user_data(topics)
        call = AssignorCall(assignor=name, method=AssignorMethod.SUBSCRIPTION_USER_DATA, topics=topics)
        try:
            data = self._here[name].subscription_user_data(topics)
        except AssignorFailedError as error:
            self._tell(replace(call, error=str(error)))
            raise
        self._tell(replace(call, user_data=data))
        return data

    def metadata(self, name: str, topics: tuple[str, ...]) -> AssignorMetadata:
        """An assignor's metadata for the next heartbeat; calls that return the same again are not reported. Raises
        AssignorFailedError: it throws."""
        call = AssignorCall(assignor=name, method=AssignorMethod.METADATA, topics=topics)
        try:
            metadata = self._here[name].metadata(topics)
        except AssignorFailedError as error:
            self._tell(replace(call, error=str(error)))
            raise
        if metadata.version is None:
            metadata = replace(metadata, version=self.named(name).version)
        if self._sent.get(name) != metadata:
            self._sent[name] = metadata
            self._tell(replace(call, user_data=metadata.data, metadata=metadata))
        return metadata

    def _tell(self, call: AssignorCall) -> None:
        if call.assignor in self._reported:
            self._consumer.outputs.append(call)

    def assigned(
        self,
        name: str,
        members: Sequence[ClassicMemberValue],
        assignments: Iterable[tuple[str, bytes]],
        error: str = "",
    ) -> None:
        """The member, as the leader, has computed these assignments, or the assignor has thrown."""
        if name not in self._reported:
            return
        by_member = {member: read_assignment(assignment) for member, assignment in assignments}
        shares = []
        for member in members:
            sent, share = read_subscription(member.subscription), by_member.get(member.member)
            partitions = frozenset() if share is None else places(share.partitions)
            data = None if share is None else share.user_data
            shares.append(AssignedMember(member.member, sent.user_data, partitions, data))
        self.report_assign(name, shares, error)

    def report_assign(self, name: str, shares: Iterable[AssignedMember], error: str = "") -> None:
        """The assignor has made these assignments, or thrown."""
        self._tell(
            AssignorCall(assignor=name, method=AssignorMethod.ASSIGN, members=tuple(shares), error=error)
        )

    def on_assignment(self, name: str, assignment: MemberAssignment) -> None:
        """Notify the assignor that computed the assignment. Raises AssignorFailedError: it throws."""
        group = self._group_metadata()
        self._assigned_generation = group.generation
        if name not in self._here:
            return
        if name not in self._reported:
            self._here[name].on_assignment(assignment, group)
            return
        call = AssignorCall(
            assignor=name,
            method=AssignorMethod.ON_ASSIGNMENT,
            user_data=assignment.user_data,
            partitions=places(assignment.partitions),
            group=group,
            error_code=assignment.error,
        )
        try:
            self._here[name].on_assignment(assignment, group)
        except AssignorFailedError as error:
            self._tell(replace(call, error=str(error)))
            raise
        self._tell(call)

    def remember(self, owned: Partitions) -> None:
        """All assignors are as after this assignment, which an earlier process of the member got."""
        for assignor in self._here.values():
            assignor.on_assignment(MemberAssignment(partitions=by_topic(owned)), self._group_metadata())

    def _group_metadata(self) -> GroupMetadata:
        member, identity = self._consumer, self._consumer.identity
        return GroupMetadata(
            group=identity.group, generation=member.epoch, member=member.member_id, instance=identity.instance
        )
