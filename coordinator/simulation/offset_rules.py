"""Committed offsets: who may commit, that none decreases, and that none is lost (I7, I8, I12)."""

from collections.abc import Iterable
from itertools import chain
from uuid import UUID

from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.calls import AnyRequest
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import OffsetCommit, OffsetCommitAnswer
from coordinator.engine.records import OffsetRecord, StoredOffset
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.handover_rules import HandoverRules
from coordinator.simulation.invariants import Facts
from coordinator.simulation.known_flaws import ASSIGNED_BY_HAND, LATE_COMMIT, TOPIC_RECREATED
from coordinator.simulation.process import NOTHING


class OffsetRules:
    """I7: a commit is written only for a member of the current generation or epoch, or for a partition that was
    assigned to it no later than the epoch in the request (KIP-1251), never for another member's; and no offset
    decreases, unless set by an operator. I8: acknowledged commits are in the log. I12: an upgrade or downgrade does
    not change them."""

    def __init__(self, facts: Facts, handovers: HandoverRules) -> None:
        self._facts, self._handovers = facts, handovers
        self._offsets: dict[tuple[str, int], StoredOffset] = {}
        """By topic and partition: the last one in the log."""
        self._acknowledged: dict[tuple[str, int], int] = {}
        """By topic and partition: the offset of the last commit that was answered without an error."""
        self._beyond: set[TopicPartition] = set()
        """Recreated partitions whose committed offset was beyond the end when it was committed."""
        self._wrongly_committed: dict[TopicPartition, str] = {}
        """The flaw by which the last commit was accepted, if it should have been refused."""
        self._wrongly_had: dict[tuple[str, TopicPartition], str] = {}
        """The flaw by which a member committed another member's partition."""
        self._checked: object = None  # The last commit of a member that may commit any partition

    def written(self, records: Iterable[OffsetRecord], request: AnyRequest | None, *, is_late: bool) -> None:
        """Offsets are in the log, because of one request."""
        commit = request if isinstance(request, OffsetCommit) else None
        has = NOTHING if commit is None else self._handovers.has.get(commit.member, NOTHING)
        for _, topic, number, value in records:
            key = topic, number
            if value is None:
                self._offsets.pop(key, None)
                self._acknowledged.pop(key, None)
                continue
            known, self._offsets[key] = self._offsets.get(key), value
            if known is not None and not (
                known.topic_id is value.topic_id or known.topic_id == value.topic_id
            ):
                self._acknowledged.pop(key, None)
            elif value.offset < (0 if known is None else known.offset):
                before = 0 if known is None else known.offset
                self._decreased(TopicPartition(*key), before, value.offset, request, is_late)
            if key in self._handovers.recreated:
                partition = TopicPartition(*key)
                is_beyond = value.offset > self._facts.topics.end(partition)
                (self._beyond.add if is_beyond else self._beyond.discard)(partition)
            if commit is not None and (commit is not self._checked or key not in has):
                self._check_commit(commit, TopicPartition(*key), value.topic_id, is_late)
            elif commit is not None and self._wrongly_committed:
                self._wrongly_committed.pop(TopicPartition(*key), None)

    def _decreased(
        self, key: TopicPartition, before: int, now: int, request: AnyRequest | None, is_late: bool
    ) -> None:
        # An operator's commit, not a member's, has no epoch: the group is empty.
        is_operators = isinstance(request, OffsetCommit) and request.generation_or_epoch < 0
        if is_operators or self._facts.violations.shares_partitions:
            return
        what = f"the offset of {key.topic}-{key.partition} decreases from {before} to {now}"
        self._facts.broken("I7", what, LATE_COMMIT if is_late else self._flaw_of_setback(request, key))
        self._acknowledged.pop(key, None)

    def _check_commit(
        self, request: OffsetCommit, key: TopicPartition, topic_id: UUID | None, is_late: bool
    ) -> None:
        wrong = self._may_not_commit(request, key, topic_id)
        if wrong:
            flaw = self._flaw_of_commit(request, key) or (LATE_COMMIT if is_late else "")
            self._wrongly_committed[key] = flaw
            what = f"the coordinator accepts an offset of {key.topic}-{key.partition}"
            self._facts.broken("I7", f"{what} from {self._facts.name_of(request.member)}, {wrong}", flaw)
        else:
            self._wrongly_committed.pop(key, None)

    def acknowledged(self, request: OffsetCommit, answer: OffsetCommitAnswer) -> None:
        offsets = {(offset[0], offset[2]): offset[3] for offset in request.offsets}
        refused = [(topic, number) for topic, _, number, code in answer.partitions if code]
        for key in refused:
            offsets.pop(key, None)
        self._acknowledged.update(offsets)

    def converted(self, what: str) -> None:
        """:param what: upgrade or downgrade"""
        now = self._facts.engine.state.offsets.get(GROUP, {})
        kept, written = (
            {key: (value.topic_id, value.offset) for key, value in offsets.items()}
            for offsets in (now, self._offsets)
        )
        if kept != written:
            self._facts.broken("I12", f"the {what} changes committed offsets")

    def replayed(self, engine: Engine) -> None:
        """A node has loaded the log into this engine."""
        offsets = engine.state.offsets.get(GROUP, {})
        for key, offset in self._acknowledged.items():
            kept = offsets.get(key)
            if kept is None or kept.offset < offset:
                self._facts.broken("I8", f"a commit of {key[0]}-{key[1]} was acknowledged and then lost")

    def _may_not_commit(self, request: OffsetCommit, partition: TopicPartition, topic_id: UUID | None) -> str:
        group, epoch = self._facts.engine.state.groups.get(GROUP), request.generation_or_epoch
        if group is None or group.is_empty():
            return "" if epoch < 0 else "which is not a member"
        if not group.has_member(request.member):
            return "which is not a member"
        if isinstance(group, ClassicGroup):
            if epoch != group.generation:
                return f"which is at generation {epoch} instead of {group.generation}"
            self._checked = request
        elif epoch == group.members[request.member].epoch:
            self._checked = request
        else:
            current = group.members[request.member].current
            since = None if topic_id is None else current.assigned_epochs.get((topic_id, partition.partition))
            if since is None or since > epoch or epoch > current.epoch:
                return f"which is at epoch {epoch} instead of {current.epoch}"
        handovers = self._handovers
        if partition in handovers.has.get(request.member, NOTHING):
            return ""
        if partition in handovers.kept.get(request.member, NOTHING):
            return ""
        for member, partitions in chain(handovers.has.items(), handovers.kept.items()):
            if member != request.member and partition in partitions:
                return f"although it belongs to {self._facts.name_of(member)}"
        return ""

    def _flaw_of_setback(self, request: AnyRequest | None, partition: TopicPartition) -> str:
        if partition in self._beyond:
            return TOPIC_RECREATED
        if self._wrongly_committed.get(partition):
            return self._wrongly_committed[partition]
        if isinstance(request, OffsetCommit):
            return self._flaw_of_commit(request, partition)
        return self._flaw_at(partition)

    def _flaw_of_commit(self, request: OffsetCommit, partition: TopicPartition) -> str:
        """Why a member commits another's partition; librdkafka commits those that it has released."""
        member = request.member
        for process in self._facts.processes.values():
            if process.member.member_id == member and partition in process.by_hand:
                return ASSIGNED_BY_HAND
        flaw = (
            self._flaw_at(partition)
            or self._wrongly_had.get((member, partition), "")
            or self._handovers.released.get((member, partition), "")
        )
        if not flaw:
            flaw = TOPIC_RECREATED if self._is_of_topic_before(request, partition) else ""
        if flaw:
            self._wrongly_had[member, partition] = flaw
        return flaw

    def _is_of_topic_before(self, request: OffsetCommit, partition: TopicPartition) -> bool:
        """Whether the partition's topic was deleted after the member owned it last, or had sent this commit."""
        return any(
            process.member.member_id == request.member
            and (
                partition in process.deleted_released
                or any(commit is request and of == partition for commit, of in process.deleted_commits)
            )
            for process in self._facts.processes.values()
        )

    def _flaw_at(self, partition: TopicPartition) -> str:
        """Why two members may have the partition now."""
        owners = (process for process in self._facts.processes.values() if partition in process.owned)
        return next(filter(None, (self._facts.known_flaw(owner, partition) for owner in owners)), "")
