"""Rules for groups: assignments and members of a classic generation (I5, I11); targets and reports (I3, I5, I12)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from coordinator.consumer.leader import assigned, by_topic, claimed, subscribed
from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.consumer.member import subscribed_names_of
from coordinator.engine.records import (
    ClassicGroupValue,
    ClassicMemberValue,
    CurrentAssignmentValue,
    TopicPartitions,
)
from coordinator.engine.topics import TopicImage
from coordinator.simulation import known_flaws
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.handover_rules import EpochRules, HandoverRules, partition_name
from coordinator.simulation.invariants import Facts
from coordinator.simulation.process import NOTHING, Process
from groups.listing import GroupState


class ClassicGroupRules:
    """I5 for classic groups: a leader assigns no partition twice, and only topics that the member subscribes to. I11:
    the answers to all members of a generation name the same leader (a static leader may rejoin under another id) and
    protocol, and contain what the leader has sent. A generation that was never synced may be used again after a
    failover."""

    def __init__(self, facts: Facts, epochs: EpochRules, handovers: HandoverRules) -> None:
        self._facts, self._epochs, self._handovers = facts, epochs, handovers
        self.given: dict[str, bytes] = {}  # The members' assignments in the record of the current generation
        self.assigned_topics = facts.topics.image
        """The topics that were known to the last assigner: a leader, or the coordinator."""
        self._kept_claims: Partitions = NOTHING
        """Deleted partitions that the leader of the current generation let their claimants keep."""
        self._led: dict[str, JoinGroupAnswer] = {}
        """The last answer from which each leader had to compute an assignment."""
        self._hampered: int | None = None
        """The rebalance count when claims of deleted partitions last kept a leader from assigning existing ones."""
        self._withheld: dict[TopicPartition, tuple[str, str]] = {}
        """What the leader withheld because a member must revoke it first; name and member id of the claimant."""
        self._assigned_ms = 0  # When the leader of the current generation assigned it
        self._subscribed: set[str] = set()
        """The topics that the members of the current generation subscribed to at that time."""
        self._has_leader_returned = False  # Whether a static leader has rejoined the current generation
        self._is_downgraded = False
        """Whether a downgrade created the current generation: no member knows that it is the leader."""
        self._must_rebalance = False  # Whether the downgraded group had to rebalance at once
        self._is_rebalance_forgotten = False
        """Whether that rebalance was lost, because another coordinator loaded the group first."""
        self._untold: dict[TopicPartition, str] = {}
        """By partition: the member that a downgrade assigned it to, and that has not received it."""
        self.agreed: dict[int, tuple[str | None, str]] = {}
        """Leader and protocol of the current classic group's generations since the coordinator has loaded it."""

    def written(self, value: ClassicGroupValue | None, *, by_leader: bool) -> None:
        if value is None:
            self.agreed.clear()
            return
        starts_over = value.generation == 0 or not value.protocol_type
        self._epochs.generation_written(value.generation, starts_over=starts_over)
        here, had = {member.member for member in value.members}, self._handovers.has
        self._handovers.removed |= self.given.keys() - here
        self.given = {member.member: member.assignment for member in value.members}
        has = {member: assigned(assignment) for member, assignment in self.given.items()}
        self._handovers.has = has
        if by_leader:
            self._assigned_by_leader(value, had)

    def _assigned_by_leader(self, value: ClassicGroupValue, had: Mapping[str, Partitions]) -> None:
        """:param had: the members' previous assignments"""
        has = self._handovers.has
        leader = self._process(value.leader)
        self.assigned_topics = (leader and leader.assigned_image) or self._facts.topics.image
        self._has_leader_returned = self._is_downgraded = False
        self._must_rebalance = self._is_rebalance_forgotten = False
        self._untold.clear()
        assigned_now, self._assigned_ms = NOTHING.union(*has.values()), self._facts.schedule.now_ms
        self._withheld = {
            partition: (self._facts.name_of(member.member), member.member)
            for member in value.members
            for partition in claimed(value.protocol, member.subscription) - assigned_now
        }
        self._subscribed = set().union(*(subscribed(member.subscription) for member in value.members))
        gone = self._stale_claims(self.assigned_topics, value.protocol, value.members)
        self._kept_claims = NOTHING.union(*(gone[member] & now for member, now in has.items()))
        if self._kept_claims:
            self._hampered = self._facts.measures.rebalances
        twice: list[TopicPartition] = []
        if sum(map(len, has.values())) > len(assigned_now):
            twice = [partition for partition, count in Counter(_all(has.values())).items() if count > 1]
        if twice and not self._facts.violations.shares_partitions:
            known = known_flaws.STRAY_CLAIM if any(gone.values()) else ""
            self._facts.broken("I5", f"the leader gives {partition_name(twice[0])} to two members", known)
            self._facts.violations.cause = self._facts.violations.cause or known
        for member in value.members:
            topics, now = subscribed(member.subscription), has[member.member]
            if not by_topic(now).keys() <= set(topics):
                unwanted = sorted(partition for partition in now if partition.topic not in topics)
                known = (
                    known_flaws.STRAY_CLAIM
                    if unwanted[0] in claimed(value.protocol, member.subscription)
                    else ""
                )
                who, what = self._facts.name_of(member.member), partition_name(unwanted[0])
                self._facts.broken("I5", f"the leader gives {who} {what}, which it does not want", known)
                self._facts.violations.cause = self._facts.violations.cause or known
            self._handovers.reassigned(member.member, now - had.get(member.member, NOTHING))

    def downgraded(self, had: Mapping[str, Partitions]) -> None:
        """The record just written contains a consumer group's future assignments; `had`: the previous ones by member,
        without a member that replaces a static one, and syncs."""
        self._handovers.has.clear()
        self._is_downgraded, self._has_leader_returned = True, False
        group = self._facts.engine.state.groups.get(GROUP)
        self._must_rebalance = group is not None and group.state is not GroupState.STABLE
        self._is_rebalance_forgotten = False
        self._untold = {
            partition: member
            for member in self.given.keys() & had.keys()
            for partition in assigned(self.given[member]) - had[member]
        }
        self._withheld, self._kept_claims = {}, NOTHING

    def joined(self, answer: JoinGroupAnswer) -> None:
        if answer.error or not answer.leader:
            return
        group = self._facts.engine.state.groups.get(GROUP)
        is_assigned = answer.generation == self._epochs.generation
        if is_assigned and isinstance(group, ClassicGroup) and group.leader == answer.member:
            self._has_leader_returned = True
        if answer.members:
            self._led[answer.member] = answer
        answered = answer.protocol, self._facts.name_of(answer.leader)
        agreed = self.agreed.setdefault(answer.generation, answered)
        if answered != agreed:
            what = f"generation {answer.generation} has two leaders or protocols: {agreed} and {answered}"
            self._facts.broken("I11", what)

    def synced(self, request: SyncGroup, answer: SyncGroupAnswer) -> None:
        """:param answer: an answer without an error"""
        group = self._facts.engine.state.groups.get(GROUP)
        who = self._facts.name_of(request.member)
        if isinstance(group, ConsumerGroup):
            if not assigned(answer.assignment) <= self._handovers.has.get(request.member, frozenset()):
                self._facts.broken("I11", f"{who} receives more from SyncGroup than its current assignment")
        elif answer.assignment != self.given.get(request.member):
            self._facts.broken("I11", f"{who} does not receive what the leader assigned to it")
        else:
            self._untold = {place: who for place, who in self._untold.items() if who != request.member}

    def failed_to_assign(self, leader: Process) -> None:
        """The leader raised its assignor's error."""
        led = self._led.get(leader.member.member_id)
        if led and any(self._stale_claims(leader.member.image, led.protocol, led.members).values()):
            self._hampered = self._facts.measures.rebalances

    def loaded(self) -> None:
        """A coordinator has loaded the group: generations may be used again, a rebalance in progress is forgotten."""
        self.agreed.clear()
        self._is_rebalance_forgotten = self._must_rebalance

    def flaw_when_settled(self, partition: TopicPartition) -> str:
        """Why a partition has no owner, or has one although it was deleted, while all members are settled."""
        exists = self._facts.topics.exists(partition)
        if exists == self.is_assigned(partition):
            processes = self._facts.processes.values()
            if (
                not exists
                or partition not in self._untold
                or any(partition in one.owned for one in processes)
            ):
                return ""
            if self._is_rebalance_forgotten:
                return known_flaws.DOWNGRADE_FORGOTTEN
            return known_flaws.DOWNGRADED_WHILE_RECONCILING
        if partition in self._kept_claims:
            return known_flaws.STRAY_CLAIM
        if partition in self._withheld:  # has its claimant joined as a new member since?
            name, member = self._withheld[partition]
            if self._facts.processes[name].member.member_id != member:
                return known_flaws.RESTARTED_WHILE_REVOKING
        is_new = not self._is_downgraded and partition.topic not in self._subscribed
        if is_new and self._is_resubscribed(partition.topic):
            return known_flaws.RESUBSCRIBED_UNNOTICED
        now, then = self._facts.topics.image.counts, self.assigned_topics.counts
        if now.get(partition.topic) == then.get(partition.topic):
            return known_flaws.DOWNGRADE_FORGOTTEN if exists and self._is_rebalance_forgotten else ""
        if self._has_leader_returned:
            return known_flaws.RETURNED_LEADER if self._has_seen(partition.topic) else ""
        return known_flaws.DOWNGRADED_WITHOUT_LEADER if self._is_downgraded else ""

    def is_assigned(self, partition: TopicPartition) -> bool:
        """Whether the current generation assigns the partition to a member."""
        return any(partition in assigned(assignment) for assignment in self.given.values())

    def _has_seen(self, topic: str) -> bool:
        """Whether the leader, when it rejoined, knew the current state of the topic."""
        group = self._facts.engine.state.groups.get(GROUP)
        leader = self._process(group.leader) if isinstance(group, ClassicGroup) else None
        watched = None if leader is None else leader.member.watched
        return watched is not None and watched.get(topic) == self._facts.topics.image.counts.get(topic)

    def flaw_when_unsettled(self) -> str:
        """A member retries commits of deleted partitions until the others stop waiting for it, or longer."""
        running = (process for process in self._facts.processes.values() if process.is_running)
        kept = (partition for process in running for partition in process.owned & self._kept_claims)
        return "" if all(map(self._facts.topics.exists, kept)) else known_flaws.STRAY_CLAIM

    def flaw_of_rebalances(self, allowed: int) -> str:
        """Until recently stale claims made leaders fail, or were kept."""
        since = self._facts.measures.rebalances - (self._hampered or 0)
        return known_flaws.STRAY_CLAIM if self._hampered is not None and since <= allowed else ""

    def _is_resubscribed(self, topic: str) -> bool:
        """Whether a static member that rejoined after the last assignment subscribes to the topic."""
        return any(
            process.started_ms > self._assigned_ms
            and process.script.instance is not None
            and topic in process.wanted(self._facts.topics.image)
            for process in self._facts.processes.values()
            if process.is_running
        )

    def _process(self, member: str | None) -> Process | None:
        processes = self._facts.processes.values()
        return next((process for process in processes if process.member.member_id == member), None)

    def _stale_claims(
        self, known: TopicImage, protocol: str | None, members: Iterable[ClassicMemberValue]
    ) -> dict[str, Partitions]:
        """By member: the partitions that it claims and that are deleted, or missing in the leader's metadata."""
        there = known.places & self._facts.topics.image.places
        return {member.member: claimed(protocol, member.subscription).difference(there) for member in members}


def _all(partitions: Iterable[Partitions]) -> Iterable[TopicPartition]:
    return (partition for some in partitions for partition in sorted(some))


class ConsumerGroupRules:
    """I3: a heartbeat of the previous epoch is accepted only if the member has every partition that it reports.
    I5: a target assigns each partition of the subscribed topics to exactly one member, which subscribes to it.
    I12: an upgrade assigns a member no partition that it did not have."""

    def __init__(
        self,
        facts: Facts,
        epochs: EpochRules,
        handovers: HandoverRules,
        places: Callable[[TopicPartitions], Partitions],
    ) -> None:
        self._facts, self._epochs, self._handovers, self._places = facts, epochs, handovers, places
        self._kept_before: dict[str, Partitions] = {}
        """What a member had or was revoking before its last change, which its heartbeat may have caused."""

    def removed(self, member: str) -> Partitions:
        """The member has left the group. :return: the partitions that it had"""
        self._epochs.members.pop(member, None)
        self._handovers.kept.pop(member, None)
        self._handovers.removed.add(member)
        return self._handovers.has.pop(member, NOTHING)

    def assigned(
        self, member: str, current: CurrentAssignmentValue, had: Partitions | None, *, is_late: bool
    ) -> None:
        """`had`: in an upgrade, the partitions that the member, or the static member that it replaces, had before."""
        before, now = self._handovers.has.get(member, frozenset()), self._places(current.assigned)
        kept = now | self._places(current.revoking)
        released = self._handovers.kept.get(member, frozenset()) - kept
        processes = self._facts.processes.values() if released else ()
        process = next((one for one in processes if one.member.member_id == member and one.is_running), None)
        for partition in released:
            self._handovers.released[member, partition] = (
                known_flaws.LATE_REPORT if is_late else _report_flaw(process, partition)
            )
        self._kept_before[member] = self._handovers.kept.get(member, frozenset())
        self._handovers.has[member], self._handovers.kept[member] = now, kept
        self._handovers.rejoins(member, now)
        if had is not None:
            # Unowned partitions may be assigned with the first epoch after the upgrade, in the same batch.
            taken = (now - had).intersection(
                chain.from_iterable(owned for who, owned in self._handovers.has.items() if who != member)
            )
            if taken:
                who = self._facts.name_of(member)
                self._facts.broken("I12", f"the upgrade assigns {partition_name(min(taken))} to {who}")
            before = had
        self._handovers.reassigned(member, now - before)
        self._epochs.member_written(member, current.epoch)

    def target_written(self) -> None:
        """A target was computed."""
        group, topics = self._facts.engine.state.groups.get(GROUP), self._facts.engine.topics
        if not isinstance(group, ConsumerGroup) or group.payloads:
            return
        count: Counter[TopicPartition] = Counter()
        subscribed: set[str] = set()
        for member in group.members.values():
            names = subscribed_names_of(member.metadata, group.regexes)
            subscribed |= names
            for partition in self._places(group.targets.get(member.id, {})):
                count[partition] += 1
                if partition.topic not in names:
                    what = f"{partition_name(partition)} is assigned to {self._facts.name_of(member.id)}"
                    self._facts.broken("I5", f"{what}, which does not subscribe to it")
        for name in sorted(subscribed & topics.topics.keys()):
            for number in range(topics.topics[name].partitions):
                owners = count[TopicPartition(name, number)]
                if owners != 1:
                    self._facts.broken("I5", f"the target assigns {name}-{number} to {owners} members")

    def reported(self, request: ConsumerGroupHeartbeat, answer: object) -> None:
        """A heartbeat that reports its member's partitions was answered."""
        if getattr(answer, "error", None) or not self._epochs.is_over(request):
            return
        kept, before = self._handovers.kept, self._kept_before
        known = kept.get(request.member, NOTHING) | before.get(request.member, NOTHING)
        unknown = self._places(request.owned or {}) - known
        if unknown:
            what = f"reports {partition_name(min(unknown))} at an old epoch, and is not fenced"
            self._facts.broken("I3", f"{self._facts.name_of(request.member)} {what}")


def _report_flaw(process: Process | None, partition: TopicPartition) -> str:
    """The known flaw if a member was about to acquire the partition when it reported, else empty."""
    if process is None:
        return ""
    is_to_come = (
        partition not in process.owned
        or partition in process.member.acquiring
        or process.assigned_ms.get(partition, -1) >= process.reported_ms
    )
    return known_flaws.ASSIGNED_AFTER_REPORT if is_to_come else ""
