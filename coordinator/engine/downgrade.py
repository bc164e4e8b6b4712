"""Online downgrade: a consumer group whose members all use the classic protocol becomes a classic group, with the
group epoch as its generation, and each member's target as its assignment. If a member left, the classic group must
rebalance; if a static member was replaced, it stays Stable, unless the target is out of date. Source:
GroupMetadataManager.validateOnlineDowngrade…, convertToClassicGroup; ClassicGroup.fromConsumerGroup."""

from collections.abc import Sequence
from dataclasses import dataclass

from assignors.java.hash_map import uuid_order
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import CONSUMER_PROTOCOL, ClassicGroup, ClassicMember
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import ConsumerMember
from coordinator.engine.context import EngineContext
from coordinator.engine.records import NO_PAYLOAD, ClassicGroupRecord, Payload, Record, TopicPartitions
from coordinator.engine.topics import TopicImage
from wire.messages.embedded_protocol import EmbeddedAssignment, write_assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A static member that replaces the last consumer member."""

    old: ConsumerMember
    new: ConsumerMember
    records: Sequence[Record]  # They create the member, and contain the other changes of its request


def downgrades_on_leave(ctx: EngineContext, group: ConsumerGroup, leaving: Sequence[ConsumerMember]) -> bool:
    """Whether the group becomes a classic one when these members leave."""
    gone = {member.id for member in leaving}
    left = [member for member in group.members.values() if member.id not in gone]
    return bool(left) and _downgrades(ctx, left, len(left))


def downgrades_on_replacement(ctx: EngineContext, group: ConsumerGroup, old: ConsumerMember) -> bool:
    """Whether the group becomes a classic one when a classic member replaces this one."""
    others = [member for member in group.members.values() if member.id != old.id]
    return old.classic is None and _downgrades(ctx, others, len(group.members))


def _downgrades(ctx: EngineContext, remaining: Sequence[ConsumerMember], size: int) -> bool:
    allowed = ctx.config.group_consumer_migration_policy.downgrades and size <= ctx.config.group_max_size
    return allowed and all(member.classic is not None for member in remaining)


def convert(
    ctx: EngineContext,
    group: ConsumerGroup,
    *,
    leaving: Sequence[ConsumerMember] = (),
    replacement: Replacement | None = None,
    must_rebalance: bool,
) -> None:
    """Replace the consumer group with a classic group. The members' sessions restart."""
    gone = {member.id for member in leaving} if replacement is None else {replacement.old.id}
    members = [_convert(member) for member in group.in_order() if member.id not in gone]
    if replacement is not None:
        members.append(_convert(replacement.new))
    draft = ClassicGroup(id=group.id, state_since_ms=ctx.now_ms, generation=group.epoch)
    for member in members:
        draft.add(member, CONSUMER_PROTOCOL)
    draft.protocol = draft.elect_protocol()
    assignments = {}
    for member in members:
        # A replacement gets the target of the member that it replaces.
        replaces = replacement is not None and replacement.new.id == member.id
        holder = replacement.old.id if replacement is not None and replaces else member.id
        subscription, payload = member.metadata(draft.protocol) or b"", group.payloads.get(holder, NO_PAYLOAD)
        target = group.targets.get(holder, {})
        assignments[member.id] = encode_assignment(ctx.topics, target, subscription, payload)
    made = ClassicGroupRecord(group=group.id, value=draft.value(assignments, ctx.now_ms))
    if replacement is None:
        ctx.remove_group(group, after=(made,))
    else:
        # The broker writes the final state of a group that it deletes at once.
        tombstones = group.tombstones(replacement.old.id, replacement.new.id)
        ctx.remove_group(group, before=replacement.records, tombstones=tombstones, after=(made,))
    classic = ctx.state.groups[group.id]
    if not isinstance(classic, ClassicGroup):
        raise AssertionError(f"{group.id} was to become a classic group")
    for member in list(classic.members.values()):
        # The record has only the chosen protocol; the others are still needed to choose the next one.
        classic.offer(member, draft.members[member.id].protocols)
        rebalance.keep_alive(ctx, classic, member)
    if must_rebalance:
        rebalance.prepare(ctx, classic)


def encode_assignment(
    topics: TopicImage, partitions: TopicPartitions, subscription: bytes, payload: Payload = NO_PAYLOAD
) -> bytes:
    """The partitions in the embedded protocol, at the version of the member's subscription, without deleted topics,
    which are in the order of the broker's map. A client-side assignor's metadata is the user data."""
    ids = list(partitions)
    order = uuid_order(ids).tolist() if ids else []
    named = {topics.by_id[ids[i]].name: partitions[ids[i]] for i in order if ids[i] in topics.by_id}
    version = max(int.from_bytes(subscription[:2], "big", signed=True), 0)
    user_data = None if payload.metadata is None else payload.metadata.data
    return write_assignment(EmbeddedAssignment(version=version, partitions=named, user_data=user_data))


def _convert(member: ConsumerMember) -> ClassicMember:
    classic = member.classic
    if classic is None:
        raise AssertionError(f"{member.id} does not use the classic protocol")
    return ClassicMember(
        id=member.id,
        instance=member.instance,
        client_id=member.metadata.client_id,
        host=member.metadata.host,
        rebalance_timeout_ms=member.metadata.rebalance_timeout_ms,
        session_timeout_ms=classic.session_timeout_ms,
        protocols=classic.protocols,
    )
