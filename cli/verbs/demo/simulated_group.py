"""A sample group in the simulation: its consumers start and stop, and it stays stable for days in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from zlib import crc32

from assignors.assignor import Assignor, Side
from assignors.registry import find
from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.member import ClientMember
from coordinator.consumer.outputs import Send, TopicPartition
from coordinator.engine.offsets.commit import Offset, OffsetCommit
from coordinator.engine.records import Record
from coordinator.simulation.consumers import GROUP, NewMember, identity_of, make_member, subscription_of
from coordinator.simulation.node import AppendedBatch
from coordinator.simulation.run import LIMIT
from coordinator.simulation.scenario import Close, Commit, Kill, Scenario, Start
from coordinator.simulation.settling_rules import QUIET_MS
from coordinator.simulation.topics import InitialState, SimulatedClient
from coordinator.simulation.world import World
from coordinator.store.group_records import SESSION_TIMEOUT_MS

_AWAY_S = 30
"""Seconds that a restarted process is stopped."""
_ANSWER_S = 1
"""Time until all requests are answered."""


class _World(World):
    """A world that records when its log was written."""

    def __init__(self, scenario: Scenario, seed: int, **options: Any) -> None:
        self.written: list[tuple[int, Sequence[Record]]] = []
        super().__init__(scenario, seed, **options)

    def appended(self, batch: AppendedBatch) -> None:
        self.written.append((self.schedule.now_ms, batch.records))
        super().appended(batch)


class SimulatedGroup:
    """Time passes in small steps during rebalances (`run`, `wait_until_stable`), and in large steps in `live`.

    The consumers commit every hour of `live` and before they close; they do not auto-commit. The same scenario and
    start give the same result.
    """

    def __init__(
        self, group: str, scenario: Scenario, beginning: InitialState, member_ids: Mapping[str, str]
    ) -> None:
        """`member_ids`: ids of the members in the sample."""
        self._group = group
        self._beginning = beginning
        ids = {name: (member,) for name, member in member_ids.items()}
        seed = crc32(group.encode())  # with the same seed, all groups would have the same ids
        self.world = _World(
            scenario, seed, member_ids=ids, make=_make_member, with_story=False, initial=beginning
        )

    @property
    def now_ms(self) -> int:
        return self.world.schedule.now_ms

    @property
    def written(self) -> Iterator[tuple[int, Sequence[Record]]]:
        """The group's log so far, in order: times in ms, and the records appended then."""
        yield self._beginning.at_ms, self._named(self._beginning.log)
        for at_ms, records in self.world.written:
            yield at_ms, self._named(records)

    def _named(self, records: Sequence[Record]) -> tuple[Record, ...]:
        """The record with the group's own name, which the simulation does not know."""
        return tuple(replace(record, group=self._group) for record in records)

    # Events of members.

    def join(self, *members: str) -> None:
        """Start members, and wait until the group is stable."""
        for member in members:
            self.world.play(Start(at=0, member=member))
        self.wait_until_stable()

    def leave(self, member: str, away_s: int = 0) -> None:
        """Commit, close, and wait until the group is stable."""
        self.commit(member)
        self.world.play(Close(at=0, member=member))
        self.run(away_s)
        self.wait_until_stable()

    def restart(self, member: str, successor: str) -> None:
        """Close a member, and start another one in its place."""
        self.leave(member, _AWAY_S)
        self.join(successor)

    def crash(self, member: str) -> None:
        """Kill a member, and wait until the coordinator has removed it and the group is stable."""
        self.world.play(Kill(at=0, member=member))
        self.run(SESSION_TIMEOUT_MS // 1000 + 3)
        self.wait_until_stable()

    def commit(self, *members: str) -> None:
        for member in members:
            self.world.play(Commit(at=0, member=member))
        self.run(_ANSWER_S)

    def set_back(self, operator: SimulatedClient, records: int) -> None:
        """Set the offsets of the empty group to this many records before the end."""
        image, topics = self.world.topics.image, self.world.topics
        offsets = tuple(
            Offset(
                topic=topic.name,
                topic_id=topic.id,
                partition=number,
                offset=topics.end(TopicPartition(topic.name, number)) - records,
            )
            for topic in image.topics.values()
            for number in range(topic.partitions)
        )
        request = OffsetCommit(group=GROUP, generation_or_epoch=-1, member="", instance=None, offsets=offsets)
        send = Send(number=1, node=self.world.coordinator.number, request=request, timeout_ms=30_000)
        self.world.network.send(_Operator(operator), send)
        self.run(_ANSWER_S)

    # Time.

    def run(self, seconds: int) -> None:
        self._play(self.world.schedule.play(self.now_ms + seconds * 1000, LIMIT))

    def wait_until_stable(self) -> None:
        """Let time pass until the group is stable."""
        world = self.world

        def is_rebalancing() -> bool:
            is_new = self.now_ms - world.measures.changed_ms < QUIET_MS
            return is_new or bool(world.settling.unsettled())

        self._play(world.schedule.play(self.now_ms + world.settling.quiet_period_ms(), LIMIT, is_rebalancing))

    def live(self, until_ms: int, every_ms: int, silent: str = "") -> None:
        """Consume and commit until a time, except for a `silent` member. The group must be stable."""
        while self.now_ms < until_ms:
            self._play(self.world.skip(min(self.now_ms + every_ms, until_ms), LIMIT))
            running = (name for name, each in self.world.processes.items() if each.is_running)
            self.commit(*(name for name in running if name != silent))

    def _play(self, is_whole: bool) -> None:
        if not is_whole:
            raise AssertionError(f"{self._group}: {LIMIT} steps, and its story is not over")


class _Operator:
    """Sends a request, and ignores its answer."""

    name = "operator"

    def __init__(self, client: SimulatedClient) -> None:
        self.client_id, self.host = client.id, client.host

    def deliver(self, number: int, answer: object) -> None:
        pass

    def fail(self, number: int) -> None:
        pass


def _make_member(new: NewMember) -> ClientMember:
    """Make a member like the simulation; if only the application has its assignor, use a substitute."""
    script = new.script
    if not any("." in name for name in script.assignors):
        return make_member(new)
    return ClassicConsumer(
        identity_of(new),
        subscription_of(script),
        new.image,
        new.position,
        assignors=script.assignors,
        custom=tuple(_like_range(name) for name in script.assignors),
    )


def _like_range(name: str) -> Assignor:
    """A substitute for an application's own assignor: with one member, all assignors give the same result."""
    return replace(find("range", Side.CLIENT), name=name)
