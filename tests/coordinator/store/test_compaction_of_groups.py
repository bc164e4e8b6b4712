"""A coordinator's log, compacted repeatedly at random moments, still gives the same groups.

The records of a group depend on each other, and compaction separates them: it keeps the last one of each key.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from coordinator.engine.calls import CoordinatorResult
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.context import EngineState
from coordinator.engine.engine import Engine
from coordinator.engine.groups import DeleteGroups, DeleteGroupsAnswer
from coordinator.engine.offsets.commit import Offset, OffsetCommit, OffsetCommitAnswer
from coordinator.store.data_directory import DataDirectory
from tests.coordinator.engine.classic import Member
from tests.coordinator.engine.consumer import Consumer, images
from tests.coordinator.engine.driver import Driver
from tests.coordinator.store.directories import SMALL
from tests.coordinator.store.replayed import groups
from tests.support.long import cases
from wire.errors import ErrorCode

SEEDS = range(cases("KOHORT_SEEDS", 3, many=50))
STEPS = 400
DAY_MS = 86_400_000
SETTINGS = {
    "offsets_retention_minutes": "2880",
    "offsets_retention_check_interval_ms": "3600000",
    "group_consumer_assignment_interval_ms": "0",
}


class Coordinator(Driver):
    """An engine whose records go into a directory that is compacted now and then, and restarted."""

    def __init__(self, path: Path, chance: random.Random) -> None:
        self._path = path
        self._chance = chance
        self._data = _open(path)
        super().__init__(images(("foo", 3), ("bar", 2)), **SETTINGS)

    def take(self, result: CoordinatorResult) -> None:
        super().take(result)
        self._data.append(result.records, self.now_ms)

    def compact(self) -> None:
        """Compact at a later time, so that tombstones are removed too."""
        while self._data.compact(self.now_ms + self._chance.choice((0, 2)) * DAY_MS):
            pass

    def recovered(self) -> Engine:
        """Kill the coordinator, and start another one on the directory."""
        self._data.abandon()
        self._data = DataDirectory.open(self._path, SMALL)
        engine = Engine(self.engine.config, self.engine.topics)
        self._data.recover(engine)
        return engine

    def close(self) -> None:
        self._data.close()


def _open(path: Path) -> DataDirectory:
    data = DataDirectory.open(path, SMALL)
    data.recover(Engine())
    return data


def hard(state: EngineState) -> dict[str, Any]:
    """The state that is in records, without groups that only ever had offsets, now deleted."""
    shown = groups(state)
    return {
        name: (shown[name][:7], state.offsets.get(name, {}))
        for name, group in state.groups.items()
        if shown[name][0] == "consumer" or shown[name][1] is not None or state.offsets.get(name)
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_compaction_changes_no_group(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    coordinator = Coordinator(tmp_path, chance)
    consumers = [
        Consumer(
            coordinator,
            f"m{number}",
            ("foo", "bar"),
            group=f"c{number % 2}",
            instance="i" if number == 3 else None,
        )
        for number in range(6)
    ]
    members = [Member(coordinator, group=f"k{number % 2}") for number in range(4)]
    compared = 0
    for _ in range(STEPS):
        _step(coordinator, chance, consumers, members)
        if chance.random() < 0.1:
            coordinator.compact()
        if chance.random() < 0.05:
            plain = Engine(coordinator.engine.config, coordinator.engine.topics)
            for record in coordinator.records:
                plain.replay(record)
            assert hard(coordinator.recovered().state) == hard(plain.state)
            compared += len(plain.state.groups)
    coordinator.close()
    assert compared > 10


def _step(
    coordinator: Coordinator, chance: random.Random, consumers: list[Consumer], members: list[Member]
) -> None:
    match chance.randrange(10):
        case 0 | 1 | 2:
            consumer = chance.choice(consumers)
            consumer.beat() if consumer.epoch > 0 else consumer.join()
            if consumer.epoch > 0 and chance.random() < 0.1:
                consumer.leave()
        case 3 | 4 | 5:
            _classic_step(chance.choice(members), chance)
        case 6 | 7:
            _commit(coordinator, f"{chance.choice('ck')}{chance.randrange(4)}", chance)
        case 8:
            coordinator.advance(3 * DAY_MS if chance.random() < 0.05 else chance.choice((10, 1_000, 20_000)))
        case 9 if chance.random() < 0.3:
            name = f"{chance.choice('ck')}{chance.randrange(4)}"
            coordinator.ask(DeleteGroups(groups=(name,)), DeleteGroupsAnswer)


def _classic_step(member: Member, chance: random.Random) -> None:
    answer = coordinator_answer(member)
    if member.ticket and answer is None:
        return
    if isinstance(answer, JoinGroupAnswer) and answer.error is ErrorCode.NONE and chance.random() < 0.8:
        member.joined()
        shares = {joined.member: b"share of " + joined.member.encode() for joined in answer.members}
        member.sync(shares)
        if chance.random() < 0.2:
            member.leave()
            member.id, member.ticket = "", 0
        return
    if isinstance(answer, JoinGroupAnswer) and answer.error is not ErrorCode.NONE:
        member.id = ""
    member.join()


def coordinator_answer(member: Member) -> Any:
    return member.driver.answers.get(member.ticket)


def _commit(coordinator: Coordinator, group: str, chance: random.Random) -> None:
    offset = Offset(topic="foo", topic_id=None, partition=chance.randrange(3), offset=chance.randrange(1_000))
    request = OffsetCommit(group=group, member="", instance=None, generation_or_epoch=-1, offsets=(offset,))
    coordinator.ask(request, OffsetCommitAnswer)
