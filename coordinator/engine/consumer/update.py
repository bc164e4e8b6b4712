"""A member's update, as records that are not emitted before the whole request is known to succeed: `subscribe` (may
bump the group epoch), `retarget`, `reconcile_member`, `commit`. Source: KIP-848 "Heartbeat handling";
GroupMetadataManager.consumerGroupHeartbeat."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from coordinator.engine import downgrade, upgrade
from coordinator.engine import records as log
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer import target_assignment
from coordinator.engine.consumer.client_assignment import assignor_in_use
from coordinator.engine.consumer.client_assignors import without_reason
from coordinator.engine.consumer.group import ConsumerGroup, member_timer_keys
from coordinator.engine.consumer.member import ConsumerMember, subscribed_names, subscribed_names_of
from coordinator.engine.consumer.reconciliation import ReconciliationInput, reconcile
from coordinator.engine.consumer.target_assignment import compute_target
from coordinator.engine.context import EngineContext
from coordinator.engine.timers import TimerKind
from coordinator.engine.topic_changes import next_epoch, refresh_is_due
from coordinator.errors import RequestRefused
from groups.regex.broker import InvalidRegexError, compile_broker_regex
from wire.errors import ErrorCode


@dataclass(slots=True, kw_only=True)
class Update:
    """A request of one member. `group` may be a draft that is not part of the state yet."""

    ctx: EngineContext
    group: ConsumerGroup
    before: ConsumerMember  # The current member; the initial state of a member that is new or a replacement
    after: ConsumerMember
    """The member with the changes of the request; after `reconcile_member` also with its next assignment."""
    records: list[log.Record] = field(default_factory=list)
    replaces: ClassicGroup | None = None  # A classic group that is replaced when the request succeeds
    may_describe: Callable[[str], bool] | None = None
    """Whether the sender may describe a topic; None: all topics."""
    epoch: int = field(init=False)  # The group epoch after the request
    asks_for_assignment: bool = False
    """Whether a client-side assignor of the member gives a reason for a new assignment."""
    changed: bool = False  # Whether the member's subscription has changed
    refreshed: bool = False  # Whether the metadata hash is up to date
    moved: bool = False  # Whether the member's current assignment has changed
    resolve: bool = False  # Whether the group's regexes must be resolved

    def __post_init__(self) -> None:
        self.epoch = self.group.epoch

    @property
    def predecessor(self) -> str | None:
        """The static member that the request replaces; None: it replaces no member."""
        holder = self.group.static_member(self.after.instance)
        return None if holder is None or holder.id == self.after.id else holder.id

    @property
    def members(self) -> dict[str, ConsumerMember]:
        """The members after the request, without the replaced one."""
        members = {**self.group.members, self.after.id: self.after}
        if self.predecessor is not None:
            del members[self.predecessor]
        return members


def subscribe(update: Update, *, regex_moves_epoch: bool = False) -> None:
    """Record the member's metadata and subscription. Raises RequestRefused: the regex is invalid."""
    group, old, new = update.group, update.before.metadata, update.after.metadata
    if new != old:
        update.records.append(log.ConsumerMemberRecord(group=group.id, member=update.after.id, value=new))
    is_unresolved = _change_regex(update, old.regex, new.regex)
    renamed, update.changed = new.topics != old.topics, (new.topics, new.regex) != (old.topics, old.regex)
    is_resolved = new.regex != old.regex and not is_unresolved and new.regex in ("", *group.regexes)
    moves = (update.changed if regex_moves_epoch else renamed or is_resolved) or update.asks_for_assignment
    moves = moves or without_reason(new) != without_reason(old) or _changes_assignor(update)
    if not moves and not group.refresh_metadata:
        return
    names = subscribed_names(update.members.values(), group.regexes)
    record = next_epoch(update.ctx, group, names, moves=moves)
    if record is not None:
        update.epoch += 1
        update.records.append(record)
    if group.has_partition_metadata:
        update.records.append(log.PartitionMetadataRecord(group=group.id, value=None))
    update.refreshed = True


def _changes_assignor(update: Update) -> bool:
    """Whether the member's request for another assignor changes the one in use (since 4.4, KAFKA-20434)."""
    ctx, old, new = update.ctx, update.before.metadata.assignor, update.after.metadata.assignor
    if old == new or not ctx.config.kohort_release.assignor_moves_epoch:
        return False
    configured = ctx.config.group_consumer_assignors
    requested = update.group.requested_assignors()
    in_use = target_assignment.shown_assignor(requested, configured[0])
    return target_assignment.chosen_assignor(requested, old, new, configured) != in_use


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberTarget:
    """A member's part of a target assignment, the target's epoch, and the assignor's metadata for it."""

    epoch: int
    partitions: log.TopicPartitions
    payload: log.Payload = log.NO_PAYLOAD


def present_target(update: Update) -> MemberTarget:
    """The member's part of the current target assignment."""
    group, after = update.group, update.after
    return MemberTarget(
        epoch=group.assignment_epoch,
        partitions=group.target_of(after.id, after.instance),
        payload=group.payloads.get(update.predecessor or after.id, log.NO_PAYLOAD),
    )


def retarget(update: Update) -> MemberTarget:
    """The member's target: a new one for a new group epoch, unless within the assignment interval."""
    group, after = update.group, update.after
    present = present_target(update)
    if group.assignment_epoch >= update.epoch:
        return present
    interval_ms = update.ctx.consumer_settings(group.id).assignment_interval_ms
    if interval_ms and group.assigned_ms and update.ctx.now_ms < group.assigned_ms + interval_ms:
        return present
    members = update.members
    if assignor_in_use(update.ctx, list(members.values())) is not None:
        return present
    question = target_assignment.AssignmentInput(
        epoch=update.epoch,
        members=target_assignment.in_broker_order(group.in_order(), members),
        targets={**group.targets, after.id: group.targets.get(update.predecessor or after.id, {})},
        regexes=group.regexes,
        topics=update.ctx.topics,
    )
    assignor = target_assignment.chosen_assignor(
        group.requested_assignors(),
        update.before.metadata.assignor,
        after.metadata.assignor,
        update.ctx.config.group_consumer_assignors,
    )
    targets = compute_target(question, assignor)
    for member, new in targets.items():
        if group.targets.get(member) != new or member in group.payloads:
            update.records.append(log.TargetMemberRecord(group=group.id, member=member, value=new))
    computed = log.TargetEpochValue(epoch=update.epoch, assigned_ms=update.ctx.now_ms)
    update.records.append(log.TargetEpochRecord(group=group.id, value=computed))
    return MemberTarget(epoch=update.epoch, partitions=targets[after.id])


def reconcile_member(update: Update, target: MemberTarget, owned: log.TopicPartitions | None) -> None:
    """Move the member towards its target, as far as others allow. Raises RequestRefused if it must rejoin."""
    if not update.changed and update.after.reconciled_to(target.epoch):
        return
    group, topics = update.group, update.ctx.topics.topics
    names = subscribed_names_of(update.after.metadata, group.regexes)
    goal = ReconciliationInput(
        epoch=target.epoch,
        target=target.partitions,
        payload=target.payload,
        subscribed={topics[name].id for name in names if name in topics},
        owned=owned,
        is_free=group.is_free,
        subscription_changed=update.changed,
    )
    current = reconcile(update.after.current, goal)
    if current == update.after.current:
        return
    update.after, update.moved = replace(update.after, current=current), True
    update.records.append(log.CurrentAssignmentRecord(group=group.id, member=update.after.id, value=current))


def commit(update: Update) -> None:
    """Emit the records, then update the soft state and the timers. Raises CannotBeWritten: nothing changes."""
    ctx, after, name, predecessor = update.ctx, update.after, update.group.id, update.predecessor
    ctx.emit(*update.records)
    if update.replaces is not None:
        upgrade.discard_classic_group(ctx, update.replaces)
    group = ctx.state.groups.get(name)
    if not isinstance(group, ConsumerGroup):
        raise AssertionError(f"{name} is not a consumer group")
    group.refresh_metadata = group.refresh_metadata and not update.refreshed
    if predecessor is not None:
        for key in member_timer_keys(name, predecessor):
            ctx.timers.cancel(key)
    if update.resolve:
        group.may_describe = update.may_describe
        ctx.start(TimerKind.REGEX, name, "", 0)
    if update.moved and after.current.state is not log.MemberState.UNREVOKED_PARTITIONS:
        ctx.stop(TimerKind.REBALANCE, name, after.id)
    elif update.moved and after.classic is None:
        ctx.start(TimerKind.REBALANCE, name, after.id, after.metadata.rebalance_timeout_ms)


def _change_regex(update: Update, old: str, new: str) -> bool:
    """Whether the member changes to a regex that must be resolved before it takes effect."""
    group, users = update.group, update.group.regex_users
    given_up = old if old != new and users[old] == 1 else ""
    if given_up:
        update.records.append(log.RegexRecord(group=group.id, regex=given_up, value=None))
    is_unresolved = old != new and new != "" and new not in users
    if is_unresolved:
        try:
            compile_broker_regex(new)
        except InvalidRegexError as error:
            # Only RE2/J's description: the broker's message does not quote the construct.
            description = error.reason.partition(": `")[0]
            message = f"SubscribedTopicRegex `{new}` is not a valid regular expression: {description}."
            raise RequestRefused(ErrorCode.INVALID_REGULAR_EXPRESSION, message) from None
    if is_unresolved or users:
        used = {*users, new} - {given_up, ""}
        update.resolve = refresh_is_due(update.ctx, group, used, unresolved=is_unresolved)
    return is_unresolved


def remove(ctx: EngineContext, group: ConsumerGroup, members: Sequence[ConsumerMember]) -> None:
    """Remove members, their timers and unused regexes; downgrade if only classic members are left and may be."""
    if not members:
        return
    if downgrade.downgrades_on_leave(ctx, group, members):
        downgrade.convert(ctx, group, leaving=members, must_rebalance=True)
        return
    gone = {member.id for member in members}
    left = [member for member in group.members.values() if member.id not in gone]
    unused = {member.metadata.regex for member in members} - {member.metadata.regex for member in left} - {""}
    used = {regex: value for regex, value in group.regexes.items() if regex not in unused}
    epoch = next_epoch(ctx, group, subscribed_names(left, used), moves=True)
    assigned = log.TargetEpochValue(epoch=group.epoch + 1)
    is_assigned = not left and ctx.config.kohort_release.assigns_emptied_groups
    ctx.emit(
        *(record for member in members for record in group.member_tombstones(member.id)),
        *(log.RegexRecord(group=group.id, regex=regex, value=None) for regex in sorted(unused)),
        *(() if epoch is None else (epoch,)),
        *((log.TargetEpochRecord(group=group.id, value=assigned),) if is_assigned else ()),
    )
    for member in members:
        for key in member_timer_keys(group.id, member.id):
            ctx.timers.cancel(key)
