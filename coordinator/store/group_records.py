"""Converts a group of any source to the records that restore it in a coordinator. Unknown values are replaced by
client defaults; values that a coordinator would act on before the member's next request are not invented."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from coordinator.engine import records
from coordinator.engine.topics import TopicImage, metadata_hash
from coordinator.errors import CoordinatorError
from groups.model import Group, GroupType, Member, MemberProtocol, Partitions, UserData
from groups.regex.broker import compile_broker_regex
from wire.messages import embedded_protocol

SESSION_TIMEOUT_MS = 45_000
REBALANCE_TIMEOUT_MS = 300_000  # `max.poll.interval.ms` of every known client
EMBEDDED = "consumer"
COOPERATIVE = "cooperative-sticky"
DEFAULT_ASSIGNOR = "range"  # the default assignor of a classic member


class NoRecords(CoordinatorError, ValueError):
    """The group cannot be written as records; the message names it and the reason."""


def group_records(group: Group, topics: TopicImage, now_ms: int) -> tuple[records.Record, ...]:
    """The records of a group and its offsets, as by a coordinator. Raises NoRecords: a share or streams group, or
    partitions of a topic that `topics` does not have. Raises InvalidRegexError: a regex is invalid for a broker."""
    offsets = _offset_records(group, topics, now_ms)
    if group.type is GroupType.CONSUMER:
        return (*_consumer_records(group, topics, now_ms), *offsets)
    if group.type is not GroupType.CLASSIC:
        raise NoRecords(f"{group.id}: a {group.type.value} group is not supported by this coordinator")
    if not group.protocol_type:
        return offsets
    ids = [member.id for member in group.members]
    value = records.ClassicGroupValue(
        protocol_type=group.protocol_type,
        generation=group.generation or 0,
        protocol=(group.protocol or None) if group.members else None,
        leader=group.leader if group.leader in ids else next(iter(ids), None),
        state_since_ms=now_ms,
        members=tuple(_classic_member(group, member) for member in group.members),
    )
    return (records.ClassicGroupRecord(group=group.id, value=value), *offsets)


def _offset_records(group: Group, topics: TopicImage, now_ms: int) -> tuple[records.Record, ...]:
    return tuple(
        records.OffsetRecord(
            group=group.id,
            topic=topic,
            partition=partition,
            value=records.StoredOffset(
                offset=committed.offset,
                leader_epoch=-1 if committed.leader_epoch is None else committed.leader_epoch,
                metadata=committed.metadata or "",
                commit_ms=now_ms if committed.timestamp is None else committed.timestamp,
                topic_id=topics.topics[topic].id if topic in topics.topics else None,
            ),
        )
        for topic, partitions in (group.offsets or {}).items()
        for partition, committed in partitions.items()
        if committed.offset is not None
    )


def _classic_member(group: Group, member: Member) -> records.ClassicMemberValue:
    embedded = group.protocol_type == EMBEDDED
    assignment = embedded_protocol.EmbeddedAssignment(
        version=embedded_protocol.NEWEST_VERSION,
        partitions=dict(member.owned or {}),
        user_data=(member.user_data or UserData()).assignment or None,
    )
    return records.ClassicMemberValue(
        member=member.id,
        instance=member.instance,
        client_id=member.client.id or "",
        host=member.client.host or "",
        rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
        session_timeout_ms=SESSION_TIMEOUT_MS,
        subscription=_subscription(member, group.protocol, group.generation or 0) if embedded else b"",
        assignment=embedded_protocol.write_assignment(assignment) if embedded else b"",
    )


def _subscription(member: Member, assignor: str | None, generation: int) -> bytes:
    """A member's subscription as it would send it now; only a cooperative member reports its owned partitions."""
    return embedded_protocol.write_subscription(
        embedded_protocol.EmbeddedSubscription(
            version=embedded_protocol.NEWEST_VERSION,
            topics=member.subscription.topics if member.subscription else (),
            user_data=(member.user_data or UserData()).subscription or None,
            owned=dict((member.owned if assignor == COOPERATIVE else member.kept) or {}),
            generation=generation if member.generation is None else member.generation,
            rack=member.rack,
        )
    )


def _consumer_records(group: Group, topics: TopicImage, now_ms: int) -> Iterable[records.Record]:
    epoch = group.group_epoch or 0
    regexes = _regexes(group, topics, now_ms)
    for member in group.members:
        yield records.ConsumerMemberRecord(
            group=group.id, member=member.id, value=_consumer_member(group, member)
        )
    for regex, value in regexes.items():
        yield records.RegexRecord(group=group.id, regex=regex, value=value)
    names = {name for member in group.members if member.subscription for name in member.subscription.topics}
    names.update(name for value in regexes.values() for name in value.topics)
    yield records.ConsumerGroupRecord(
        group=group.id,
        value=records.ConsumerGroupValue(epoch=epoch, metadata_hash=metadata_hash(names, topics)),
    )
    for member in group.members:
        target = _by_id(group, member.target or {}, topics)
        yield records.TargetMemberRecord(group=group.id, member=member.id, value=target)
    assigned = group.assignment_epoch
    target_epoch = records.TargetEpochValue(epoch=epoch if assigned is None else assigned, assigned_ms=now_ms)
    yield records.TargetEpochRecord(group=group.id, value=target_epoch)
    for member in group.members:
        yield records.CurrentAssignmentRecord(
            group=group.id, member=member.id, value=_current(group, member, topics)
        )


def _regexes(group: Group, topics: TopicImage, now_ms: int) -> Mapping[str, records.RegexValue]:
    used = {member.subscription.regex for member in group.members if member.subscription}
    return {
        regex: records.RegexValue(
            topics=tuple(compile_broker_regex(regex).matches(topics.topics)),
            version=topics.version,
            resolved_ms=now_ms,
        )
        for regex in sorted(filter(None, used))
    }


def _consumer_member(group: Group, member: Member) -> records.ConsumerMemberValue:
    subscription = member.subscription
    classic = None
    if member.protocol is MemberProtocol.CLASSIC:
        names = member.protocols or (DEFAULT_ASSIGNOR,)
        generation = member.epoch or 0
        classic = records.ClassicMemberMetadata(
            session_timeout_ms=SESSION_TIMEOUT_MS,
            protocols=tuple(
                records.JoinProtocol(name, _subscription(member, name, generation)) for name in names
            ),
        )
    return records.ConsumerMemberValue(
        instance=member.instance,
        rack=member.rack,
        client_id=member.client.id or "",
        host=member.client.host or "",
        topics=subscription.topics if subscription else (),
        regex=(subscription.regex if subscription else None) or "",
        rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
        assignor=None if classic else group.protocol,
        classic=classic,
    )


def _current(group: Group, member: Member, topics: TopicImage) -> records.CurrentAssignmentValue:
    """A member still has the partitions that it must revoke, and none yet of those that it will be assigned."""
    owned, target = member.owned or {}, member.target if member.target is not None else member.owned or {}
    kept: dict[str, tuple[int, ...]] = {}
    revoking: dict[str, tuple[int, ...]] = {}
    for topic, numbers in owned.items():
        for number in numbers:
            part = kept if number in target.get(topic, ()) else revoking
            part[topic] = (*part.get(topic, ()), number)
    epoch = member.epoch or 0
    state = records.MemberState.STABLE
    if revoking:
        state = records.MemberState.UNREVOKED_PARTITIONS
    elif any(set(numbers) - set(owned.get(topic, ())) for topic, numbers in target.items()):
        state = records.MemberState.UNRELEASED_PARTITIONS
    return records.CurrentAssignmentValue(
        epoch=epoch,
        previous_epoch=epoch,
        state=state,
        assigned=_by_id(group, kept, topics),
        revoking=_by_id(group, revoking, topics),
    )


def _by_id(group: Group, partitions: Partitions, topics: TopicImage) -> dict[UUID, tuple[int, ...]]:
    unknown = partitions.keys() - topics.topics.keys()
    if unknown:
        raise NoRecords(f"{group.id}: the id of topic {min(unknown)} is unknown")
    return {topics.topics[name].id: numbers for name, numbers in partitions.items()}
