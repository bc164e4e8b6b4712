"""A coordinator of one group on a clock that is told the time, the records that it writes, and its consumers: of the
classic protocol, eager and cooperative, and of the consumer protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import UUID

from assignors.assignor import Side
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, TopicSpec
from assignors.registry import find
from coordinator.engine.calls import Call, CoordinatorResult, Request
from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.leave_group import LeaveGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.config import Config
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import Offset, OffsetCommit
from coordinator.engine.records import ClassicMemberValue, JoinProtocol, Record
from coordinator.engine.topics import TopicImage
from coordinator.store.group_records import COOPERATIVE, REBALANCE_TIMEOUT_MS, SESSION_TIMEOUT_MS
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import (
    NEWEST_VERSION,
    EmbeddedAssignment,
    EmbeddedSubscription,
    read_assignment,
    read_subscription,
    write_assignment,
    write_subscription,
)

HEARTBEAT_MS = 3_000
_APART_MS = 137
"""Between what one member does and what the next one does."""

Owned = dict[str, tuple[int, ...]]
Positions = Callable[[str, int, int], int]
"""The offset that the consumers of a topic and partition have come to at a moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleClient:
    """Who sends a request, as the coordinator sees it."""

    id: str
    host: str


class Actor(ABC):
    """A member of the group: a process that is there until it is taken off the stage."""

    def __init__(self, stage: Stage, client: SampleClient) -> None:
        self.client = client
        self.owned: Owned = {}
        self._stage = stage
        stage.actors.append(self)

    @property
    @abstractmethod
    def standing(self) -> tuple[str, int]:
        """Its member id, and its generation or member epoch."""

    @abstractmethod
    def is_busy(self) -> bool:
        """Whether it is on its way into a generation or epoch."""

    @abstractmethod
    def act(self) -> None:
        """Do what a consumer does at its next poll."""

    @abstractmethod
    def _leaving(self) -> Request[Any]:
        """What it sends when it goes."""

    def leave(self) -> None:
        """Close in good order: commit, then leave."""
        self._stage.commit(self)
        self._stage.actors.remove(self)
        self._stage.send(self._leaving(), self.client)

    def crash(self) -> None:
        """Be gone without a word, until the coordinator has noticed."""
        self._stage.actors.remove(self)
        self._stage.run(SESSION_TIMEOUT_MS // 1_000 + 3)


class Stage:
    """One group. Time passes slowly while it rebalances (`run`, `settle`), and in leaps while it rests (`live`)."""

    def __init__(
        self, group: str, topics: TopicImage, start_ms: int, before: Iterable[Record], positions: Positions
    ) -> None:
        """`before` is what the log says of the group when the story begins."""
        self.positions = positions
        self.group = group
        self.now_ms = start_ms
        self.actors: list[Actor] = []
        self.written: list[tuple[int, tuple[Record, ...]]] = []
        """Times in ms, and the records written then."""
        self._engine = Engine(Config.parse({}), topics)
        self._answers: dict[int, Any] = {}
        self._tickets = 0
        self._random = Random(group)  # noqa: S311  # ids that are the same in every sample
        for record in before:
            self._engine.replay(record)
            self.written.append((start_ms, (record,)))
        self._take(self._engine.loaded(start_ms))

    @property
    def topics(self) -> TopicImage:
        return self._engine.topics

    def fresh_id(self) -> UUID:
        """A random id, the same ones in every run."""
        return UUID(int=self._random.getrandbits(128), version=4)

    def send(self, request: Request[Any], client: SampleClient, fresh_id: UUID | None = None) -> int:
        """Play a request; `answer` has what came of it."""
        self._tickets += 1
        call = Call(
            ticket=self._tickets,
            request=request,
            now_ms=self.now_ms,
            client_id=client.id,
            host=client.host,
            fresh_id=fresh_id or self.fresh_id(),
        )
        self._take(self._engine.handle(call))
        return self._tickets

    def answer(self, ticket: int) -> Any:
        """The answer, which is handed out once; None while the request waits."""
        return self._answers.pop(ticket, None)

    def run(self, seconds: int) -> None:
        """Let time pass, everybody heartbeating."""
        for _ in range(seconds * 1_000 // HEARTBEAT_MS):
            end = self.now_ms + HEARTBEAT_MS
            for actor in self.actors:
                self._pass(min(self.now_ms + _APART_MS, end))
                actor.act()
            self._pass(end)

    def settle(self) -> None:
        """Let time pass until the group is at rest."""
        self.run(2 * HEARTBEAT_MS // 1_000)
        while any(actor.is_busy() for actor in self.actors):
            self.run(HEARTBEAT_MS // 1_000)

    def live(self, until_ms: int, every_ms: int, silent: Actor | None = None) -> None:
        """Consume and commit until a moment, every member but a `silent` one. The group is at rest."""
        while self.now_ms < until_ms:
            self.now_ms = min(self.now_ms + every_ms, until_ms)
            for actor in self.actors:
                actor.act()
                self.now_ms += _APART_MS
                if actor is not silent:
                    self.commit(actor)
            self._take(self._engine.expire(self.now_ms))

    def commit(self, actor: Actor) -> None:
        """Commit what a member has come to."""
        if actor.owned:
            self.send(self._commit(*actor.standing, actor.owned), actor.client)

    def reset(self, topic: str, client: SampleClient) -> None:
        """Commit for a group without members, as an operator does."""
        numbers = tuple(range(self.topics.topics[topic].partitions))
        self.send(self._commit("", -1, {topic: numbers}), client)

    def _commit(self, member: str, epoch: int, owned: dict[str, tuple[int, ...]]) -> OffsetCommit:
        offsets = tuple(
            Offset(
                topic=topic,
                topic_id=self.topics.topics[topic].id,
                partition=number,
                offset=self.positions(topic, number, self.now_ms),
                leader_epoch=4,
            )
            for topic, numbers in owned.items()
            for number in numbers
        )
        return OffsetCommit(
            group=self.group, generation_or_epoch=epoch, member=member, instance=None, offsets=offsets
        )

    def _pass(self, end_ms: int) -> None:
        """Let time pass, stopping at every deadline."""
        while (deadline := self._engine.next_deadline()) is not None and deadline <= end_ms:
            self.now_ms = max(self.now_ms, deadline)
            self._take(self._engine.expire(self.now_ms))
        self.now_ms = end_ms

    def _take(self, result: CoordinatorResult) -> None:
        if result.records:
            self.written.append((self.now_ms, tuple(result.records)))
        self._answers.update(result.answers)


_NO_GENERATION = -1
_LEAVING = -1
"""The member epoch of a consumer that goes."""


class ClassicConsumer(Actor):
    """Joins, syncs and heartbeats as kafka-clients does; one that leads runs the very assignor."""

    def __init__(
        self,
        stage: Stage,
        client: SampleClient,
        topics: tuple[str, ...],
        assignor: str,
        fresh_id: UUID | None = None,
    ) -> None:
        """`fresh_id` becomes the end of its member id."""
        super().__init__(stage, client)
        self._topics, self._assignor = topics, assignor
        self._fresh_id = fresh_id or stage.fresh_id()
        self._member = ""
        self._generation = _NO_GENERATION
        self._waits_for: int | None = None
        self._to_sync: JoinGroupAnswer | None = None
        self._join()

    @property
    def standing(self) -> tuple[str, int]:
        return self._member, self._generation

    def is_busy(self) -> bool:
        waits = self._waits_for is not None or self._to_sync is not None
        return waits or self._generation == _NO_GENERATION

    def act(self) -> None:
        if self._to_sync is not None:
            self._sync(self._to_sync)
            return
        if self._waits_for is not None:
            self._hear(self._waits_for)
            return
        member, generation = self.standing
        request = Heartbeat(group=self._stage.group, generation=generation, member=member, instance=None)
        answer = self._stage.answer(self._stage.send(request, self.client))
        if isinstance(answer, HeartbeatAnswer) and answer.error is not ErrorCode.NONE:
            self._join()

    def _leaving(self) -> LeaveGroup:
        return LeaveGroup(group=self._stage.group, members=((self._member, None),))

    def _join(self) -> None:
        cooperative = self._assignor == COOPERATIVE
        subscription = EmbeddedSubscription(
            version=NEWEST_VERSION,
            topics=self._topics,
            owned=self.owned if cooperative else {},
            generation=self._generation,
        )
        if not cooperative:
            self.owned = {}
        request = JoinGroup(
            group=self._stage.group,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member=self._member,
            instance=None,
            protocol_type="consumer",
            protocols=(JoinProtocol(name=self._assignor, metadata=write_subscription(subscription)),),
        )
        self._waits_for = self._stage.send(request, self.client, self._fresh_id)
        self._hear(self._waits_for)

    def _hear(self, ticket: int) -> None:
        answer = self._stage.answer(ticket)
        if isinstance(answer, JoinGroupAnswer):
            self._joined(answer)
        elif isinstance(answer, SyncGroupAnswer):
            self._synced(answer)

    def _joined(self, answer: JoinGroupAnswer) -> None:
        if answer.member:
            self._member = answer.member
        if answer.error is not ErrorCode.NONE:
            self._join()  # with the member id that it was given
            return
        self._generation = answer.generation
        # An application is busy with its records, and comes back to it at its next poll.
        self._waits_for, self._to_sync = None, answer

    def _sync(self, answer: JoinGroupAnswer) -> None:
        self._to_sync = None
        request = SyncGroup(
            group=self._stage.group,
            generation=answer.generation,
            member=self._member,
            instance=None,
            protocol_type="consumer",
            protocol=answer.protocol,
            assignments=self._assignments(answer.members),
        )
        self._waits_for = self._stage.send(request, self.client)
        self._hear(self._waits_for)

    def _synced(self, answer: SyncGroupAnswer) -> None:
        self._waits_for = None
        if answer.error is not ErrorCode.NONE:
            self._join()
            return
        before, self.owned = self.owned, read_assignment(answer.assignment).partitions
        lost = any(set(numbers) - set(self.owned.get(topic, ())) for topic, numbers in before.items())
        if lost and self._assignor == COOPERATIVE:
            self._join()

    def _assignments(self, members: tuple[ClassicMemberValue, ...]) -> tuple[tuple[str, bytes], ...]:
        """Of the leader; nothing of others, who are not told of the members."""
        if not members:
            return ()
        image = self._stage.topics.topics
        spec = GroupSpec(
            topics=tuple(
                TopicSpec(name=name, partitions=image[name].partitions, id=image[name].id)
                for name in sorted(self._topics)
            ),
            members=tuple(map(_member_spec, members)),
        )
        named = self._named(spec)
        return tuple((member, _written(partitions)) for member, partitions in named.items())

    def _named(self, spec: GroupSpec) -> Mapping[str, Mapping[str, list[int]]]:
        """By member. An assignor that only the clients have gives everything to the first."""
        if "." in self._assignor:
            return {
                member.id: {topic.name: list(range(topic.partitions)) for topic in spec.topics if not place}
                for place, member in enumerate(spec.members)
            }
        return find(self._assignor, Side.CLIENT).assign(DenseGroup.of(spec)).assignment.named()


def _member_spec(member: ClassicMemberValue) -> MemberSpec:
    subscription = read_subscription(member.subscription)
    claim = Claim(partitions=subscription.owned, generation=subscription.generation)
    return MemberSpec(id=member.member, topics=subscription.topics, owned=claim)


def _written(partitions: Mapping[str, list[int]]) -> bytes:
    given = {topic: tuple(numbers) for topic, numbers in partitions.items() if numbers}
    return write_assignment(EmbeddedAssignment(version=NEWEST_VERSION, partitions=given))


class Consumer(Actor):
    """A consumer of the consumer protocol; what it has to give up it gives up at its next heartbeat."""

    def __init__(self, stage: Stage, client: SampleClient, topics: tuple[str, ...], member: str) -> None:
        super().__init__(stage, client)
        self._member = member
        self._epoch = 0
        self._was_busy = True
        self._beat(topics=topics, rebalance_timeout_ms=REBALANCE_TIMEOUT_MS)

    @property
    def standing(self) -> tuple[str, int]:
        return self._member, self._epoch

    def is_busy(self) -> bool:
        return self._was_busy

    def act(self) -> None:
        before = (self._epoch, self.owned)
        self._beat()
        self._was_busy = before != (self._epoch, self.owned)

    def _leaving(self) -> ConsumerGroupHeartbeat:
        return ConsumerGroupHeartbeat(group=self._stage.group, member=self._member, epoch=_LEAVING)

    def _beat(self, topics: tuple[str, ...] | None = None, rebalance_timeout_ms: int = -1) -> None:
        image = self._stage.topics
        request = ConsumerGroupHeartbeat(
            group=self._stage.group,
            member=self._member,
            epoch=self._epoch,
            rebalance_timeout_ms=rebalance_timeout_ms,
            topics=topics,
            owned={image.topics[topic].id: numbers for topic, numbers in self.owned.items()},
        )
        answer = self._stage.answer(self._stage.send(request, self.client))
        if not isinstance(answer, ConsumerGroupHeartbeatAnswer) or answer.error is not ErrorCode.NONE:
            raise AssertionError(f"{self._stage.group}: {self._member} is refused: {answer}")
        self._epoch = answer.epoch
        if answer.assignment is not None:
            self.owned = {
                image.by_id[topic].name: tuple(sorted(numbers))
                for topic, numbers in answer.assignment.items()
                if numbers
            }
