"""A member's request in the making: what it changes, in records that nobody has seen yet.

Everything is computed from the group as it stands, and nothing is emitted before the whole request is known to
succeed. The steps, in this order:

    subscribe   the member's metadata and regexes; the group epoch moves on when subscriptions changed
    retarget    a new target assignment, where the group epoch is ahead of it
    settle      the member's next current assignment
    commit      emit the records and set the timers

Source: KIP-848 "Heartbeat handling"; GroupMetadataManager.consumerGroupHeartbeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from coordinator.engine import downgrade
from coordinator.engine.consumer.client_assignors import NO_PAYLOAD, ClientAssignor, choose
from coordinator.engine.consumer.group import ConsumerGroup, member_timer_keys
from coordinator.engine.consumer.member import ConsumerMember, names_of, subscribed_names
from coordinator.engine.consumer.reconciliation import Goal, reconcile
from coordinator.engine.consumer.regex_refresh import refresh_is_due
from coordinator.engine.consumer.target_assignment import (
    AssignmentInput,
    chosen_assignor,
    compute_target,
    in_broker_order,
)
from coordinator.engine.context import EngineContext
from coordinator.engine.records import (
    ConsumerMemberRecord,
    CurrentAssignmentRecord,
    MemberState,
    PartitionMetadataRecord,
    Record,
    RegexRecord,
    TargetEpochRecord,
    TargetEpochValue,
    TargetMemberRecord,
    TopicPartitions,
)
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.engine.topic_changes import next_epoch
from coordinator.errors import RequestRefused
from groups.regex.broker import InvalidRegexError, compile_broker_regex
from wire.errors import ErrorCode


class RegexStatus(Enum):
    """What became of a member's regex."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    """It has to be resolved before it counts."""
    RESOLVED = "resolved"
    """It changed to one that is resolved already, or to none."""


@dataclass(slots=True, kw_only=True)
class Update:
    """A request of one member. `group` may be a draft that is not part of the state yet."""

    ctx: EngineContext
    group: ConsumerGroup
    before: ConsumerMember
    """The member as it is; a new or replacing one as it starts out."""
    after: ConsumerMember
    """With what the request says; from `settle` on with its next assignment."""
    records: list[Record] = field(default_factory=list)
    epoch: int = field(init=False)
    """The group epoch after the request."""
    client_assignors: tuple[ClientAssignor, ...] | None = None
    """The member's client-side assignors, where it says something new about them."""
    changed: bool = False
    """Whether the member subscribes to something else than before."""
    refreshed: bool = False
    """Whether the metadata hash is up to date."""
    moved: bool = False
    """Whether the member's current assignment is another one than before."""
    resolve: bool = False
    """Whether the group's regexes are to be resolved."""

    def __post_init__(self) -> None:
        self.epoch = self.group.epoch

    @property
    def predecessor(self) -> str | None:
        """The static member whose place this one takes, before the request; None: it takes nobody's."""
        holder = self.group.static_member(self.after.instance)
        return None if holder is None or holder.id == self.after.id else holder.id

    @property
    def members(self) -> dict[str, ConsumerMember]:
        """The members after the request: without the one that is replaced."""
        members = {**self.group.members, self.after.id: self.after}
        if self.predecessor is not None:
            del members[self.predecessor]
        return members


def subscribe(update: Update, *, regex_moves_epoch: bool = False) -> None:
    """Write down what the member is and wants now. Raises RequestRefused for a regex that is none.

    A regex that waits to be resolved moves the group epoch only for a classic member (`regex_moves_epoch`).
    """
    group, before, after = update.group, update.before, update.after
    if after.metadata != before.metadata:
        update.records.append(ConsumerMemberRecord(group=group.id, member=after.id, value=after.metadata))
    renamed = after.metadata.topics != before.metadata.topics
    status = _change_regex(update)
    update.changed = renamed or status is not RegexStatus.UNCHANGED
    moves = update.changed if regex_moves_epoch else renamed or status is RegexStatus.RESOLVED
    offers = update.client_assignors
    moves = moves or (offers is not None and offers != group.client.assignors.get(before.id, ()))
    if moves or group.refresh_metadata:
        _refresh(update, moves)


def retarget(update: Update) -> tuple[int, TopicPartitions]:
    """The target's epoch and the member's part of it: the present one, or a new one for a new group epoch.

    Within the assignment interval (4.3) the present one stays.
    """
    group, after = update.group, update.after
    present = group.assignment_epoch, group.target_of(after.id, after.instance)
    if group.assignment_epoch >= update.epoch:
        return present
    interval_ms = update.ctx.consumer_settings(group.id).assignment_interval_ms
    if interval_ms and group.assigned_ms and update.ctx.now_ms < group.assigned_ms + interval_ms:
        return present
    members = update.members
    if _clients_compute(update, members):
        return present
    question = AssignmentInput(
        epoch=update.epoch,
        members=in_broker_order(group.in_order(), members),
        targets={**group.targets, after.id: group.targets.get(update.predecessor or after.id, {})},
        regexes=group.regexes,
        topics=update.ctx.topics,
    )
    assignor = chosen_assignor(
        group.wishes(),
        update.before.metadata.assignor,
        after.metadata.assignor,
        update.ctx.config.group_consumer_assignors,
    )
    targets = compute_target(question, assignor)
    for member, new in targets.items():
        if group.targets.get(member) != new:
            update.records.append(TargetMemberRecord(group=group.id, member=member, value=new))
    update.records.append(
        TargetEpochRecord(
            group=group.id, value=TargetEpochValue(epoch=update.epoch, assigned_ms=update.ctx.now_ms)
        )
    )
    return update.epoch, targets[after.id]


def _clients_compute(update: Update, members: dict[str, ConsumerMember]) -> bool:
    """Whether the target is left to a client-side assignor that all members have."""
    if not update.ctx.config.group_consumer_client_assignors_enable:
        return False
    assignors = dict(update.group.client.assignors)
    if update.client_assignors is not None:
        assignors[update.after.id] = update.client_assignors
    return choose(list(members.values()), assignors) is not None


def reconcile_member(
    update: Update, target_epoch: int, target: TopicPartitions, owned: TopicPartitions | None
) -> None:
    """Move the member towards its target, as far as others let it. Raises RequestRefused when it must rejoin."""
    if not update.changed and update.after.reconciled_to(target_epoch):
        return
    group, topics = update.group, update.ctx.topics.topics
    names = names_of(update.after.metadata, group.regexes)
    goal = Goal(
        epoch=target_epoch,
        target=target,
        subscribed={topics[name].id for name in names if name in topics},
        owned=owned,
        is_free=group.is_free,
        subscription_changed=update.changed,
    )
    current = reconcile(update.after.current, goal)
    if current == update.after.current:
        return
    update.after, update.moved = replace(update.after, current=current), True
    update.records.append(CurrentAssignmentRecord(group=group.id, member=update.after.id, value=current))


def commit(update: Update) -> None:
    """Make it all true, and let the soft state and the timers follow."""
    ctx, after, name = update.ctx, update.after, update.group.id
    client, target_epoch, predecessor = update.group.client, update.group.assignment_epoch, update.predecessor
    word = client.words.get(predecessor or after.id, NO_PAYLOAD)
    for record in update.records:
        ctx.emit(record)
    group = ctx.state.groups.get(name)
    if not isinstance(group, ConsumerGroup):
        raise AssertionError(f"{name} is no consumer group")
    group.refresh_metadata = group.refresh_metadata and not update.refreshed
    group.client = client
    if group.assignment_epoch != target_epoch:
        client.words = {}
    elif word is not NO_PAYLOAD:
        client.words[after.id] = word
    if update.client_assignors is not None:
        client.assignors[after.id] = update.client_assignors
    if predecessor is not None:
        client.forget(predecessor)
        for key in member_timer_keys(name, predecessor):
            ctx.timers.cancel(key)
    if update.resolve:
        ctx.timers.set(TimerKey(TimerKind.REGEX, name), ctx.now_ms)
    revocation = TimerKey(TimerKind.REBALANCE, name, after.id)
    if update.moved and after.current.state is not MemberState.UNREVOKED_PARTITIONS:
        ctx.timers.cancel(revocation)
    elif update.moved and after.classic is None:
        ctx.timers.set(revocation, ctx.now_ms + after.metadata.rebalance_timeout_ms)


def _refresh(update: Update, moves: bool) -> None:
    """Look at the subscribed topics anew, and move the group epoch on if they changed."""
    group = update.group
    names = subscribed_names(update.members.values(), group.regexes)
    record = next_epoch(update.ctx, group, names, moves=moves)
    if record is not None:
        update.epoch += 1
        update.records.append(record)
    if group.has_partition_metadata:
        update.records.append(PartitionMetadataRecord(group=group.id, value=None))
    update.refreshed = True


def _change_regex(update: Update) -> RegexStatus:
    group, ctx = update.group, update.ctx
    old, new = update.before.metadata.regex, update.after.metadata.regex
    users = group.regex_users
    status, unresolved = RegexStatus.UNCHANGED, False
    if old != new:
        status = RegexStatus.CHANGED
        if old and users[old] == 1:
            update.records.append(RegexRecord(group=group.id, regex=old, value=None))
        if new and new not in users:
            _validate(new)
            unresolved = True
        elif not new or new in group.regexes:
            status = RegexStatus.RESOLVED
    if unresolved or users:
        given_up = old if old != new and users[old] == 1 else ""
        used = {*users, new} - {given_up, ""}
        update.resolve = refresh_is_due(ctx, group, used, unresolved=unresolved)
    return status


def _validate(regex: str) -> None:
    try:
        compile_broker_regex(regex)
    except InvalidRegexError as error:
        # RE2/J's description alone: the broker's message does not quote the construct.
        description = error.reason.partition(": `")[0]
        raise RequestRefused(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {description}.",
        ) from None


def remove(ctx: EngineContext, group: ConsumerGroup, members: Sequence[ConsumerMember]) -> None:
    """Take members out of the group, with their timers, and regexes that nobody uses any more.

    Where only members of the classic protocol are left the group becomes a classic one, if the policy lets it.
    """
    if not members:
        return
    if downgrade.may_leave(ctx, group, members):
        downgrade.convert(ctx, group, leaving=members, must_rebalance=True)
        return
    for member in members:
        for record in group.member_tombstones(member.id):
            ctx.emit(record)
        for key in member_timer_keys(group.id, member.id):
            ctx.timers.cancel(key)
    for regex in sorted({member.metadata.regex for member in members} - group.regex_users.keys() - {""}):
        ctx.emit(RegexRecord(group=group.id, regex=regex, value=None))
    epoch = next_epoch(ctx, group, group.subscribed_topics(), moves=True)
    if epoch is not None:
        ctx.emit(epoch)
