"""Long random walks through classic groups; a seed repeats a failure. See test_classic_machine for short ones."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from coordinator.engine.classic.group import ClassicGroup
from tests.coordinator.engine.classic import protocols
from tests.coordinator.engine.test_classic_machine import ClassicGroups

STEPS = 250
LISTS = [protocols("range"), protocols("range", "sticky"), protocols("sticky", "range")]
LATE = [protocols("range", "sticky"), protocols("range", "sticky", topics=("t2",)), protocols("sticky"), ()]


@pytest.mark.parametrize("seed", range(12))
def test_groups_stay_whole_on_a_long_walk(seed: int) -> None:
    walk = Walk(seed)
    for _ in range(STEPS):
        walk.step()
    walk.machine.teardown()
    stable = sum(count for (state, size), count in walk.seen.items() if state == "Stable" and size > 1)
    assert stable > STEPS // 50, "the walk hardly ever saw a Stable group"


class Walk:
    """One group, three clients with instance ids among them, and whatever they may do."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.machine = ClassicGroups()
        self.ids: list[tuple[str, str, str | None]] = []
        self.seen: Counter[tuple[str, int]] = Counter()

    def step(self) -> None:
        steps = {
            self.rebalance: 6,
            self.sync: 6,
            self.join: 3,
            self.again: 2,
            self.alive: 4,
            self.pass_time: 4,
            self.leave: 1,
            self.commit: 1,
        }
        self.random.choices(list(steps), list(steps.values()))[0]()
        self.machine.nothing_fails()
        self.machine.waiting_members_are_parked()
        self.machine.groups_are_whole()
        self.machine.replaying_all_records_gives_the_same_hard_state()
        group = self.machine.group("g")
        if group is not None:
            self.seen[group.state.value, len(group.members)] += 1

    def somebody(self) -> tuple[str, str, str | None]:
        return self.random.choice([*self.ids[-6:], ("g", "stranger", None)])

    def join(self) -> None:
        made = self.machine.join_new(
            group="g",
            instance=self.random.choice([None, None, "a", "b"]),
            listed=self.random.choice(LISTS),
            version=self.random.choice([3, 5, 8, 9]),
            rebalance_timeout_ms=self.random.choice([-1, 2_000, 20_000]),
        )
        if isinstance(made, tuple):
            self.ids.append(made)

    def again(self) -> None:
        self.machine.join_again(
            member=self.somebody(),
            listed=self.random.choice(LATE),
            protocol_type=self.random.choice(["consumer", "consumer", "connect"]),
            with_instance=self.random.random() < 0.8,
        )

    def rebalance(self) -> None:
        self.machine.rebalance(group="g", absent=self.random.choice([None, None, None, 0, 1]))

    def sync(self) -> None:
        self.machine.all_sync(group="g", absent=self.random.choice([None, None, None, 0, 1]))

    def alive(self) -> None:
        group = self.machine.group("g")
        for member in [] if not isinstance(group, ClassicGroup) else list(group.members):
            if self.random.random() < 0.9:
                self.machine.heartbeat(member=("g", member, None), shift=0)

    def pass_time(self) -> None:
        self.machine.pass_time(ms=self.random.choice([1, 1_500, 1_500, 4_000, 9_000]))

    def leave(self) -> None:
        self.machine.leave(member=self.somebody(), by_instance=self.random.random() < 0.5)

    def commit(self) -> None:
        self.machine.commit(
            member=self.somebody(),
            simple=self.random.random() < 0.2,
            topic=self.random.choice(["t1", "t2"]),
            retention_ms=self.random.choice([None, 5_000]),
        )
