"""The leader of a simulated application of Kafka Streams: it reads what the threads sent, assigns tasks as its release
does, and writes a version of the data that all can read (StreamsPartitionAssignor; KIP-268, Version Probing).

A release before 2.4 gives a member that sent a newer version nothing and leaves the others what they had; later ones
treat it as one more process. Before 2.6 tasks go to threads by the assignor that is now the sticky one: who gets which
task may differ from the old release, how many each gets does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from assignors.errors import AssignorFailedError
from assignors.model import DenseGroup, MemberSpec, Result
from assignors.rules import from_named
from assignors.streams import STREAMS
from assignors.streams.assignor import StreamsGroupSpec, TaskAssignorName, ThreadTasks, assign_tasks
from assignors.streams.model import UNKNOWN_OFFSET_SUM, StreamThread, Task, TaskSettings, TopicPartition
from assignors.streams.partition_groups import PartitionGroups
from groups.streams_releases import ThreadRelease
from wire.messages.streams_assignor import (
    NEWEST_VERSION,
    NO_REBALANCE,
    OLDEST_WITH_NEWEST_KNOWN,
    StreamsAssignment,
    StreamsSubscription,
    TaskId,
    read_streams_subscription,
    write_streams_assignment,
)

_FUTURE = UUID(int=0)  # The process of all members that sent a newer version than the leader knows


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsLeader:
    release: ThreadRelease
    process: UUID
    groups: PartitionGroups
    end_offset_sums: Mapping[Task, int]
    settings: TaskSettings

    def assign(self, group: DenseGroup, now_ms: int) -> Result:
        """Raises AssignorFailedError: the real leader would throw."""
        members = group.spec.members
        sent = {member.id: read_streams_subscription(member.user_data or b"") for member in members}
        used = min(subscription.version for subscription in sent.values())
        known = [subscription.newest_known for subscription in sent.values()]
        newer = {member for member, one in sent.items() if one.version > self.release.newest}
        if newer and used < OLDEST_WITH_NEWEST_KNOWN:
            version = max(sent[member].version for member in newer)
            raise AssignorFailedError(
                f"Received a future (version probing) subscription (version: {version}) and an incompatible pre Kafka "
                f"2.0 subscription (version: {used}) at the same time."
            )
        if newer and not self.release.is_cooperative_leader:
            tasks: Mapping[str, ThreadTasks] = {
                member: _as_before(subscription, member in newer) for member, subscription in sent.items()
            }
        else:
            tasks = self._assigned(members, sent)
        named: dict[str, dict[str, list[int]]] = {}
        data: dict[str, bytes] = {}
        for member, shares in tasks.items():
            places = sorted((place, task) for task in shares.active for place in self.groups.tasks[task])
            named[member] = {}
            for (topic, number), _ in places:
                named[member].setdefault(topic, []).append(number)
            due_ms = shares.follow_up_ms
            data[member] = write_streams_assignment(
                StreamsAssignment(
                    version=used,
                    commonly_known=min((version for version in known if version is not None), default=used),
                    active=tuple(TaskId(*task) for _, task in places),
                    standby={
                        TaskId(*task): tuple(sorted(self.groups.tasks[task])) for task in shares.standby
                    },
                    error=0,
                    next_rebalance_ms=NO_REBALANCE if due_ms is None else due_ms and now_ms + due_ms,
                )
            )
        return Result(assignment=from_named(STREAMS, group, named), user_data=data)

    def _assigned(
        self, members: tuple[MemberSpec, ...], sent: Mapping[str, StreamsSubscription]
    ) -> Mapping[str, ThreadTasks]:
        is_known, cooperates = self.release.knows_lags, self.release.is_cooperative_leader
        owned = {
            member.id: frozenset(
                (topic, number) for topic, numbers in member.owned.partitions.items() for number in numbers
            )
            for member in members
            if cooperates
        }
        spec = StreamsGroupSpec(
            threads=tuple(
                self._thread(member.id, sent[member.id], owned.get(member.id, frozenset()))
                for member in members
            ),
            tasks=self.groups.tasks,
            stateful=self.groups.stateful,
            end_offset_sums=self.end_offset_sums,
            leader=self.process,
            settings=self.settings,
            assignor=TaskAssignorName.HIGH_AVAILABILITY if is_known else TaskAssignorName.STICKY,
        )
        return assign_tasks(spec).threads

    def _thread(
        self, member: str, subscription: StreamsSubscription, owned: frozenset[TopicPartition]
    ) -> StreamThread:
        """How a leader before 3.2 divides the tasks of a process among its threads is not known: state whose offset the
        data does not show does not count, so that tasks stay where they run."""
        is_old = self.release.newest < NEWEST_VERSION
        return StreamThread(
            id=member,
            process=subscription.process or _FUTURE,
            owned=owned,
            offset_sums={
                Task(task.subtopology, task.partition): sum_
                for task, sum_ in subscription.offset_sums.items()
                if not (is_old and sum_ == UNKNOWN_OFFSET_SUM)
            },
        )


def _as_before(subscription: StreamsSubscription, is_newer: bool) -> ThreadTasks:
    tasks = () if is_newer else subscription.active
    return ThreadTasks(active=tuple(sorted(Task(task.subtopology, task.partition) for task in tasks)))
