"""Invariants by what the coordinator writes and answers (I2, I3, I5, I7, I8, I11, I12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.calls import Request
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.consumer.member import names_of
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import OffsetCommit, OffsetCommitAnswer
from coordinator.engine.records import (
    ClassicGroupRecord,
    ClassicGroupValue,
    ConsumerGroupRecord,
    ConsumerMemberRecord,
    CurrentAssignmentRecord,
    CurrentAssignmentValue,
    OffsetRecord,
    Record,
    TargetEpochRecord,
)
from coordinator.engine.topics import TopicImage
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.embedded_partitions import assigned, claimed, subscribed
from coordinator.simulation.facts import Facts
from coordinator.simulation.known_flaws import (
    ASSIGNED_AFTER_REPORT,
    CREATED_ANEW,
    DOWNGRADED_WITHOUT_LEADER,
    GONE_TAKEN_OVER,
    LATE_COMMIT,
    LATE_REPORT,
    REJOINED_UNNOTICED,
    RETURNED_LEADER,
    STRAY_CLAIM,
    UNHEARD_ASSIGNMENT,
    UPGRADED_WHILE_REBALANCING,
)
from coordinator.simulation.node import Node
from coordinator.simulation.process import NOTHING
from coordinator.simulation.upgrades import Upgrades
from wire.errors import ErrorCode


class LogRules:
    """Checked with every batch of records and every answer that carries something new.

    I2: a partition is given to a member (by a leader's assignment, or in a member's current assignment) only when
    nobody else takes it for its own, but for processes that the coordinator has put out.

    I3 for the coordinator: member epoch ≤ assignment epoch ≤ group epoch; none goes back, nor does a generation. A
    group that was empty when the other protocol took it begins anew. A heartbeat of the previous epoch is taken only
    where it reports nothing that the coordinator does not take for the member's: its last answer may be lost.

    I5: a target assignment gives each partition of the topics that its members subscribe to to one member, which
    subscribes to it; the assignment of a classic leader gives none twice, and only what is subscribed to.

    I7: a commit is written only for a member of the present generation or epoch, or for a partition that was
    assigned to it no later than the epoch that it names (KIP-1251); not for a partition that is another's; and no
    committed offset goes back, but where an operator sets it.

    I8: what a node loads from the log, compacted or not, is the hard state of its predecessor; what was acknowledged
    is in it.

    I11: members of a generation are told the same leader (a static one may come back under another id) and the same
    protocol, and are given what the leader has sent. A
    generation that no leader has synced may be given out again after a fail-over: it is another one.

    I12: an upgrade or downgrade leaves the offsets as they are, and an upgrade gives nobody what it did not have.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._offsets: dict[tuple[str, int], tuple[UUID | None, int]] = {}
        """By topic and partition: topic id and offset as the log has them."""
        self._anew: set[TopicPartition] = set()
        """Partitions that were deleted, and may be there again."""
        self._beyond: set[TopicPartition] = set()
        """Of them, those whose committed offset was beyond the end when it was committed."""
        self._wrongly_committed: dict[TopicPartition, str] = {}
        """The flaw by which the last commit was taken, where it should not have been."""
        self._group_epoch = self._target_epoch = self._generation = 0
        self._epochs: dict[str, int] = {}
        """Of members of the consumer group."""
        self._given: dict[str, bytes] = {}
        """What the record of the present generation gives to its members."""
        self._kept_claims: Partitions = NOTHING
        """What the leader of the present generation has let its claimants have though it did not exist."""
        self._assigned_topics = facts.topics.image
        """The topics when they were last assigned, by a leader or by a target."""
        self._returned_to: TopicImage | None = None
        """The topics when a static leader came back to the present generation, where one did."""
        self._is_without_leader = False
        """Whether a downgrade has made the present generation, and no member was told that it leads it."""
        self._wrongly_had: dict[tuple[str, TopicPartition], str] = {}
        """The flaw by which a member committed a partition that was another's."""
        self._has: dict[str, Partitions] = {}
        """What a member has by the coordinator, of either protocol."""
        self._agreed: dict[int, tuple[str | None, str]] = {}
        """By generation of the present classic group, since the coordinator has loaded it."""
        self._acknowledged: dict[str, int] = {}
        """The highest epoch or generation that a member's answers have carried."""
        self._acknowledged_offsets: dict[tuple[str, int], int] = {}
        self._removed: set[str] = set()
        self.rejoined: set[str] = set()
        """Members that were removed and are there again under the same id."""
        self.released: dict[tuple[str, TopicPartition], str] = {}
        """By which known flaw a member of the consumer protocol was last taken for having given up a partition; empty
        where it had."""
        self.late_joins: set[str] = set()
        """Members that are in the present generation by a JoinGroup that came late."""
        self._unheard: set[str] = set()
        """Members whose last assignment was in an answer that nobody heard."""
        self._failed_targets: set[str] = set()
        """Members that were refused last, as no target can be computed for GONE_TAKEN_OVER."""
        self._upgrades = Upgrades(facts)
        self._places = self._upgrades.places
        self._kept: dict[str, Partitions] = {}
        """What such a member has or is giving up."""
        self._kept_before: dict[str, Partitions] = {}
        """And before its last change, which its last heartbeat may have made."""
        self._timely: object = None
        """The last heartbeat at its member's epoch that moved the member on."""
        self._checked: object = None
        """The last commit whose member may commit whatever it has."""
        self._answers: dict[type, Callable[..., None]] = {
            JoinGroupAnswer: self._join_answered,
            SyncGroupAnswer: self._sync_answered,
            ConsumerGroupHeartbeatAnswer: self._heartbeat_answered,
            OffsetCommitAnswer: self._commit_answered,
        }

    def gone(self, place: TopicPartition) -> None:
        """The partition was deleted: another one of its name is nobody's yet.

        Who is assigned it and has not heard so yet will take the other one for it.
        """
        for process in self._facts.processes.values():
            member = process.member.member_id
            if place in self._has.get(member, NOTHING) and place not in process.owned:
                self.released[member, place] = CREATED_ANEW
        self._anew.add(place)
        for owned in (self._has, self._kept):
            for member, partitions in owned.items():
                owned[member] = partitions - {place}

    def outlived(self, member: str, partitions: Partitions) -> Partitions:
        """What of them a member of the consumer protocol is assigned by the id of a topic that is gone."""
        has = self._kept.get(member)
        return NOTHING if has is None else partitions & self._anew - has

    # Records.

    def appended(self, records: Sequence[Record], request: Request[Any] | None, *, is_late: bool) -> None:
        if type(records[0]) is OffsetRecord:
            for record in records:
                if isinstance(record, OffsetRecord):
                    self._offset(record, request, is_late=is_late)
            return
        if type(request) is ConsumerGroupHeartbeat and request.epoch == self._epochs.get(request.member, 0):
            self._timely = request
        is_upgrade, is_downgrade = _conversion(records)
        if is_upgrade:
            self._group_epoch = self._target_epoch = 0
            self._forget_missing(records)
        replaced: Partitions = frozenset()
        takes_over = is_upgrade
        for record in records:
            match record:
                case OffsetRecord():
                    self._offset(record, request, is_late=is_late)
                case ClassicGroupRecord(value=value):
                    self._classic(value, by_leader=type(request) is SyncGroup)
                    if is_downgrade:
                        self._has.clear()  # the record has what members are to get
                        self._is_without_leader, self._returned_to = True, None
                case ConsumerGroupRecord(value=group):
                    if group is None:
                        self._forget_group()
                    else:
                        self._group_epoch = self._grown("group epoch", self._group_epoch, group.epoch)
                case TargetEpochRecord(value=target) if target is not None:
                    self._target_epoch = self._grown("assignment epoch", self._target_epoch, target.epoch)
                    self._upgrades.is_target_taken_over, takes_over = takes_over, False
                    if not self._upgrades.is_target_taken_over:
                        self._assigned_topics = self._facts.topics.image
                        self._target()
                case ConsumerMemberRecord(member=member, value=None):
                    self._epochs.pop(member, None)
                    replaced |= self._has.pop(member, frozenset())
                    self._kept.pop(member, None)
                    self._removed.add(member)
                case CurrentAssignmentRecord(member=member, value=current) if current is not None:
                    had = self._has.get(member, replaced) if is_upgrade else None
                    self._current(member, current, had, is_late=is_late)
        if self._target_epoch > self._group_epoch:
            self._facts.broken(
                "I3", f"assignment epoch {self._target_epoch} is beyond group epoch {self._group_epoch}"
            )
        if is_upgrade or is_downgrade:
            self._same_offsets("upgrade" if is_upgrade else "downgrade")

    def _note_claims(self, member: str, assigned: Partitions) -> None:
        """What a member owns, by its own view, that was removed and joins again."""
        for process in self._facts.processes.values():
            if process.is_running and process.member.member_id == member:
                for place in process.owned - assigned:
                    self.released[member, place] = REJOINED_UNNOTICED

    def _classic(self, value: ClassicGroupValue | None, *, by_leader: bool) -> None:
        if value is None:
            self._agreed.clear()
            return
        if value.generation == 0 or not value.protocol_type:
            self._generation = 0
        self._generation = self._grown("generation", self._generation, value.generation)
        here, had = {each.member for each in value.members}, self._has
        self._removed |= self._given.keys() - here
        self._given = {each.member: each.assignment for each in value.members}
        self._has = {member: assigned(assignment) for member, assignment in self._given.items()}
        if not by_leader:
            return
        self._assigned_topics, self._returned_to = self._leaders_topics(value), None
        self._is_without_leader = False
        gone = {each.member: self._gone_claims(value, each.subscription) for each in value.members}
        self._kept_claims = frozenset(_all(gone[member] & has for member, has in self._has.items()))
        twice = [each for each, count in Counter(_all(self._has.values())).items() if count > 1]
        if twice:
            known = STRAY_CLAIM if any(gone.values()) else ""
            self._facts.broken("I5", f"the leader gives {_name(twice[0])} to two members", known)
            self._facts.violations.cause = self._facts.violations.cause or known
        for each in value.members:
            topics = subscribed(each.subscription)
            unwanted = sorted(place for place in self._has[each.member] if place.topic not in topics)
            if unwanted:
                who = self._facts.name_of(each.member)
                self._facts.broken(
                    "I5",
                    f"the leader gives {who} {_name(unwanted[0])}, which it does not want",
                    STRAY_CLAIM if unwanted[0] in gone[each.member] else "",
                )
            self._given_on(each.member, self._has[each.member] - had.get(each.member, NOTHING))

    def _leaders_topics(self, value: ClassicGroupValue) -> TopicImage:
        """What the leader knows of topics."""
        leaders = (each for each in self._facts.processes.values() if each.member.member_id == value.leader)
        return next((each.member.image for each in leaders), self._facts.topics.image)

    def _gone_claims(self, value: ClassicGroupValue, subscription: bytes) -> Partitions:
        """What a member claims and does not exist, or does not by what the leader knows of topics."""
        images = self._facts.topics.image, self._leaders_topics(value)
        return frozenset(
            place
            for place in claimed(value.protocol, subscription)
            if not all(_is_in(image, place) for image in images)
        )

    def _current(
        self, member: str, current: CurrentAssignmentValue, had: Partitions | None, *, is_late: bool
    ) -> None:
        """`had`: in an upgrade, what the member, or the static one in whose place it comes, had before."""
        before, now = self._has.get(member, frozenset()), self._places(current.assigned)
        kept = now | self._places(current.revoking)
        for place in self._kept.get(member, frozenset()) - kept:
            self.released[member, place] = LATE_REPORT if is_late else self._report_flaw(member, place)
        self._kept_before[member] = self._kept.get(member, frozenset())
        self._has[member], self._kept[member] = now, kept
        if member in self._removed:
            self._removed.discard(member)
            self.rejoined.add(member)
            self._note_claims(member, now)
        if had is not None:
            # What no member had may be given with the first epoch after the upgrade, in the same batch.
            taken = (now - had).intersection(_all(each for who, each in self._has.items() if who != member))
            if taken:
                who = self._facts.name_of(member)
                self._facts.broken("I12", f"the upgrade gives {who} {_name(min(taken))}")
            before = had
        self._given_on(member, now - before)
        if current.epoch > 0:
            if current.epoch > max(self._target_epoch, 1):  # a group begins with an empty target of epoch 1
                who = self._facts.name_of(member)
                self._facts.broken(
                    "I3", f"{who} is at epoch {current.epoch}, the target at {self._target_epoch}"
                )
            self._grown(f"epoch of {self._facts.name_of(member)}", self._epochs.get(member, 0), current.epoch)
            self._epochs[member] = current.epoch

    def _report_flaw(self, member: str, place: TopicPartition) -> str:
        """Whether the member was about to take the partition over when it reported that it has not got it: its listener
        has its time, has thrown, or was called when the report was under way."""
        for process in self._facts.processes.values():
            if process.is_running and process.member.member_id == member:
                is_to_come = (
                    place not in process.owned
                    or place in process.member.taking_over
                    or process.assigned_ms.get(place, -1) >= process.reported_ms
                )
                return ASSIGNED_AFTER_REPORT if is_to_come else ""
        return ""

    def _given_on(self, member: str, partitions: Partitions) -> None:
        """I2: who else takes them for its own?"""
        for place in partitions:
            if self.released.get((member, place)) == CREATED_ANEW:
                del self.released[member, place]
        for process in self._facts.processes.values():
            if process.owned.isdisjoint(partitions) or process.member.member_id == member:
                continue
            if not self._facts.is_zombie(process):
                taken = process.owned & partitions
                known = {self._facts.known_flaw(process, each) for each in taken}
                who = self._facts.name_of(member)
                self._facts.broken(
                    "I2",
                    f"{_name(min(taken))} is given to {who} while {process.name}, a member, still owns it",
                    "" if "" in known else min(known),
                )

    def _target(self) -> None:
        group, topics = self._facts.engine.state.groups.get(GROUP), self._facts.engine.topics
        if not isinstance(group, ConsumerGroup) or group.payloads:
            return
        count: Counter[TopicPartition] = Counter()
        wanted: set[str] = set()
        for member in group.members.values():
            names = names_of(member.metadata, group.regexes)
            wanted |= names
            for place in self._places(group.targets.get(member.id, {})):
                count[place] += 1
                if place.topic not in names:
                    who = self._facts.name_of(member.id)
                    self._facts.broken("I5", f"{_name(place)} is to be {who}'s, which does not want it")
        for name in sorted(wanted & topics.topics.keys()):
            for number in range(topics.topics[name].partitions):
                owners = count[TopicPartition(name, number)]
                if owners != 1:
                    self._facts.broken("I5", f"the target gives {name}-{number} to {owners} members")

    def _offset(self, record: OffsetRecord, request: Request[Any] | None, *, is_late: bool) -> None:
        key, value = TopicPartition(record.topic, record.partition), record.value
        if value is None:
            self._offsets.pop(key, None)
            self._acknowledged_offsets.pop(key, None)
            return
        topic_id, before = self._offsets.get(key, (value.topic_id, 0))
        if topic_id != value.topic_id:
            self._acknowledged_offsets.pop(key, None)
        elif value.offset < before and not _is_reset(request):
            self._facts.broken(
                "I7",
                f"the offset of {record.topic}-{record.partition} goes back from {before} to {value.offset}",
                LATE_COMMIT if is_late else self._flaw_of_setback(request, key),
            )
            self._acknowledged_offsets.pop(key, None)
        if key in self._anew:
            is_beyond = value.offset > self._facts.topics.end(key)
            (self._beyond.add if is_beyond else self._beyond.discard)(key)
        self._offsets[key] = (value.topic_id, value.offset)
        if isinstance(request, OffsetCommit):
            wrong = self._may_not_commit(request, key, value.topic_id)
            if wrong:
                flaw = self._wrongly_committed[key] = self._flaw_of_commit(request.member, key)
                self._facts.broken(
                    "I7",
                    f"the coordinator takes {record.topic}-{record.partition} from "
                    f"{self._facts.name_of(request.member)}, {wrong}",
                    flaw,
                )
            elif self._wrongly_committed:
                self._wrongly_committed.pop(key, None)

    def _flaw_of_setback(self, request: Request[Any] | None, place: TopicPartition) -> str:
        if place in self._beyond:
            return CREATED_ANEW
        if self._wrongly_committed.get(place):
            return self._wrongly_committed[place]
        if isinstance(request, OffsetCommit):
            return self._flaw_of_commit(request.member, place)
        return self._flaw_at(place)

    def _flaw_of_commit(self, member: str, place: TopicPartition) -> str:
        """Why a member commits what is another's: by now, or since it gave up what it should not have had; librdkafka
        commits what was revoked after it has given it up."""
        flaw = (
            self._flaw_at(place)
            or self._wrongly_had.get((member, place), "")
            or self.released.get((member, place), "")
        )
        if not flaw:
            of_member = (each for each in self._facts.processes.values() if each.member.member_id == member)
            flaw = CREATED_ANEW if any(place in each.given_up_outlived for each in of_member) else ""
        if flaw:
            self._wrongly_had[member, place] = flaw
        return flaw

    def _flaw_at(self, place: TopicPartition) -> str:
        """Why two may have the partition at the moment."""
        owners = [each for each in self._facts.processes.values() if place in each.owned]
        return next((flaw for each in owners if (flaw := self._facts.known_flaw(each, place))), "")

    def _may_not_commit(self, request: OffsetCommit, place: TopicPartition, topic_id: UUID | None) -> str:
        has = self._has.get(request.member, NOTHING)
        if request is self._checked and place in has:
            return ""
        group, epoch = self._facts.engine.state.groups.get(GROUP), request.generation_or_epoch
        if group is None or group.is_empty():
            return "" if epoch < 0 else "which is no member"
        if not group.has_member(request.member):
            return "which is no member"
        if isinstance(group, ClassicGroup):
            if epoch != group.generation:
                return f"which is at generation {epoch} of {group.generation}"
            self._checked = request
        elif epoch == group.members[request.member].epoch:
            self._checked = request
        else:
            current = group.members[request.member].current
            since = None if topic_id is None else current.assigned_epochs.get((topic_id, place.partition))
            if since is None or since > epoch or epoch > current.epoch:
                return f"which is at epoch {epoch} and not {current.epoch}"
        if place in has:
            return ""
        for member, partitions in self._has.items():
            if member != request.member and place in partitions:
                return f"and it is {self._facts.name_of(member)}'s"
        return ""

    def _same_offsets(self, what: str) -> None:
        kept = {
            key: (value.topic_id, value.offset)
            for key, value in self._facts.engine.state.offsets.get(GROUP, {}).items()
        }
        if kept != self._offsets:
            self._facts.broken("I12", f"the {what} changes committed offsets")

    def _grown(self, what: str, before: int, now: int) -> int:
        if now < before:
            self._facts.broken("I3", f"{what} goes back from {before} to {now}")
        return now

    def _forget_missing(self, records: Sequence[Record]) -> None:
        """Members that have left a classic group before its next generation are not upgraded with it.

        Nor is what the others own beyond what they are assigned.
        """
        group = self._facts.engine.state.groups.get(GROUP)
        upgraded = {each.member for each in records if isinstance(each, ConsumerMemberRecord)}
        for forgotten in self._upgrades.forgotten(records, self._generation, self._given):
            self.released[forgotten] = UPGRADED_WHILE_REBALANCING
        for member in self._given.keys() - upgraded:
            if group is None or not group.has_member(member):
                self._has.pop(member, None)
                self._removed.add(member)
        self._given = {}

    def _forget_group(self) -> None:
        """The consumer group is deleted: members that stay are those of the classic group that follows it."""
        self._agreed.clear()
        self._generation = 0
        self._group_epoch = self._target_epoch = 0
        self._epochs.clear()

    # Answers.

    def answering(
        self, node: Node, request: Request[Any], answer: object, *, is_heard: bool, is_late: bool
    ) -> None:
        check = self._answers.get(type(answer))
        if type(answer) is JoinGroupAnswer and not answer.error:
            self.late_joins.add(answer.member) if is_late else self.late_joins.discard(answer.member)
        if check is not None and node is self._facts.coordinator:
            check(request, answer, is_heard)
        if type(request) is ConsumerGroupHeartbeat and request.owned and node is self._facts.coordinator:
            self._reported(request, answer)

    def _join_answered(self, request: JoinGroup, answer: JoinGroupAnswer, _is_heard: bool) -> None:
        self._note_failed_target(request.member, answer.error)
        if answer.error or not answer.leader:
            return
        group = self._facts.engine.state.groups.get(GROUP)
        is_assigned = answer.generation == self._generation
        if is_assigned and isinstance(group, ClassicGroup) and group.leader == answer.member:
            self._returned_to, self._is_without_leader = self._facts.topics.image, False
        told = answer.protocol, self._facts.name_of(answer.leader)
        agreed = self._agreed.setdefault(answer.generation, told)
        if told != agreed:
            self._facts.broken(
                "I11", f"generation {answer.generation} has two leaders or protocols: {agreed} and {told}"
            )

    def _sync_answered(self, request: SyncGroup, answer: SyncGroupAnswer, _is_heard: bool) -> None:
        if answer.error:
            return
        self._acknowledged[request.member] = request.generation
        group = self._facts.engine.state.groups.get(GROUP)
        who = self._facts.name_of(request.member)
        if isinstance(group, ConsumerGroup):
            if not assigned(answer.assignment) <= self._has.get(request.member, frozenset()):
                self._facts.broken("I11", f"{who} is given more by SyncGroup than its current assignment")
        elif answer.assignment != self._given.get(request.member):
            self._facts.broken("I11", f"{who} is not given what the leader has assigned to it")

    def _heartbeat_answered(
        self, request: ConsumerGroupHeartbeat, answer: ConsumerGroupHeartbeatAnswer, is_heard: bool
    ) -> None:
        self._note_failed_target(request.member, answer.error)
        if answer.assignment is not None and answer.member is not None:
            self._acknowledged[answer.member] = answer.epoch
            if is_heard:
                self._unheard.discard(answer.member)
            else:
                self._unheard.add(answer.member)

    def _note_failed_target(self, member: str, error: ErrorCode) -> None:
        if error is ErrorCode.UNKNOWN_SERVER_ERROR and self._upgrades.takes_gone_over():
            self._failed_targets.add(member)
        else:
            self._failed_targets.discard(member)

    def _reported(self, request: ConsumerGroupHeartbeat, answer: object) -> None:
        is_over = 0 < request.epoch < self._epochs.get(request.member, 0) and request is not self._timely
        if getattr(answer, "error", None) or not is_over:
            return
        known = [each.get(request.member, frozenset()) for each in (self._kept, self._kept_before)]
        unknown = self._places(request.owned or {}).difference(*known)
        if unknown:
            who = self._facts.name_of(request.member)
            self._facts.broken(
                "I3", f"{who} reports {_name(min(unknown))} at an epoch that is over, and is not fenced"
            )

    def _commit_answered(self, request: OffsetCommit, answer: OffsetCommitAnswer, _is_heard: bool) -> None:
        for offset, (_, _, _, code) in zip(request.offsets, answer.partitions, strict=True):
            if not code:
                self._acknowledged_offsets[offset.topic, offset.partition] = offset.offset

    # At rest.

    def flaw_of_member(self, member: str) -> str:
        """Why a member cannot come to rest; empty where nothing is known to keep it from that."""
        if member in self._unheard:
            return UNHEARD_ASSIGNMENT
        return self.flaw_of_failure(member)

    def flaw_of_failure(self, member: str) -> str:
        """Why the member was answered UNKNOWN_SERVER_ERROR last; empty where it was not, or must not have been."""
        return GONE_TAKEN_OVER if member in self._failed_targets else ""

    def flaw_at_rest(self, place: TopicPartition) -> str:
        """Why a partition has no owner, or one although it does not exist, while all members are settled."""
        group = self._facts.engine.state.groups.get(GROUP)
        if isinstance(group, ConsumerGroup):
            return self._upgrades.flaw_at_rest(group, place)
        exists = self._facts.topics.exists(place)
        if group is None or exists == any(place in assigned(each) for each in self._given.values()):
            return ""
        if place in self._kept_claims:
            return STRAY_CLAIM
        now, then = _count(self._facts.topics.image, place.topic), self._returned_to
        if now == _count(self._assigned_topics, place.topic):
            return ""
        if self._is_without_leader:
            return DOWNGRADED_WITHOUT_LEADER
        return RETURNED_LEADER if then is not None and now == _count(then, place.topic) else ""

    # Fail-over.

    def replayed(self, node: Node, before: Engine | None) -> None:
        self._agreed.clear()
        if before is not None and hard_state(before) != hard_state(node.engine):
            self._facts.broken(
                "I8", f"node {node.number} has another state from the log than its predecessor"
            )
        state = node.engine.state
        group = state.groups.get(GROUP)
        for member, epoch in self._acknowledged.items():
            if group is None or not group.has_member(member):
                if member not in self._removed:
                    who = self._facts.name_of(member)
                    self._facts.broken(
                        "I8", f"{who} was told that it is a member, and the log does not say so"
                    )
                continue
            known = group.generation if isinstance(group, ClassicGroup) else group.members[member].epoch
            if known < 0:  # a static member that has left for a while, whatever it was told before
                continue
            if known < epoch and member in self._epochs | self._given:
                who = self._facts.name_of(member)
                self._facts.broken("I8", f"{who} was told of epoch {epoch}, and the log says {known}")
        offsets = state.offsets.get(GROUP, {})
        for key, offset in self._acknowledged_offsets.items():
            kept = offsets.get(key)
            if kept is None or kept.offset < offset:
                self._facts.broken("I8", f"a commit of {key[0]}-{key[1]} was acknowledged and is lost")

    def failed_to_load(self, node: Node, error: Exception) -> None:
        self._facts.broken("I8", f"node {node.number} cannot load the log: {error}")


def hard_state(engine: Engine) -> object:
    """What records have made true, of all groups."""
    groups: dict[str, object] = {}
    for name, group in engine.state.groups.items():
        if isinstance(group, ConsumerGroup):
            numbers = group.epoch, group.metadata_hash, group.assignment_epoch, group.assigned_ms
            groups[name] = numbers, group.members, group.targets, group.payloads, group.regexes
        elif group.stored is not None or name in engine.state.offsets:
            groups[name] = group.stored
    return groups, engine.state.offsets


def _conversion(records: Sequence[Record]) -> tuple[bool, bool]:
    """Whether they upgrade a classic group with members, or downgrade a consumer group."""
    kinds = {(type(each), each.value is None) for each in records}
    from_classic = (ClassicGroupRecord, True) in kinds and (ConsumerGroupRecord, False) in kinds
    from_consumer = (ConsumerGroupRecord, True) in kinds and (ClassicGroupRecord, False) in kinds
    return from_classic, from_consumer


def _count(topics: TopicImage, topic: str) -> int:
    """The partitions of a topic; 0 where it does not exist."""
    return topics.topics[topic].partitions if topic in topics.topics else 0


def _all(partitions: Iterable[Partitions]) -> Iterable[TopicPartition]:
    return (each for some in partitions for each in sorted(some))


def _is_in(image: TopicImage, place: TopicPartition) -> bool:
    return place.topic in image.topics and place.partition < image.topics[place.topic].partitions


def _name(place: TopicPartition) -> str:
    return f"{place.topic}-{place.partition}"


def _is_reset(request: Request[Any] | None) -> bool:
    """Whether nobody's member commits: an operator, while the group is empty."""
    return isinstance(request, OffsetCommit) and request.generation_or_epoch < 0
