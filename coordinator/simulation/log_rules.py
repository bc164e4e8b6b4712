"""Invariants of the coordinator's records and answers, and of the state that a node loads from the log (I8, I12).
An upgrade converts only the assignments that the coordinator knows; known flaws of Kafka follow from it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from coordinator.consumer.leader import assigned
from coordinator.consumer.outputs import Callback, CallbackKind, Partitions, Raised, TopicPartition
from coordinator.engine import records as logged
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.heartbeat import HeartbeatAnswer
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import OffsetCommit, OffsetCommitAnswer
from coordinator.engine.topics import TopicImage
from coordinator.simulation import known_flaws
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.group_rules import ClassicGroupRules, ConsumerGroupRules
from coordinator.simulation.handover_rules import EpochRules, HandoverRules
from coordinator.simulation.invariants import Facts
from coordinator.simulation.node import Answering, CoordinatorNode, LogAppend
from coordinator.simulation.offset_rules import OffsetRules
from coordinator.simulation.process import NOTHING, Process
from coordinator.simulation.watcher import Watcher
from wire.errors import ErrorCode


class Upgrades:
    """See the module."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.topics_then: TopicImage | None = None
        """The topics when an upgrade converted the existing assignment; None if it was reassigned since."""
        self.left_out: dict[str, Partitions] = {}
        """By classic member: partitions of topics deleted before the upgrade, until its next assignment."""

    def upgraded(self, assignments: Mapping[str, bytes]) -> None:
        """:param given: the leader's assignment to each member"""
        topics = self._facts.engine.topics.topics
        self.left_out = {
            member: frozenset(
                partition for partition in assigned(assignment) if partition.topic not in topics
            )
            for member, assignment in assignments.items()
        }

    def forgotten(
        self, records: Sequence[logged.Record], generation: int, assignments: Mapping[str, bytes]
    ) -> Iterator[tuple[str, TopicPartition]]:
        """Members, with partitions that they own and that the upgrade of these records has not converted.
        The leader has not assigned them, or a rebalance started, which clears all assignments, before it had.
        `generation` is the last that a leader has assigned, `given` its assignments."""
        at, epoch = next(
            (number, record.value.epoch)
            for number, record in enumerate(records)
            if isinstance(record, logged.ConsumerGroupRecord) and record.value is not None
        )
        taken = {
            record.member: NOTHING
            for record in records[:at]
            if isinstance(record, logged.ConsumerMemberRecord)
        }
        for record in reversed(records):  # the upgrade's record of a member is its first one
            if isinstance(record, logged.CurrentAssignmentRecord) and record.value and record.member in taken:
                taken[record.member] = self.places(record.value.assigned)
        is_cleared = epoch > generation and not any(taken.values())
        for process in self._facts.processes.values():
            member = process.member.member_id
            if process.is_running and member in taken:
                known = NOTHING if is_cleared else assigned(assignments.get(member, b""))
                for partition in process.owned - taken[member] - known:
                    yield member, partition

    def takes_over_deleted(self) -> bool:
        """Whether an upgrade has converted a partition that does not exist, or would now."""
        group, topics = self._facts.engine.state.groups.get(GROUP), self._facts.topics
        if isinstance(group, ClassicGroup):
            converted: Iterable[Partitions] = (
                assigned(member.assignment) for member in group.members.values()
            )
        else:
            converted = () if group is None else map(self.places, group.targets.values())
        return any(
            partition.topic in topics.image.topics and not topics.exists(partition)
            for partitions in converted
            for partition in partitions
        )

    def flaw_when_settled(self, partition: TopicPartition, *, is_assigned: bool) -> str:
        """Why the partition has no owner, or has one although it was deleted, while all members are settled.
        A topic that changes after the upgrade bumps the group epoch: then this is not a known flaw."""
        now, then = self._facts.topics.image.counts, self.topics_then
        if then is None or now.get(partition.topic) != then.counts.get(partition.topic):
            return ""
        if self._facts.topics.exists(partition):
            return "" if is_assigned else known_flaws.UPGRADED_WITHOUT_TARGET
        if is_assigned:
            return known_flaws.GONE_TAKEN_OVER
        # A member that owns the partition was never notified that the upgrade omitted it.
        is_left_out = any(
            partition in process.owned & self.left_out.get(process.member.member_id, NOTHING)
            for process in self._facts.processes.values()
        )
        return known_flaws.UPGRADED_WITHOUT_TARGET if is_left_out else ""

    def places(self, partitions: logged.TopicPartitions) -> Partitions:
        """Partitions by the names of their topics, without deleted topics."""
        names = self._facts.engine.topics.names
        return frozenset(
            TopicPartition(names[topic], number)
            for topic, numbers in partitions.items()
            if topic in names
            for number in numbers
        )


class LogRules(Watcher):
    """Passes each batch of records and each answer with new information to the rules of epochs, handovers, groups and
    offsets. I8: a node loads exactly its predecessor's hard state from the log, compacted or not, with all that was
    acknowledged."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._epochs, self.handovers = EpochRules(facts), HandoverRules(facts)
        self._upgrades = Upgrades(facts)
        self._offsets = OffsetRules(facts, self.handovers)
        self.classic = ClassicGroupRules(facts, self._epochs, self.handovers)
        self._consumer = ConsumerGroupRules(facts, self._epochs, self.handovers, self._upgrades.places)
        self.late_joins: set[str] = set()  # Members that joined the current generation by a late JoinGroup
        self._acknowledged: dict[str, int] = {}  # By member: the highest epoch or generation in its answers
        self._unheard: set[str] = set()  # Members whose last assignment was in a lost answer
        self._failed_targets: set[str] = set()
        """Members that were last refused because of GONE_TAKEN_OVER, with which every target fails."""

    def partition_deleted(self, partition: TopicPartition) -> None:
        self.handovers.partition_deleted(partition)

    def calling(self, process: Process, callback: Callback) -> None:
        if callback.kind is CallbackKind.ASSIGNED:
            process.deleted_owned |= self.handovers.of_deleted_topics(
                process.member.member_id, callback.partitions
            )

    def raised(self, process: Process, raised: Raised) -> None:
        if raised.error == "IllegalStateException":
            self.classic.failed_to_assign(process)

    # Records.

    def appended(self, batch: LogAppend) -> None:
        records, request, is_late = batch
        if batch.is_commit or type(records[0]) is logged.OffsetRecord:
            offsets = [record for record in records if isinstance(record, logged.OffsetRecord)]
            self._offsets.written(offsets, request, is_late=is_late)
            return
        self._epochs.moves(request)
        is_upgrade, is_downgrade = _conversion(records)
        had = dict(self.handovers.has)
        if is_upgrade:
            self._upgrade(records)
        replaced: Partitions = NOTHING
        takes_over = is_upgrade
        for record in records:
            match record:
                case logged.OffsetRecord():
                    self._offsets.written((record,), request, is_late=is_late)
                case logged.ClassicGroupRecord(value=value):
                    is_by_leader = type(request) is SyncGroup
                    self.classic.written(value, by_leader=is_by_leader)
                    if is_by_leader:
                        self._upgrades.topics_then = None
                    if is_downgrade:
                        self.classic.downgraded(had)
                case logged.ConsumerGroupRecord(value=None):
                    # Its remaining members belong to the classic group that follows.
                    self.classic.agreed.clear()
                    self._epochs.deleted()
                case logged.ConsumerGroupRecord(value=group) if group is not None:
                    self._epochs.group_written(group.epoch)
                case logged.TargetEpochRecord(value=target) if target is not None:
                    self._epochs.target_written(target.epoch)
                    if takes_over:
                        self._upgrades.topics_then = self._facts.topics.image
                        takes_over = False
                    else:
                        self._upgrades.topics_then = None
                        self.classic.assigned_topics = self._facts.topics.image
                        self._consumer.target_written()
                case logged.ConsumerMemberRecord(member=member, value=None):
                    replaced |= self._consumer.removed(member)
                    self._acknowledged.pop(member, None)  # it may rejoin a group that starts over
                case logged.CurrentAssignmentRecord(member=member, value=current) if current is not None:
                    taken = self.handovers.has.get(member, replaced) if is_upgrade else None
                    self._consumer.assigned(member, current, taken, is_late=is_late)
        self._epochs.batch_written()
        if is_upgrade or is_downgrade:
            self._offsets.converted("upgrade" if is_upgrade else "downgrade")

    def _upgrade(self, records: Sequence[logged.Record]) -> None:
        """Note what an upgrade does not convert: members that left before the next generation, what others own beyond
        their assignments."""
        self._epochs.upgraded()
        group, assignments = self._facts.engine.state.groups.get(GROUP), self.classic.given
        upgraded = {record.member for record in records if isinstance(record, logged.ConsumerMemberRecord)}
        for forgotten in self._upgrades.forgotten(records, self._epochs.generation, assignments):
            self.handovers.released[forgotten] = known_flaws.UPGRADED_WHILE_REBALANCING
        for member in assignments.keys() - upgraded:
            if group is None or not group.has_member(member):
                self.handovers.has.pop(member, None)
                self.handovers.removed.add(member)
        self._upgrades.upgraded(assignments)
        self.classic.given = {}

    # Answers.

    def answering(self, answering: Answering) -> None:
        node, request, answer, is_heard, is_late = answering
        if type(answer) is HeartbeatAnswer:
            return
        if isinstance(answer, JoinGroupAnswer) and not answer.error:
            self.late_joins.add(answer.member) if is_late else self.late_joins.discard(answer.member)
        if node is not self._facts.coordinator:
            return
        match answer:
            case ConsumerGroupHeartbeatAnswer() if isinstance(request, ConsumerGroupHeartbeat):
                self._heartbeat_answered(request, answer, is_heard)
            case OffsetCommitAnswer() if isinstance(request, OffsetCommit):
                self._offsets.acknowledged(request, answer)
            case JoinGroupAnswer() if isinstance(request, JoinGroup):
                self._note_failed_target(request.member, answer.error)
                self.classic.joined(answer)
            case SyncGroupAnswer(error=ErrorCode.NONE) if isinstance(request, SyncGroup):
                self._acknowledged[request.member] = request.generation
                self._upgrades.left_out.pop(request.member, None)
                self.classic.synced(request, answer)

    def _heartbeat_answered(
        self, request: ConsumerGroupHeartbeat, answer: ConsumerGroupHeartbeatAnswer, is_heard: bool
    ) -> None:
        self._note_failed_target(request.member, answer.error)
        if answer.assignment is not None and answer.member is not None:
            self._acknowledged[answer.member] = answer.epoch
            (self._unheard.discard if is_heard else self._unheard.add)(answer.member)
        if request.owned:
            self._consumer.reported(request, answer)

    def _note_failed_target(self, member: str, error: ErrorCode) -> None:
        if error is ErrorCode.UNKNOWN_SERVER_ERROR and self._upgrades.takes_over_deleted():
            self._failed_targets.add(member)
        else:
            self._failed_targets.discard(member)

    # When all are settled.

    def flaw_of_member(self, member: str) -> str:
        """Why a member cannot settle; empty if no flaw is known."""
        if member in self._unheard:
            return known_flaws.UNHEARD_ASSIGNMENT
        return self.flaw_of_failure(member)

    def flaw_of_failure(self, member: str) -> str:
        """Why the member's last answer may be UNKNOWN_SERVER_ERROR; empty if no flaw is known."""
        return known_flaws.GONE_TAKEN_OVER if member in self._failed_targets else ""

    def flaw_when_settled(self, partition: TopicPartition) -> str:
        """Why a partition has no owner, or has one although it was deleted, while all members are settled."""
        group = self._facts.engine.state.groups.get(GROUP)
        if isinstance(group, ConsumerGroup):
            is_assigned = any(partition in self._upgrades.places(target) for target in group.targets.values())
            return self._upgrades.flaw_when_settled(partition, is_assigned=is_assigned)
        if group is None:
            return ""
        is_assigned = self.classic.is_assigned(partition)
        return self.classic.flaw_when_settled(partition) or self._upgrades.flaw_when_settled(
            partition, is_assigned=is_assigned
        )

    # Failover.

    def replayed(self, node: CoordinatorNode, before: Engine | None) -> None:
        self.classic.loaded()
        if before is not None and hard_state(before) != hard_state(node.engine):
            what = f"node {node.number} replays the log to another state than its predecessor's"
            self._facts.broken("I8", what)
        group = node.engine.state.groups.get(GROUP)
        for member, epoch in self._acknowledged.items():
            if group is None or not group.has_member(member):
                if member not in self.handovers.removed:
                    what = "was acknowledged as a member that the log does not contain"
                    self._facts.broken("I8", f"{self._facts.name_of(member)} {what}")
                continue
            known = group.generation if isinstance(group, ClassicGroup) else group.members[member].epoch
            if known < 0:  # a static member that left temporarily, whatever it was answered before
                continue
            if known < epoch and member in self._epochs.members | self.classic.given:
                who = self._facts.name_of(member)
                self._facts.broken("I8", f"{who} was answered epoch {epoch}, but the log contains {known}")
        self._offsets.replayed(node.engine)

    def failed_to_load(self, node: CoordinatorNode, error: Exception) -> None:
        self._facts.broken("I8", f"node {node.number} cannot load the log: {error}")


def hard_state(engine: Engine) -> object:
    """The state of all groups that is determined by records."""
    groups: dict[str, object] = {}
    for name, group in engine.state.groups.items():
        if isinstance(group, ConsumerGroup):
            numbers = group.epoch, group.metadata_hash, group.assignment_epoch, group.assigned_ms
            groups[name] = numbers, group.members, group.targets, group.payloads, group.regexes
        elif group.stored is not None or name in engine.state.offsets:
            groups[name] = group.stored
    return groups, engine.state.offsets


def _conversion(records: Sequence[logged.Record]) -> tuple[bool, bool]:
    """Whether the records upgrade a classic group with members, and whether they downgrade a consumer group."""
    kinds = {(type(record), record.value is None) for record in records}
    from_classic = (logged.ClassicGroupRecord, True) in kinds and (logged.ConsumerGroupRecord, False) in kinds
    from_consumer = (logged.ConsumerGroupRecord, True) in kinds and (
        logged.ClassicGroupRecord,
        False,
    ) in kinds
    return from_classic, from_consumer
