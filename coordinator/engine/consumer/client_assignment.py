"""Client-side assignment: a heartbeat's answer asks a member, which prepares, computes and installs in its rebalance
timeout; otherwise another one is asked. The target is validated against the input that it was computed from. Source:
KIP-848 "Client Side Mode" and the APIs ConsumerGroupPrepareAssignment, -InstallAssignment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from coordinator.engine import records as log
from coordinator.engine.calls import Call, Request
from coordinator.engine.consumer.client_assignors import AssignorChoice, Computation, choose
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import ConsumerMember, normal_partitions, subscribed_names_of
from coordinator.engine.context import EngineContext
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareAssignmentAnswer:
    """The group at an epoch. `topics`: id, name and partition count of each."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    group_epoch: int = 0
    assignor: str = ""
    members: tuple[ConsumerMember, ...] = ()
    subscribed: Mapping[str, tuple[UUID, ...]] = field(default_factory=dict)
    """The ids of each member's subscribed topics that exist."""
    assignors: Mapping[str, log.ClientAssignor] = field(default_factory=dict)
    """Each member's own assignor, with its metadata for the others."""
    targets: Mapping[str, log.TopicPartitions] = field(default_factory=dict)  # Each member's current target
    topics: tuple[tuple[UUID, str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareAssignment(Request[PrepareAssignmentAnswer]):
    """KIP-848's ConsumerGroupPrepareAssignment, which Kafka never shipped: requests the input of the assignor."""

    group: str
    member: str
    epoch: int

    def refused(self, error: RequestRefused) -> PrepareAssignmentAnswer:
        return PrepareAssignmentAnswer(error=error.code, message=error.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallAssignmentAnswer:
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallAssignment(Request[InstallAssignmentAnswer]):
    """KIP-848's ConsumerGroupInstallAssignment. `error`, a code of the assignor or 0, is sent to all members."""

    group: str
    member: str
    epoch: int
    group_epoch: int
    assignments: Mapping[str, log.TopicPartitions]
    metadata: Mapping[str, log.ClientMetadata] = field(default_factory=dict)
    error: int = 0

    def refused(self, error: RequestRefused) -> InstallAssignmentAnswer:
        return InstallAssignmentAnswer(error=error.code, message=error.message)


def should_compute(ctx: EngineContext, group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether the answer to this member's heartbeat asks it to compute. The first such answer starts its timeout."""
    if group.epoch <= group.assignment_epoch or not ctx.config.group_consumer_client_assignors_enable:
        return False  # checked before the members are sorted, which is too slow for every heartbeat
    choice = assignor_in_use(ctx, group.in_order())
    if choice is None:
        return False
    client = group.client
    if client.chosen not in choice.capable:
        client.chosen, client.computation = _next(group, choice), None
    if client.chosen != member.id or client.computation is not None:
        return False
    key = TimerKey(TimerKind.CLIENT_ASSIGNOR, group.id, member.id)
    if ctx.timers.deadline(key) is None:
        ctx.timers.set(key, ctx.now_ms + member.metadata.rebalance_timeout_ms)
    return True


def prepare(ctx: EngineContext, call: Call, request: PrepareAssignment) -> None:
    """Answer the chosen member with the input of its assignor. Raises RequestRefused."""
    group = _check(ctx, request.group, request.member, request.epoch)
    choice = assignor_in_use(ctx, group.in_order())
    if choice is None:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID, "No client-side assignor is in use.")
    topics = ctx.topics.topics
    members = tuple(group.in_order())
    known = [topics[name] for name in sorted(group.subscribed_topics()) if name in topics]
    group.client.computation = Computation(
        member=request.member,
        group_epoch=group.epoch,
        members=frozenset(group.members),
        partitions={topic.id: topic.partitions for topic in known},
    )
    subscribed = {}
    for member in members:
        names = sorted(subscribed_names_of(member.metadata, group.regexes))
        subscribed[member.id] = tuple(topics[name].id for name in names if name in topics)
    answer = PrepareAssignmentAnswer(
        group_epoch=group.epoch,
        assignor=choice.name,
        members=members,
        subscribed=subscribed,
        assignors=choice.offers,
        targets={member.id: group.targets.get(member.id, {}) for member in members},
        topics=tuple((topic.id, topic.name, topic.partitions) for topic in known),
    )
    ctx.answer(call.ticket, answer)


def install(ctx: EngineContext, call: Call, request: InstallAssignment) -> None:
    """Make a computed assignment the target. Raises RequestRefused."""
    group = _check(ctx, request.group, request.member, request.epoch)
    computation = group.client.computation
    if computation is None or computation.group_epoch != request.group_epoch:
        message = f"The assignment for epoch {request.group_epoch} was not prepared."
        raise RequestRefused(ErrorCode.INVALID_ASSIGNMENT, message)
    _validate(computation, request)
    records: list[log.Record] = []
    for member in group.in_order():  # members that have left get nothing, new members wait for the next one
        target = normal_partitions(request.assignments.get(member.id, {}))
        payload = log.Payload(error=request.error, metadata=request.metadata.get(member.id))
        if group.targets.get(member.id) != target or group.payloads.get(member.id, log.NO_PAYLOAD) != payload:
            new = log.TargetMemberRecord(group=group.id, member=member.id, value=target, payload=payload)
            records.append(new)
    computed = log.TargetEpochValue(epoch=request.group_epoch, assigned_ms=ctx.now_ms)
    ctx.emit(*records, log.TargetEpochRecord(group=group.id, value=computed))
    group.client.chosen = group.client.computation = None
    group.client.failed.clear()
    ctx.stop(TimerKind.CLIENT_ASSIGNOR, group.id, request.member)
    ctx.answer(call.ticket, InstallAssignmentAnswer())


def computing_timed_out(_ctx: EngineContext, group: ConsumerGroup, key: TimerKey) -> None:
    """The chosen member took too long. It stays in the group."""
    client = group.client
    if client.chosen == key.member:
        client.failed.append(key.member)
        client.chosen = client.computation = None


def assignor_in_use(ctx: EngineContext, members: Sequence[ConsumerMember]) -> AssignorChoice | None:
    """The client-side assignor that computes for these members; None: the coordinator computes."""
    return choose(members) if ctx.config.group_consumer_client_assignors_enable else None


def _next(group: ConsumerGroup, choice: AssignorChoice) -> str:
    """The first member that has not failed; once all have failed, all are asked again, the last one last."""
    client = group.client
    if set(choice.capable) <= set(client.failed):
        client.failed = client.failed[-1:] if len(choice.capable) > 1 else []
    return next(member for member in choice.capable if member not in client.failed)


def _check(ctx: EngineContext, group_id: str, member_id: str, epoch: int) -> ConsumerGroup:
    if not group_id or not member_id or epoch < 0:
        raise RequestRefused(ErrorCode.INVALID_REQUEST)
    group = ctx.consumer_group(group_id)
    current = group.member(member_id).epoch
    if current != epoch:
        message = f"The member is at epoch {current}, not at {epoch}."
        raise RequestRefused(ErrorCode.STALE_MEMBER_EPOCH, message)
    if group.client.chosen != member_id:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} was not asked to compute.")
    return group


def _validate(computation: Computation, request: InstallAssignment) -> None:
    """Check that each partition is assigned once (at most once after a failure). Raises INVALID_ASSIGNMENT."""
    strangers = request.assignments.keys() - computation.members
    if strangers:
        raise _invalid(f"{min(strangers)} is not a member of the group.")
    assigned = [
        (topic, partition)
        for partitions in request.assignments.values()
        for topic, numbers in partitions.items()
        for partition in numbers
    ]
    if len(set(assigned)) != len(assigned):
        raise _invalid("a partition is assigned twice.")
    expected = {(topic, number) for topic, count in computation.partitions.items() for number in range(count)}
    if expected - set(assigned) and not request.error:
        raise _invalid("not all partitions are assigned.")
    if set(assigned) - expected:
        raise _invalid("there are partitions that do not exist or that no member subscribes to.")


def _invalid(why: str) -> RequestRefused:
    return RequestRefused(ErrorCode.INVALID_ASSIGNMENT, f"The assignment is invalid: {why}")
