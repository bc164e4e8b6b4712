"""The change of one group: commits or deletions of offsets, or the group's deletion, with reasons against it."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from groups import model
from groups.classic_streams import is_classic_streams
from groups.counts import first_names
from groups.offsets.model import GroupChange, OffsetChange, PlannedChange, Positions, TopicScope, committed_in
from groups.offsets.scenarios import Scenario, reset

_MEMBERS_NAMED = 5


def absent(name: str, kind: model.GroupType = model.GroupType.CLASSIC) -> model.Group:
    """Of a group that does not exist: a commit creates a classic, setting start offsets a share group."""
    return model.Group(id=name, type=kind, state=model.GroupState.DEAD, offsets={})


def plan_reset(
    group: model.Group,
    scenario: Scenario,
    partitions: Sequence[model.TopicPartition],
    positions: Positions,
    *,
    exists: bool = True,
    problems: Sequence[model.Problem] = (),
) -> GroupChange:
    changes: list[OffsetChange] = []
    all_problems = [*problems, *_not_read(group, partitions)]
    for topic, partition in partitions:
        committed = model.commit_of(group.offsets, (topic, partition))
        outcome = reset(scenario, group.id, (topic, partition), committed, positions)
        if isinstance(outcome, model.Problem):
            all_problems.append(outcome)
        elif outcome is not None:
            changes.append(outcome)
    return _change(group, changes, all_problems, exists=exists)


def _not_read(group: model.Group, partitions: Iterable[model.TopicPartition]) -> Iterator[model.Problem]:
    """A problem for each topic that a streams group does not read: a commit is useless, the name probably wrong."""
    if group.topology is None:
        return
    read = {topic for subtopology in group.topology.subtopologies for topic in subtopology.topics_read}
    for topic in sorted({topic for topic, _ in partitions} - read - (group.offsets or {}).keys()):
        message = f"its topology does not read this topic; it reads {', '.join(sorted(read)) or 'none'}"
        yield model.Problem(subject=f"{group.id}, {topic}", message=message)


def plan_copy(
    source: model.Group,
    target: model.Group,
    partitions: Iterable[model.TopicPartition],
    positions: Positions,
    *,
    exists: bool = True,
    problems: Sequence[model.Problem] = (),
) -> GroupChange:
    """Plan a copy of a group's offsets to another: offset, leader epoch and metadata unchanged, even out of range."""
    changes: list[OffsetChange] = []
    all_problems = list(problems)
    for key in partitions:
        topic, partition = key
        copied, before = model.commit_of(source.offsets, key), model.commit_of(target.offsets, key)
        if copied is None or copied.offset is None or copied.offset < 0:
            offset = None if copied is None else copied.offset
            message = f"its committed offset is {'not known' if offset is None else offset}"
            subject = f"{source.id}, {model.partition_name(key)}"
            all_problems.append(model.Problem(subject=subject, message=message))
            continue
        changes.append(
            OffsetChange(
                topic=topic,
                partition=partition,
                before=None if before is None else before.position,
                after=copied.offset,
                earliest=positions.earliest.get(key),
                end=positions.end.get(key),
                leader_epoch=copied.leader_epoch,
                metadata=copied.metadata or "",
                remark=_out_of_range(copied.offset, key, positions),
            )
        )
    change = _change(target, changes, all_problems, exists=exists)
    if target.type is not model.GroupType.SHARE:
        return change
    message = (
        f"it is a share group, which keeps no leader epochs and metadata; "
        f"kohort offsets reset {target.id} --to-group {source.id} sets where it starts to deliver"
    )
    return replace(change, refusals=(*change.refusals, model.Problem(subject=target.id, message=message)))


def _out_of_range(offset: int, partition: model.TopicPartition, positions: Positions) -> str | None:
    earliest, end = positions.earliest.get(partition), positions.end.get(partition)
    if end is not None and offset > end:
        return "beyond the end; copied unchanged"
    if earliest is not None and offset < earliest:
        return "before the earliest; copied unchanged"
    return None


def _change(
    group: model.Group, changes: Sequence[OffsetChange], problems: Sequence[model.Problem], *, exists: bool
) -> GroupChange:
    pending = frozenset[model.TopicPartition]() if group.pending is None else group.pending.places
    return GroupChange(
        described=group,
        exists=exists,
        changes=tuple(
            replace(change, remark="; ".join(filter(None, (change.remark, "pending in an open transaction"))))
            if change.place in pending
            else change
            for change in changes
        ),
        refusals=tuple(refusals(group)),
        problems=tuple(problems),
    )


def refusals(group: model.Group) -> Iterator[model.Problem]:
    """Why the coordinator would currently refuse a commit from a client that is not a member."""
    if is_active(group):
        message = (
            f"{named_members(group)}; stop them, then try again (--wait-empty 60s waits for them to leave); "
            f"dead ones: kohort members remove {shlex.quote(group.id)} --all"
        )
        yield model.Problem(subject=group.id, message=message)


def is_active(group: model.Group) -> bool:
    """Whether the group is active, so that only members may change it; other clients need an Empty or Dead group."""
    resting = (model.GroupState.EMPTY, model.GroupState.DEAD)
    return bool(group.members) or group.state not in (*resting, model.GroupState.UNKNOWN)


def stays_after_a_close(group: model.Group) -> bool:
    """Until the session expires: static members, and Streams' classic ones (`internal.leave.group.on.close`)."""
    of_streams = is_classic_streams(group)
    return of_streams or any(member.instance for member in group.members)


def named_members(group: model.Group) -> str:
    """The members for a message, at most five: `2 active members (Stable): consumer-1-0a8 at /10.0.0.7, …`."""
    count = len(group.members)
    if not count:
        return f"the group is {group.state.value}: members are joining or leaving"
    return f"{count} active member{'s' if count > 1 else ''} ({group.state.value}): {named(group.members)}"


def named(members: Sequence[model.Member]) -> str:
    texts = []
    for member in members:
        instance = f" (instance {member.instance})" if member.instance else ""
        texts.append(f"{member.id}{instance}{f' at {member.client.host}' if member.client.host else ''}")
    return first_names(texts, _MEMBERS_NAMED)


EMBEDDED = "consumer"  # the protocol type of groups whose members' subscriptions the coordinator can read


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsDeletion(PlannedChange):
    offsets: tuple[tuple[model.TopicPartition, int | None], ...]  # None: unread, or of a share group

    @property
    def count(self) -> int:
        return len(self.offsets)

    @property
    def places(self) -> tuple[model.TopicPartition, ...]:
        return tuple(partition for partition, _ in self.offsets)


def plan_offsets_deletion(
    group: model.Group, scopes: Sequence[TopicScope], problems: Sequence[model.Problem] = ()
) -> OffsetsDeletion:
    """Plan the deletion of a group's offsets in the scopes; `problems` are problems of reading the group."""
    committed = group.offsets or {}
    partitions = committed_in(scopes, committed)
    return OffsetsDeletion(
        described=group,
        offsets=tuple(((topic, number), committed[topic][number].position) for topic, number in partitions),
        refusals=tuple(_refusals(group, scopes)),
        problems=(*problems, *(() if problems else _without_commits(group, scopes))),
    )


def _without_commits(group: model.Group, scopes: Sequence[TopicScope]) -> Iterator[model.Problem]:
    """A problem for each scope without a committed offset: most likely the name is wrong."""
    for scope in scopes:
        if not committed_in([scope], group.offsets or {}):
            partitions = "" if scope.partitions is None else f":{','.join(map(str, scope.partitions))}"
            message = "the group shows no committed offset there"
            yield model.Problem(subject=f"{group.id}, {scope.topic}{partitions}", message=message)


def _refusals(group: model.Group, scopes: Sequence[TopicScope]) -> Iterator[model.Problem]:
    """Members may read the topic (`GroupMetadataManager`); a share group's go by topic, and if it has no members."""
    if group.type is model.GroupType.SHARE:
        for scope in scopes:
            if scope.partitions is not None:
                message = "offsets of a share group are deleted by topic; leave the partitions out"
                yield model.Problem(subject=f"{group.id}, {scope.topic}", message=message)
        yield from refusals(group)
    elif (
        is_active(group)
        and group.type is model.GroupType.CLASSIC
        and group.protocol_type not in (EMBEDDED, None)
    ):
        yield from refusals(group)
    else:
        for topic in dict.fromkeys(scope.topic for scope in scopes):
            readers = [
                member
                for member in group.members
                if topic in (member.owned or ())
                or topic in (member.subscription or model.Subscription()).topics
            ]
            if readers:
                subscribe = "subscribes" if len(readers) == 1 else "subscribe"
                message = f"{named(readers)} {subscribe} to it; stop them first"
                yield model.Problem(subject=f"{group.id}, {topic}", message=message)


def plan_group_deletion(group: model.Group) -> PlannedChange:
    return PlannedChange(described=group, refusals=tuple(refusals(group)))
