"""ListGroups, DeleteGroups, DescribeGroups and ConsumerGroupDescribe. Source: GroupMetadataManager.listGroups,
describeGroups; GroupCoordinatorShard.deleteGroups; modern.consumer.ConsumerGroup.asDescribedGroup,
ConsumerGroupMember.asConsumerGroupDescribeMember."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from coordinator.engine.calls import Call, Request
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.client_assignment import assignor_in_use
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import ConsumerMember, normal_partitions
from coordinator.engine.consumer.target_assignment import shown_assignor
from coordinator.engine.context import EngineContext
from coordinator.engine.offsets.removal import tombstones
from coordinator.engine.records import NO_PAYLOAD, ClassicMemberValue, Payload, TopicPartitions
from coordinator.errors import CannotBeWritten, RequestRefused
from groups import model
from groups.described import named_partitions
from groups.listing import GroupListing
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGroupsAnswer:
    groups: tuple[GroupListing, ...] = ()
    error: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGroups(Request[ListGroupsAnswer]):
    """ListGroups v0–v5; an empty filter accepts everything."""

    states: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    def refused(self, error: RequestRefused) -> ListGroupsAnswer:
        return ListGroupsAnswer(error=error.code)


def list_groups(ctx: EngineContext, call: Call, request: ListGroups) -> None:
    """All groups that match the filters, which ignore case; an unknown name matches nothing."""
    states = {state.strip().lower() for state in request.states}
    types = {name.lower() for name in request.types}
    listed = tuple(
        GroupListing(id=group.id, type=group.type, state=group.state, protocol_type=group.protocol_type)
        for group in ctx.state.groups.values()
        if (not states or group.state.value.lower() in states) and (not types or group.type.value in types)
    )
    ctx.answer(call.ticket, ListGroupsAnswer(groups=listed))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroupsAnswer:
    groups: tuple[tuple[str, ErrorCode], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroups(Request[DeleteGroupsAnswer]):
    """DeleteGroups v0–v2."""

    groups: tuple[str, ...]

    def refused(self, error: RequestRefused) -> DeleteGroupsAnswer:
        return DeleteGroupsAnswer(groups=tuple((group, error.code) for group in self.groups))


def delete_groups(ctx: EngineContext, call: Call, request: DeleteGroups) -> None:
    """Delete Empty groups and their offsets; a repeated name is answered once."""
    codes = dict.fromkeys(request.groups, ErrorCode.NONE)
    for name in codes:
        group = ctx.state.groups.get(name)
        if group is None:
            codes[name] = ErrorCode.GROUP_ID_NOT_FOUND
        elif not group.is_empty():
            codes[name] = ErrorCode.NON_EMPTY_GROUP
        else:
            try:
                ctx.remove_group(group, before=tombstones(ctx.state, name))
            except CannotBeWritten:
                codes[name] = ErrorCode.UNKNOWN_SERVER_ERROR
    ctx.answer(call.ticket, DeleteGroupsAnswer(groups=tuple(codes.items())))


Names: TypeAlias = Mapping[UUID, str]
"""Names by the ids of the topics that are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A requested group, or why it is not shown."""

    id: str
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    group: model.Group | None = None
    members: tuple[ClassicMemberValue, ...] = ()
    """The members of a classic group with raw bytes, which only members can interpret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeGroupsAnswer:
    groups: tuple[Described, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Describe(Request[DescribeGroupsAnswer]):
    groups: tuple[str, ...]

    def refused(self, error: RequestRefused) -> DescribeGroupsAnswer:
        return DescribeGroupsAnswer(groups=tuple(_refused(group, error) for group in self.groups))


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeGroups(_Describe):
    """DescribeGroups v0–v6. Before v6 a group that is not there is answered as Dead, without an error."""

    version: int = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupDescribe(_Describe):
    """ConsumerGroupDescribe v0–v1."""

    def refused(self, error: RequestRefused) -> DescribeGroupsAnswer:
        return DescribeGroupsAnswer(
            groups=tuple(_refused(group, error) if group else _NAMELESS for group in self.groups)
        )


def describe(ctx: EngineContext, call: Call, request: DescribeGroups | ConsumerGroupDescribe) -> None:
    """Every requested group, in that order; one that cannot be shown has its own error."""
    groups = tuple(
        _describe_classic(ctx, name, request.version)
        if isinstance(request, DescribeGroups)
        else _describe_consumer(ctx, name)
        for name in request.groups
    )
    ctx.answer(call.ticket, DescribeGroupsAnswer(groups=groups))


def _describe_classic(ctx: EngineContext, name: str, version: int) -> Described:
    """Any group but a classic one is Dead, which is an error only since version 6."""
    group = ctx.state.groups.get(name)
    if not isinstance(group, ClassicGroup):
        dead = model.Group(id=name, type=model.GroupType.CLASSIC, state=model.GroupState.DEAD)
        if version < 6:
            return Described(id=name, group=dead)
        why = f"Group {name} {'not found' if group is None else 'is not a classic group'}."
        return Described(id=name, error=ErrorCode.GROUP_ID_NOT_FOUND, message=why, group=dead)
    # Only a Stable group shows its protocol, and its members' metadata.
    protocol = group.protocol if group.state is model.GroupState.STABLE else None
    shown = model.Group(
        id=name, type=group.type, state=group.state, protocol_type=group.protocol_type, protocol=protocol
    )
    assignments = {member.id: member.assignment for member in group.members.values()}
    return Described(id=name, group=shown, members=group.member_values(protocol, assignments))


_NAMELESS = Described(id="", error=ErrorCode.INVALID_GROUP_ID)


def _describe_consumer(ctx: EngineContext, name: str) -> Described:
    if not name:
        return _NAMELESS
    try:
        group = ctx.consumer_group(name)
    except RequestRefused as error:
        return _refused(name, error)
    client_side = assignor_in_use(ctx, group.in_order())
    assignor = shown_assignor(group.requested_assignors(), ctx.config.group_consumer_assignors[0])
    shown = consumer_group(group, ctx.topics.names, assignor if client_side is None else client_side.name)
    return Described(id=name, group=shown)


def _refused(name: str, error: RequestRefused) -> Described:
    return Described(id=name, error=error.code, message=error.message)


def consumer_member(group: ConsumerGroup, member: ConsumerMember, names: Names) -> model.Member:
    """A member as a broker describes it."""
    metadata, classic = member.metadata, member.classic
    both = dict(member.assigned)  # and what it is revoking
    for topic, numbers in member.revoking.items():
        both[topic] = both.get(topic, ()) + numbers
    return model.Member(
        id=member.id,
        instance=metadata.instance,
        client=model.Client(id=metadata.client_id, host=metadata.host),
        rack=metadata.rack,
        protocol=model.MemberProtocol.CONSUMER if classic is None else model.MemberProtocol.CLASSIC,
        protocols=None if classic is None else tuple(name for name, _ in classic.protocols),
        subscription=model.Subscription(topics=metadata.topics, regex=metadata.regex or None),
        owned=by_name(normal_partitions(both) if member.revoking else both, names),
        target=by_name(group.targets.get(member.id, {}), names),
        epoch=member.epoch,
        assignor_answer=_answer(member.current.payload),
        target_assignor_answer=_answer(group.payloads.get(member.id, NO_PAYLOAD)),
    )


def consumer_group(
    group: ConsumerGroup,
    names: Names,
    assignor: str | None,
    describe: Callable[[ConsumerGroup, ConsumerMember, Names], model.Member] = consumer_member,
) -> model.Group:
    """A consumer group with epochs and targets, and the assignor in use."""
    return model.Group(
        id=group.id,
        type=group.type,
        state=group.state,
        protocol_type=group.protocol_type,
        protocol=assignor or None,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        members=tuple([describe(group, member, names) for member in group.in_order()]),
    )


def _answer(payload: Payload) -> model.AssignorAnswer | None:
    if payload == NO_PAYLOAD:
        return None
    sent = payload.metadata
    if sent is None:
        return model.AssignorAnswer(error=payload.error)
    return model.AssignorAnswer(error=payload.error, metadata_version=sent.version, metadata=sent.data)


def by_name(partitions: TopicPartitions, names: Names) -> model.Partitions:
    """Partitions by topic name, or by id if the name is unknown."""
    named = {names.get(topic, ""): numbers for topic, numbers in partitions.items()}
    if "" not in named and len(named) == len(partitions):
        return named
    # Some have no name, or a deleted topic has the name of its successor.
    return named_partitions((names.get(topic), topic, numbers) for topic, numbers in partitions.items())
