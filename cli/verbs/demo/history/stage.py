"""A coordinator of one group on a clock that is told the time, and the records that it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol
from uuid import UUID

from coordinator.engine.calls import Call, Request, Result
from coordinator.engine.config import Config
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import Offset, OffsetCommit
from coordinator.engine.records import Record
from coordinator.engine.topics import TopicImage

HEARTBEAT_MS = 3_000
_APART_MS = 137
"""Between what one member does and what the next one does."""

Positions = Callable[[str, int, int], int]
"""The offset that the consumers of a topic and partition have come to at a moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Who sends a request, as the coordinator sees it."""

    id: str
    host: str


class Actor(Protocol):
    """A member of the group: a process that is there until it is taken off the stage."""

    client: Client
    owned: dict[str, tuple[int, ...]]

    @property
    def standing(self) -> tuple[str, int]:
        """Its member id, and its generation or member epoch."""
        ...

    def is_busy(self) -> bool:
        """Whether it is on its way into a generation or epoch."""
        ...

    def act(self) -> None:
        """Do what a consumer does at its next poll."""
        ...


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

    def send(self, request: Request[Any], client: Client, fresh_id: UUID | None = None) -> int:
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

    def reset(self, topic: str, client: Client) -> None:
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

    def _take(self, result: Result) -> None:
        if result.records:
            self.written.append((self.now_ms, tuple(result.records)))
        self._answers.update(result.answers)
