"""The past of a group becomes a scenario that costs what the past did: here the past is simulated, so its true costs
are known."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from coordinator.errors import InvalidSetting
from coordinator.faults import ChangeTopic
from coordinator.simulation.alternatives import AS_IT_WAS, WhatIfAlternative, applied, combinations
from coordinator.simulation.calibration import calibration_of
from coordinator.simulation.from_history import CannotPlayError, Past, Statements, past_of
from coordinator.simulation.history_log import US_PER_MS, HistoryLog
from coordinator.simulation.run import LIMIT
from coordinator.simulation.scenario import (
    Close,
    Event,
    Kill,
    MemberScript,
    Restart,
    Scenario,
    Start,
    Variant,
)
from coordinator.simulation.what_if import PlayedPast, play
from coordinator.simulation.world import World
from groups.history.commits import Commits
from groups.history.course import Course, course_of
from groups.history.departures import Knowledge

MEMBER = MemberScript(topics=("orders",), after_error="restart")
MEMBERS = {
    "range": replace(MEMBER, assignors=("range",)),
    "cooperative-sticky": replace(MEMBER, assignors=("cooperative-sticky",)),
    "static": replace(MEMBER, assignors=("range",), instance="i"),
    "consumer": replace(MEMBER, protocol="consumer"),
    "static consumer": replace(MEMBER, protocol="consumer", instance="i"),
}
NAMES = "abcdef"
TIMELINES: dict[str, Sequence[Event]] = {
    "rolling deployment": [
        Restart(at=120 + 40 * number, member=name, after_s=12) for number, name in enumerate(NAMES[:5])
    ],
    "crashes": [
        Kill(at=120, member="b"),
        Restart(at=300, member="c", after_s=8, kill=True),
        Restart(at=500, member="d", after_s=70, kill=True),
    ],
    "growth": [
        ChangeTopic(at=120, topic="orders", partitions=14),
        Start(at=200, member="f"),
        Close(at=300, member="a"),
    ],
}
KNOWLEDGE = Knowledge(session_timeout_ms=45_000, heartbeat_interval_ms=5_000)


class Recorded:
    """A simulated past: its true costs, and the course that its log shows."""

    def __init__(self, kind: str, timeline: str) -> None:
        scripts = {
            name: replace(MEMBERS[kind], instance=MEMBERS[kind].instance and f"i-{name}") for name in NAMES
        }
        starts = [Start(at=number, member=name) for number, name in enumerate(NAMES[:5])]
        events = [
            replace(event, script=scripts[event.member]) if isinstance(event, Restart) else event
            for event in TIMELINES[timeline]
        ]
        scenario = Scenario(
            topics={"orders": 10}, members=scripts, events=(*starts, *events), records_per_s=20, until_s=700
        )
        world = World(scenario, 7, with_story=False)
        log = HistoryLog(world)
        world.schedule.play(700_000, LIMIT)
        for process in world.processes.values():
            process.count_reading()
        self.unread_s, self.read_twice = world.measures.without_owner_s, world.measures.read_twice
        self.course = course_of("payments", log.events, Commits.of(log.commits), KNOWLEDGE)
        self.past = past_of(self.course, until=700_000 * US_PER_MS)


recorded = cache(Recorded)


def played(past: Past, alternative: WhatIfAlternative = AS_IT_WAS) -> PlayedPast:
    return next(play(past, [alternative], range(3), 1))


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("timeline", TIMELINES)
def test_a_past_costs_as_much_when_its_scenario_is_played(kind: str, timeline: str) -> None:
    was = recorded(kind, timeline)
    runs = played(was.past)
    calibration = calibration_of(was.past, runs)
    assert calibration.agrees, calibration
    assert runs.median.unread_s == pytest.approx(was.unread_s, rel=0.3, abs=20)
    assert was.past.scenario.records_per_s == pytest.approx(20, rel=0.05)


@pytest.mark.parametrize("since", [125, 250])
@pytest.mark.parametrize("kind", ["range", "cooperative-sticky"])
@pytest.mark.parametrize("timeline", ["crashes", "growth"])
def test_a_period_may_begin_while_a_member_is_missed(kind: str, timeline: str, since: int) -> None:
    past = past_of(recorded(kind, timeline).course, since=since * 1_000_000, until=700_000 * US_PER_MS)
    assert calibration_of(past, played(past)).agrees


def test_a_past_of_one_rebalance_does_not_agree_without_it() -> None:
    past = past_of(recorded("range", "crashes").course, since=500_000_000, until=600_000_000)
    observed = replace(past.observed, rebalances=1, moved=0)
    nothing = replace(past.scenario, events=())
    runs = played(replace(past, scenario=nothing, spreads_s=()))
    assert not calibration_of(replace(past, observed=observed), runs).agrees


def test_what_is_missing_in_the_scenario_is_found_by_the_calibration() -> None:
    past = recorded("range", "rolling deployment").past
    kept = [
        (event, spread_s)
        for event, spread_s in zip(past.scenario.events, past.spreads_s, strict=True)
        if not 155 < event.at < 260
    ]
    scenario = replace(past.scenario, events=tuple(event for event, _ in kept))
    spreads_s = tuple(spread_s for _, spread_s in kept)
    calibration = calibration_of(past, played(replace(past, scenario=scenario, spreads_s=spreads_s)))
    assert [figure.name for figure in calibration.figures if not figure.agrees] == ["rebalances", "moved"]
    assert {(episode.observed, episode.simulated) for episode in calibration.episodes} == {(10, 4)}


def test_eager_members_wait_for_one_that_crashed_and_cooperative_ones_read_on() -> None:
    past = recorded("range", "crashes").past
    eager, cooperative = (
        played(past).median,
        played(past, WhatIfAlternative(protocol=Variant.COOPERATIVE)).median,
    )
    assert cooperative.unread_s is not None
    assert eager.unread_s is not None
    assert cooperative.unread_s < 0.8 * eager.unread_s
    assert cooperative.moved < eager.moved


def test_static_members_that_return_in_time_cause_no_rebalance() -> None:
    past = recorded("cooperative-sticky", "rolling deployment").past
    static = WhatIfAlternative(static=True)
    assert played(past).highest.rebalances > 10
    assert played(past, static).highest.rebalances == 1  # when the group was created
    late = WhatIfAlternative(static=True, settings={"session.timeout.ms": "6000"})
    assert played(past, late).lowest.rebalances >= 10


def test_every_combination_is_one_row() -> None:
    names = [
        alternative.name
        for alternative in combinations(
            protocols=[Variant.COOPERATIVE, Variant.CONSUMER],
            assignors=["uniform"],
            static=True,
            settings=[("session.timeout.ms", "10000"), ("session.timeout.ms", "20000")],
        )
        if "session.timeout.ms=20000" in alternative.settings.values() or not alternative.settings
    ]
    assert names == [
        "static",
        "uniform",
        "uniform, static",
        "cooperative",
        "cooperative, static",
        "consumer",
        "consumer, static",
        "consumer, uniform",
        "consumer, uniform, static",
    ]


@pytest.mark.parametrize(
    ("alternative", "message"),
    [
        (WhatIfAlternative(assignor="uniform"), "members of the classic protocol have no assignor uniform"),
        (WhatIfAlternative(settings={"session.timeout": "1"}), "there is no setting"),
        (WhatIfAlternative(settings={"session.timeout.ms": "soon"}), "session.timeout.ms must be a number"),
    ],
)
def test_an_impossible_alternative_is_refused(alternative: WhatIfAlternative, message: str) -> None:
    with pytest.raises(InvalidSetting, match=message):
        applied(recorded("range", "growth").past.scenario, alternative)


def test_what_the_log_does_not_have_is_said() -> None:
    assert any(
        "heartbeats every 3 s, the default" in text for text in recorded("range", "growth").past.assumptions
    )
    stated = Statements(of_members={"heartbeat.interval.ms": "1000"})
    past = past_of(recorded("range", "growth").course, until=700_000 * US_PER_MS, stated=stated)
    assert not any("heartbeats every 3 s" in text for text in past.assumptions)
    assert {script.config["heartbeat.interval.ms"] for script in past.scenario.members.values()} == {"1000"}


def test_a_group_without_a_rebalance_or_with_an_unknown_assignor_is_refused() -> None:
    course = recorded("range", "growth").course
    nothing = Course(group="payments", rebalances=(), holdings=(), commits=Commits({}), members={})
    with pytest.raises(CannotPlayError, match="no rebalance"):
        past_of(nothing, until=1)
    # The first generation had begun before, and was written again.
    restarted = replace(recorded("static", "rolling deployment").course, complete_since=9_005_000)
    with pytest.raises(CannotPlayError, match="no rebalance"):
        past_of(restarted, until=700_000 * US_PER_MS)
    other = tuple(replace(row, assignor="com.example.Mine") for row in course.rebalances)
    with pytest.raises(CannotPlayError, match=r"com\.example\.Mine, which Kohort does not have"):
        past_of(replace(course, rebalances=other), until=700_000 * US_PER_MS)
