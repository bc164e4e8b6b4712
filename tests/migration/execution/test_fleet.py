"""Fleets over seeds: what never happens, whatever the groups, the options, the clock and the results are."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from itertools import combinations
from random import Random

import pytest

from migration.execution.fleet import Fleet, FleetGroup, GroupPhase, Spread, WaveOptions, Window, fleet_group
from tests.migration.cases import CONSUMER
from tests.migration.rehearsal.groups import classic_group, plan_of
from tests.support.long import cases

NIGHT = Window(opens=time(22), closes=time(5))
LUNCH = Window(opens=time(12), closes=time(13))
START = datetime(2026, 3, 28, 3, tzinfo=UTC)


@dataclass(slots=True, kw_only=True)
class PlayedFleet:
    """A fleet whose groups take a while and end as a seed decides; checked at every step."""

    groups: dict[str, FleetGroup]
    options: WaveOptions
    random: Random
    now: datetime = START
    at_s: float = 0.0
    running: dict[str, float] = field(default_factory=dict)  # When each run ends
    held: set[str] = field(default_factory=set)
    began: list[str] = field(default_factory=list)  # Once each
    waves: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)
    ended: dict[str, GroupPhase] = field(default_factory=dict)
    stops: list[str] = field(default_factory=list)
    last_end_s: float | None = None

    def play(self) -> Fleet:
        fleet = Fleet(list(self.groups.values()), self.options)
        while not fleet.is_over:
            assert self.at_s < 90 * 86_400, "it does not end"
            moves = fleet.next(self.now, self.at_s)
            self._hold(moves.hold)
            self._begin(moves.begin)
            self._end(fleet)
            if not self.running and not fleet.is_over:
                status = fleet.status(self.now, self.at_s)
                assert status.wait is not None or self.began or moves.begin or self.held
            step_s = self.random.choice((1, 60, 900))
            self.now += timedelta(seconds=step_s)
            self.at_s += step_s
        assert fleet.next(self.now, self.at_s).begin == ()
        return fleet

    def _is_open(self) -> bool:
        clock = self.now.hour + self.now.minute / 60
        hours = {NIGHT: clock >= 22 or clock < 5, LUNCH: 12 <= clock < 13}
        return not self.options.windows or any(hours[window] for window in self.options.windows)

    def _hold(self, names: tuple[str, ...]) -> None:
        for name in names:
            assert not self._is_open()
            assert self.groups[name].can_be_held
            self.held.add(name)
            self.running[name] = min(self.running[name], self.at_s + self.random.choice((0, 120)))

    def _begin(self, names: tuple[str, ...]) -> None:
        new = tuple(name for name in names if name not in self.began)
        for name in names:
            assert self._is_open()
            assert len(self.stops) < self.options.most_stopped
            assert name not in self.running
            assert self.groups[name].phase is GroupPhase.WAITING
            self.running[name] = self.at_s + self.random.choice((60, 600, 6 * 3600))
            self.held.discard(name)
        if new:
            assert self.last_end_s is None or self.at_s - self.last_end_s >= self.options.pause_s
            self.waves.append((self.at_s, new))
            self.began += new
        assert len(self.running) <= self.options.at_once
        for one, two in combinations(map(self.groups.__getitem__, self.running), 2):
            assert Spread.COORDINATOR not in self.options.spread or one.coordinator != two.coordinator
            assert Spread.HOST not in self.options.spread or not one.hosts & two.hosts

    def _end(self, fleet: Fleet) -> None:
        for name in [name for name, ends_s in self.running.items() if ends_s <= self.at_s]:
            del self.running[name]
            phase = GroupPhase.STOPPED if self.random.random() < 0.15 else GroupPhase.FINISHED
            phase = GroupPhase.HELD if name in self.held and self.random.random() < 0.8 else phase
            self.stops += [name] if phase is GroupPhase.STOPPED else []
            self.ended[name] = phase
            self.last_end_s = self.at_s
            fleet.ended(name, phase, self.at_s)


def played(seed: int) -> tuple[PlayedFleet, Fleet]:
    random = Random(seed)
    phases = [GroupPhase.WAITING] * 5 + [GroupPhase.FINISHED]
    groups = {
        f"g{number}": FleetGroup(
            name=f"g{number}",
            members=random.randint(1, 9),
            coordinator=random.choice((None, 1, 2, 3)),
            hosts=frozenset(random.sample("abcde", random.randint(0, 2))),
            can_be_held=random.random() < 0.7,
            lasts_s=random.choice((600, 4 * 3600, 30 * 3600)),
            phase=random.choice(phases),
            has_begun=random.random() < 0.2,
        )
        for number in range(random.randint(1, 14))
    }
    options = WaveOptions(
        first=tuple(random.sample(sorted(groups), min(len(groups), random.choice((0, 0, 1, 2))))),
        at_once=random.randint(1, 4),
        pause_s=random.choice((0, 300, 3600)),
        spread=frozenset(random.sample(list(Spread), random.randint(0, 2))),
        most_stopped=random.randint(1, 3),
        windows=random.choice(((), (NIGHT,), (LUNCH, NIGHT))),
    )
    play = PlayedFleet(groups=groups, options=options, random=random)
    return play, play.play()


SEEDS = range(cases("KOHORT_FLEETS", 60, many=3_000))


def test_no_seed_begins_too_many_groups_or_at_the_wrong_time() -> None:
    """The checks are in `PlayedFleet`, which knows nothing of how a fleet decides."""
    for seed in SEEDS:
        play, fleet = played(seed)
        status = fleet.status(play.now, play.at_s)
        waiting = {name for name, group in play.groups.items() if group.phase is GroupPhase.WAITING}
        assert not status.ends or play.stops
        assert status.ends or {*play.ended} == waiting, seed
        assert len(play.began) == len({*play.began})


def test_canaries_come_alone_and_the_fleet_only_when_they_finished() -> None:
    for seed in SEEDS:
        play, _ = played(seed)
        groups = play.groups.values()
        begun = [one for one in groups if one.has_begun or one.phase is GroupPhase.WAITING]
        smallest = sorted(begun, key=lambda group: (group.members, group.name))[:1]
        canaries = play.options.first or tuple(group.name for group in smallest)
        alone = [name for name in canaries if play.groups[name].phase is GroupPhase.WAITING]
        waves = [wave for _, wave in play.waves]
        assert waves[: len(alone)] == [(name,) for name in alone][: len(waves)]
        if any(play.ended.get(name) is GroupPhase.STOPPED for name in alone):
            assert {*play.began} <= {*alone}


def test_a_long_group_that_cannot_be_held_begins_early_enough() -> None:
    """At noon the window of an hour is too short for it, and at 04:00 what remains of the night."""
    group = FleetGroup(name="stop-and-start", members=3, can_be_held=False, lasts_s=4 * 3600)
    for opened_hour, hour in ((START.hour, 22), (12, 22), (23, 23)):
        fleet, now = Fleet([group], WaveOptions(windows=(NIGHT, LUNCH))), START.replace(hour=opened_hour)
        while not fleet.next(now, 0.0).begin:
            wait = fleet.status(now, 0.0).wait
            assert wait is not None
            assert wait.until is not None
            assert wait.until > now
            now = wait.until
        assert (now.hour, now.minute) == (hour, 0)


def test_an_interrupted_fleet_ends_when_its_runs_have() -> None:
    fleet = Fleet([FleetGroup(name=name, members=1) for name in "abc"], WaveOptions())
    assert fleet.next(START, 0.0).begin == ("a",)
    fleet.interrupt()
    assert not fleet.is_over
    fleet.ended("a", GroupPhase.HELD, 5.0)
    assert fleet.is_over
    assert fleet.status(START, 5.0).phases == {
        "a": GroupPhase.HELD, "b": GroupPhase.WAITING, "c": GroupPhase.WAITING,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("names", "first", "message"), [("aa", (), "two plans"), ("ab", ("c",), "--first names c")]
)
def test_a_fleet_that_cannot_begin(names: str, first: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Fleet([FleetGroup(name=name, members=1) for name in names], WaveOptions(first=first))


def test_only_a_plan_that_keeps_members_running_can_be_held() -> None:
    rolling, offline = (plan_of(classic_group(), CONSUMER, offline=offline) for offline in (False, True))
    assert fleet_group(rolling).can_be_held
    assert not fleet_group(offline).can_be_held
    assert fleet_group(rolling, watch_s=45).lasts_s == 3 * rolling.bounce_s + 45
