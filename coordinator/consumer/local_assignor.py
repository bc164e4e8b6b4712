"""Client-side assignors of the consumer protocol (KIP-848 "Client Side Mode"), which Kafka never shipped: a member runs
its own. They are the assignors of the classic protocol: `metadata` takes the place of the subscription's user data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from assignors.assignor import Assignor, RebalanceProtocol
from assignors.conversation import MemberAssignment
from assignors.errors import AssignmentRule, AssignorFailedError, RuleBrokenError
from assignors.model import Claim, GroupSpec, MemberSpec, TopicSpec
from assignors.rebalance import run_rebalances
from coordinator.consumer.leader import by_topic, places
from coordinator.consumer.member_assignors import MemberAssignors
from coordinator.consumer.outputs import AssignedMember, Partitions
from coordinator.engine.consumer.client_assignment import InstallAssignmentAnswer, PrepareAssignmentAnswer
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeatAnswer
from coordinator.engine.records import ClientAssignor, ClientMetadata, TopicPartitions
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAssignment:
    """What to install. After a failure members keep their targets, and get the assignor's code."""

    assignments: Mapping[str, TopicPartitions]  # By member id
    metadata: Mapping[str, ClientMetadata] = field(default_factory=dict)
    error: int = 0
    failure: str = ""  # Why the assignor failed; empty if it did not


class LocalAssignors:
    """The protocol of a member with assignors: it reports them, and computes on request. Methods that call an assignor
    may raise AssignorFailedError: it throws."""

    __slots__ = (
        "_asks",
        "_assignors",
        "_error",
        "_metadata",
        "_must_ask",
        "_notified_epoch",
        "has_news",
        "in_use",
    )

    def __init__(self, assignors: MemberAssignors) -> None:
        self._assignors = assignors
        self.in_use = assignors.names[0]
        """The preferred assignor, or the one of the last computation: an assignment does not name its assignor."""
        self._asks = self._must_ask = False
        self._metadata: ClientMetadata | None = None
        self._error = 0
        self._notified_epoch = 0
        self.has_news = False
        """Whether the member has reached an epoch that the assignor was not notified of."""

    def offers(self, topics: tuple[str, ...]) -> tuple[ClientAssignor, ...]:
        """The assignors in the heartbeat of a member that subscribes to these topics."""
        offers = []
        for name in self._assignors.names:
            metadata, assignor = self._assignors.metadata(name, topics), self._assignors.named(name)
            offers.append(
                ClientAssignor(
                    name=name,
                    minimum_version=assignor.oldest_version,
                    maximum_version=assignor.version,
                    reason=metadata.reason,
                    metadata=ClientMetadata(version=metadata.version or 0, data=metadata.data),
                )
            )
        return tuple(offers)

    def handle_heartbeat(self, answer: ConsumerGroupHeartbeatAnswer) -> bool:
        """Process a heartbeat's answer. Returns whether to prepare an assignment now."""
        if answer.assignment is not None:
            self._metadata, self._error = answer.metadata, answer.assignment_error
        # What a member must revoke first comes before its epoch.
        self.has_news = answer.epoch != self._notified_epoch
        if self._asks or not (answer.should_compute or self._must_ask):
            return False
        self._asks, self._must_ask = True, False
        return True

    def compute(self, answer: object) -> LocalAssignment | None:
        """The assignment to install, given PrepareAssignment's answer. None: none before the next heartbeat."""
        if not isinstance(answer, PrepareAssignmentAnswer) or answer.error is not ErrorCode.NONE:
            self.installed(answer)
            return None
        self.in_use = answer.assignor
        computed = _assigned(self._assignors.named(answer.assignor), answer)
        self._assignors.report_assign(answer.assignor, _shares(answer, computed), computed.failure)
        return computed

    def installed(self, answer: object) -> None:
        """InstallAssignment was answered, or lost. STALE_MEMBER_EPOCH or lost: retry after the next heartbeat."""
        self._asks = False
        self._must_ask = (
            not isinstance(answer, PrepareAssignmentAnswer | InstallAssignmentAnswer)
            or answer.error is ErrorCode.STALE_MEMBER_EPOCH
        )

    def assigned(self, partitions: Partitions, epoch: int) -> None:
        """Pass the computing assignor's metadata for this member to its assignor, once per epoch."""
        if self.has_news:
            self.has_news = False
            self._notified_epoch = epoch
            data = None if self._metadata is None else self._metadata.data
            assignment = MemberAssignment(partitions=by_topic(partitions), user_data=data, error=self._error)
            self._assignors.on_assignment(self.in_use, assignment)


def _assigned(assignor: Assignor, group: PrepareAssignmentAnswer) -> LocalAssignment:
    """Run the assignor until it withholds no partition (KIP-429): the coordinator itself waits for former owners. Each
    member gets bytes of the version that it sent itself: this one it can read. Raises RuleBrokenError."""
    ids = {name: topic for topic, name, _ in group.topics}
    spec = _spec(group)
    owned = {member.id: member.owned.partitions for member in spec.members}
    withholds = RebalanceProtocol.COOPERATIVE in assignor.protocols
    try:
        series = run_rebalances(spec, assignor, owned, () if withholds else owned)
    except AssignorFailedError as error:
        return _failed(group, str(error), error.code)
    if series.failure:
        return _failed(group, series.failure, AssignorFailedError.code)
    last = series.rebalances[-1]
    every = {(name, number) for _, name, count in group.topics for number in range(count)}
    if missing := every - {place for share in last.assignment.values() for place in places(share)}:
        raise RuleBrokenError(assignor.name, AssignmentRule.INCOMPLETE, "-".join(map(str, min(missing))))
    return LocalAssignment(
        assignments={
            member: {ids[name]: tuple(numbers) for name, numbers in partitions.items()}
            for member, partitions in last.assignment.items()
        },
        metadata={
            member: ClientMetadata(version=group.assignors[member].metadata.version, data=data)
            for member, data in last.user_data.items()
        },
    )


def _failed(group: PrepareAssignmentAnswer, failure: str, code: int) -> LocalAssignment:
    """Members keep their targets, without partitions of deleted topics."""
    counts = {topic: count for topic, _, count in group.topics}
    targets = {
        member: {
            topic: tuple(n for n in numbers if n < counts.get(topic, 0)) for topic, numbers in target.items()
        }
        for member, target in group.targets.items()
    }
    return LocalAssignment(assignments=targets, error=code, failure=failure)


def _shares(group: PrepareAssignmentAnswer, computed: LocalAssignment) -> Iterator[AssignedMember]:
    """What the assignor got of each member, and made of it; nothing after a failure."""
    names = {topic: name for topic, name, _ in group.topics}
    for member in group.members:
        assigned = {} if computed.failure else computed.assignments.get(member.id, {})
        partitions = places({names[topic]: numbers for topic, numbers in assigned.items()})
        sent, metadata = group.assignors[member.id].metadata.data or None, computed.metadata.get(member.id)
        yield AssignedMember(member.id, sent, partitions, None if metadata is None else metadata.data)


def _spec(group: PrepareAssignmentAnswer) -> GroupSpec:
    names = {topic: name for topic, name, _ in group.topics}
    members = []
    for member in group.members:
        target, offer = group.targets.get(member.id, {}), group.assignors[member.id]
        owned = {names[topic]: numbers for topic, numbers in target.items() if topic in names}
        subscribed = {names[topic] for topic in group.subscribed.get(member.id, ()) if topic in names}
        members.append(
            MemberSpec(
                id=member.id,
                topics=tuple(sorted(subscribed)),
                instance=member.instance,
                rack=member.metadata.rack,
                owned=Claim(partitions=owned, generation=group.group_epoch),
                user_data=offer.metadata.data or None,
                user_data_version=offer.metadata.version,
                reason=offer.reason,
            )
        )
    topics = tuple(TopicSpec(name=name, partitions=count, id=id_) for id_, name, count in group.topics)
    return GroupSpec(topics=topics, members=tuple(members))
