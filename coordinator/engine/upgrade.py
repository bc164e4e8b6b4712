"""Online upgrade: a classic group becomes a consumer group (KIP-848 "Online Migration"): its generation is the epoch,
the leader's assignment the targets. Source: GroupMetadataManager.validateOnlineUpgrade,
ConsumerGroup.fromClassicGroup."""

from collections import Counter
from collections.abc import Sequence

from assignors.java.hash_map import FIRST_SLOTS, grown_slots
from coordinator.engine import records as log
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import ClassicGroup, ClassicMember
from coordinator.engine.consumer.client_assignors import CLASSIC_VERSION
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import (
    ConsumerMember,
    normal_assignment,
    normal_topics,
    subscribed_names,
)
from coordinator.engine.context import EngineContext
from coordinator.engine.replay import draft
from coordinator.engine.topics import TopicImage, metadata_hash
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import EmbeddedAssignment, read_assignment, read_subscription
from wire.messages.reader import DecodeError

_MALFORMED = "the embedded consumer protocol is malformed."


def convert(ctx: EngineContext, group: ClassicGroup) -> tuple[tuple[log.Record, ...], ConsumerGroup]:
    """The records of the conversion, and the resulting draft. Raises RequestRefused: GROUP_ID_NOT_FOUND, and why."""
    if not ctx.config.group_consumer_migration_policy.upgrades:
        raise _refused(group, "online upgrade is disabled.")
    if not group.uses_consumer_protocol():
        raise _refused(group, "the group does not use the consumer embedded protocol.")
    if len(group.members) > ctx.config.group_consumer_max_size:
        raise _refused(group, "the group size exceeds the consumer group maximum size.")
    handed_out = {member.id: _leader_assignment(ctx, group, member) for member in group.in_order()}
    members = [_convert(ctx.topics, group, member, handed_out[member.id]) for member in group.in_order()]
    owned = Counter(key for member in members for key in member.current.assigned_epochs)
    if any(owners > 1 for owners in owned.values()):  # a leader may have done so; Kafka's handler fails there
        raise _refused(group, "a partition is assigned to more than one member.")
    made = draft(group.id, _records(ctx, group, members))
    made.capacity = grown_slots(FIRST_SLOTS, len(made.members))  # the broker inserts each member only once
    return (*group.tombstones(), *_records(ctx, group, made.in_order())), made


def _records(
    ctx: EngineContext, group: ClassicGroup, members: Sequence[ConsumerMember]
) -> list[log.ConsumerRecord]:
    fingerprint = metadata_hash(subscribed_names(members, {}), ctx.topics)
    # A group that has never completed a rebalance has no target: its epoch 0 is the epoch of joining members.
    epoch = log.ConsumerGroupValue(epoch=max(1, group.generation), metadata_hash=fingerprint)
    return [
        *(log.ConsumerMemberRecord(group=group.id, member=m.id, value=m.metadata) for m in members),
        log.ConsumerGroupRecord(group=group.id, value=epoch),
        *(
            log.TargetMemberRecord(group=group.id, member=m.id, value=m.assigned, payload=m.current.payload)
            for m in members
        ),
        log.TargetEpochRecord(group=group.id, value=log.TargetEpochValue(epoch=group.generation)),
        *(log.CurrentAssignmentRecord(group=group.id, member=m.id, value=m.current) for m in members),
    ]


def discard_classic_group(ctx: EngineContext, group: ClassicGroup) -> None:
    """Discard the classic group: its parked requests are answered, its members' sessions continue."""
    rebalance.refuse_parked(ctx, group, ErrorCode.REBALANCE_IN_PROGRESS)
    for key in list(group.timer_keys()):
        ctx.timers.cancel(key)
    for member in group.members.values():
        rebalance.keep_alive(ctx, group, member)


def _leader_assignment(ctx: EngineContext, group: ClassicGroup, member: ClassicMember) -> EmbeddedAssignment:
    """The leader's assignment. Raises GROUP_ID_NOT_FOUND if it is malformed, or if its user data would be lost."""
    if not member.assignment:
        return EmbeddedAssignment(version=0, partitions={})
    try:
        assignment = read_assignment(member.assignment)
    except DecodeError:
        raise _refused(group, _MALFORMED) from None
    if assignment.user_data and not ctx.config.group_consumer_client_assignors_enable:
        raise _refused(
            group,
            "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default "
            "assignor before re-attempting the upgrade.",
        )
    return assignment


def _convert(
    topics: TopicImage, group: ClassicGroup, member: ClassicMember, assignment: EmbeddedAssignment
) -> ConsumerMember:
    # Without a completed rebalance a group has no protocol: use the member's first. Kafka's handler fails there.
    metadata = member.metadata(group.protocol)
    try:
        subscription = read_subscription(member.protocols[0].metadata if metadata is None else metadata)
    except DecodeError:
        raise _refused(group, _MALFORMED) from None
    named, payload = topics.topics, log.NO_PAYLOAD
    if assignment.user_data:
        payload = log.Payload(metadata=log.ClientMetadata(version=CLASSIC_VERSION, data=assignment.user_data))
    assigned = {named[name].id: numbers for name, numbers in assignment.partitions.items() if name in named}
    return ConsumerMember(
        id=member.id,
        metadata=log.ConsumerMemberValue(
            instance=member.instance,
            rack=subscription.rack or None,
            client_id=member.client_id,
            host=member.host,
            topics=normal_topics(subscription.topics),
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            classic=log.ClassicMemberMetadata(
                session_timeout_ms=member.session_timeout_ms, protocols=member.protocols
            ),
        ),
        current=normal_assignment(
            log.CurrentAssignmentValue(
                epoch=group.generation,
                previous_epoch=group.generation,
                state=log.MemberState.STABLE,
                assigned=assigned,
                payload=payload,
            )
        ),
    )


def _refused(group: ClassicGroup, why: str) -> RequestRefused:
    message = f"Cannot upgrade classic group {group.id} to consumer group because {why}"
    return RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, message)
