"""What a watch shows and when it ends: courses, lag, conditions, command lines."""

from dataclasses import replace
from typing import Any

import pytest

from cli.errors import UsageError
from cli.verbs.watch.event_text import clock_text, event_lines, ranges_text, span_text
from cli.verbs.watch.picture import UNKNOWN, picture_lines, stories
from cli.verbs.watch.recording import Header, Recording
from cli.verbs.watch.repeat import LONGEST_PAUSE_S, pause_s
from cli.verbs.watch.session import Until
from cli.verbs.watch.sinks import summary_text
from cli.verbs.watch.state import Gap, ObservedEvent, WatchObservation, WatchState, topic_lags
from groups.model import Group, GroupState, GroupType, Topic
from tests.cli.verbs.watch.groups import group, member
from tests.support.golden import assert_recorded

ORDERS = {"orders": Topic(name="orders", partitions=4)}
STABLE, REBALANCE = GroupState.STABLE, GroupState.PREPARING_REBALANCE


def timed(at_ms: int, view: Group | None, topics: dict[str, Topic] | None = None) -> WatchObservation:
    """A look that took 10 ms."""
    return WatchObservation(
        asked_ms=at_ms - 10, at_ms=at_ms, groups={"g": view}, topics=ORDERS if topics is None else topics
    )


def course_of(*observations: WatchObservation) -> tuple[WatchState, list[ObservedEvent]]:
    state, happened = WatchState(), list[ObservedEvent]()
    for observation in observations:
        state, more = state.step(observation)
        happened += more
    return state, happened


def texts(*observations: WatchObservation) -> list[str]:
    state, happened = course_of(*observations)
    return [text for _, _, text in event_lines(happened, state.labels)]


BOTH = group(member("a", orders=(0, 1)), member("b", orders=(2, 3)), epoch=2)
GAP = group(member("a", orders=(0, 1)), member("b"), epoch=3)
ALONE = group(member("a", orders=(0, 1, 2, 3)), epoch=4)


EMPTY = group(state=GroupState.EMPTY, epoch=5)
CLASSIC = group(member("a", orders=(0, 1)), member("b", orders=(2, 3)), kind=GroupType.CLASSIC)
REBALANCING = replace(CLASSIC, state=REBALANCE)
LEFT = group(member("a", orders=(0, 1)), state=REBALANCE, kind=GroupType.CLASSIC)
GIVEN = group(member("a", orders=(0, 1, 2)), member("b", orders=(3,)), kind=GroupType.CLASSIC)
EARLY, LATE = (
    group(offsets={"orders": {0: offset, 1: offset}, "payments": {0: offset}}) for offset in (10, 25)
)
GROWN = {"orders": Topic(name="orders", partitions=6)}
MANY = group(*(member(f"m{number}", orders=(number,)) for number in range(4)), epoch=1)
COURSES: dict[str, list[WatchObservation]] = {
    "owned until after 990, not owned at 1200 nor from 1390 to 1400, owned at 1600":
        [timed(1000, BOTH), timed(1200, GAP), timed(1400, GAP), timed(1600, ALONE)],
    "without an owner from the beginning": [timed(1000, GAP), timed(1600, ALONE)],
    "moved between two observations": [timed(1000, BOTH), timed(1600, ALONE)],
    "the last member leaves": [timed(1000, ALONE), timed(2000, EMPTY), timed(4000, EMPTY)],
    "the group is deleted": [timed(1000, EMPTY), timed(2000, None)],
    "the topic grows": [timed(1000, ALONE), timed(2000, ALONE, GROWN)],
    "brokers show the previous assignment in a classic rebalance":
        [timed(1000, CLASSIC), timed(2000, REBALANCING), timed(3000, REBALANCING)],
    "a classic rebalance ends":
        [timed(1000, CLASSIC), timed(2000, REBALANCING), timed(3000, REBALANCING), timed(4000, GIVEN)],
    "a member leaves a classic rebalance": [timed(1000, CLASSIC), timed(2000, LEFT)],
    "a new group": [timed(1000, None), timed(2000, ALONE)],
    "similar events share a line": [timed(1000, group(epoch=1)), timed(2000, MANY)],
    "commits are not shown": [timed(1000, EARLY), timed(2000, LATE)],
    "offsets are set back": [timed(1000, LATE), timed(2000, EARLY)],
    "offsets are deleted": [timed(1000, LATE), timed(2000, group(offsets={}))],
}  # fmt: skip


def test_courses_are_shown_as_recorded() -> None:
    shown = {
        name: "\n".join([*texts(*course), "", summary_text(course_of(*course)[0], "g")])
        for name, course in COURSES.items()
    }
    assert_recorded("watch/courses.txt", shown)


def test_commits_are_shown_only_on_request() -> None:
    state, happened = course_of(timed(1000, EARLY), timed(2000, LATE))
    assert [text for _, _, text in event_lines(happened, state.labels, commits=True)] == [
        "orders:0,1: offsets committed, 30 records further",
        "payments:0: committed offset 10 → 25",
    ]


def consuming(at_ms: int, committed: int | None, end: int) -> WatchObservation:
    view = group(member("a", orders=(0, 1)), offsets={"orders": {0: committed, 1: committed}})
    ends = dict.fromkeys(range(2), end)
    return timed(at_ms, view, {"orders": Topic(name="orders", partitions=2, end_offsets=ends)})


@pytest.mark.parametrize(
    ("observations", "lag", "unknown", "rate", "seconds"),
    [
        ([(0, 100, 1000), (5_000, 200, 1005), (10_000, 400, 1010)], 1220, 0, 60.0, 1220 / 58),
        ([(0, 100, 1000)], 1800, 0, None, None),
        ([(0, 100, 1000), (4_999, 200, 1000)], 1600, 0, None, None),  # too soon
        ([(0, 100, 1000), (10_000, 50, 1000)], 1900, 0, None, None),  # set back
        ([(0, 100, 1000), (10_000, 100, 1000)], 1800, 0, 0.0, None),
        # What is older than the window no longer counts.
        ([(0, 0, 1000), (30_000, 600, 1000), (40_000, 600, 1000)], 800, 0, 0.0, None),
        ([(0, None, 1000)], None, 2, None, None),
        ([(0, 1000, 1000)], 0, 0, None, 0.0),
    ],
)
def test_rates_and_when_the_lag_will_be_gone(
    observations: list[tuple[int, int | None, int]], lag: Any, unknown: int, rate: Any, seconds: Any
) -> None:
    state, _ = course_of(*(consuming(*observation) for observation in observations))
    (seen,) = topic_lags("g", state.window, {"orders": 2})
    assert (seen.lag, seen.unknown, seen.consumed_per_s) == (lag, unknown, rate)
    assert seen.seconds_to_zero == (None if seconds is None else pytest.approx(seconds))


def test_durations_and_times() -> None:
    assert clock_text(1_700_000_000_042) == "22:13:20.042"
    assert clock_text(10**18) == "1000000000000000000"
    assert ranges_text((0, 1, 2, 3, 5, 7, 8)) == "0-3,5,7,8"
    assert [span_text(Gap(least_ms=a, most_ms=b)) for a, b in ((0, 5), (5, None), (5, 5), (1, 2000))] == [
        "at most 5 ms", "at least 5 ms", "5 ms", "1 ms to 2 s",
    ]  # fmt: skip


def met(text: str, *observations: WatchObservation) -> list[bool]:
    until, state, answers = Until.parse(text), WatchState(), []
    for observation in observations:
        state, _ = state.step(observation)
        answers.append(until.is_met(state))
    return answers


def test_conditions_on_all_groups_and_members() -> None:
    moving = group(member("a"), state=REBALANCE, epoch=9)
    moments = ((0, BOTH), (900, BOTH), (950, moving), (1000, BOTH), (2000, BOTH))
    assert met("stable", *(timed(ms, view) for ms, view in moments)) == [False] * 4 + [True]
    outage = WatchObservation(asked_ms=500, at_ms=600)
    assert met("stable", timed(0, BOTH), outage, timed(1000, BOTH), timed(2000, BOTH)) == [False] * 3 + [True]
    assert met("empty", timed(0, BOTH), timed(1, group()), timed(2, None)) == [False, True, True]
    assert met("4", timed(0, BOTH), timed(1, None)) == [False, False]
    reached = group(*ALONE.members, epoch=4)
    assert met("4", timed(0, reached)) == [False]  # its member is at epoch 1
    assert met("1", timed(0, reached)) == [True]
    with pytest.raises(UsageError, match="brokers do not show its generation"):
        met("3", timed(0, CLASSIC))


@pytest.mark.parametrize("text", ["", "stabel", "-1", "1.5", "1" * 10, "٣"])
def test_conditions_that_there_are_not(text: str) -> None:
    with pytest.raises(UsageError, match="write stable, empty, or the epoch"):
        Until.parse(text)


def test_pauses_grow_and_stop_growing() -> None:
    assert pause_s(0.5, 0) == 0.5
    pauses = [pause_s(0.5, failures) for failures in range(1, 50)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (1.0, LONGEST_PAUSE_S)
    assert pause_s(60, 3) == 60


def test_a_picture_has_a_lane_for_what_had_the_same_owners() -> None:
    observations = (timed(1000, BOTH), timed(2000, GAP), timed(3000, ALONE))
    recording = Recording(
        header=Header(at_ms=0, groups=("g",), source="x", every_ms=1000), observations=observations
    )
    (story,) = stories(recording)
    lanes = {lane.places: [run.value for run in lane.runs] for lane in story.owners.lanes}
    assert lanes == {(("orders", 0), ("orders", 1)): ["a"], (("orders", 2), ("orders", 3)): ["b", None, "a"]}
    assert [lane.without_owner_ms for lane in story.owners.lanes] == [0, 1000]
    drawn = "".join(picture_lines(recording))
    assert "orders:2,3, 1 s without an owner" in drawn
    assert "orders:2,3: b, from 00:00:01.000 for 1 s" in drawn
    classic = Recording(
        header=recording.header, observations=(timed(1000, CLASSIC), timed(2000, REBALANCING))
    )
    (story,) = stories(classic)
    assert {run.value for lane in story.owners.lanes for run in lane.runs} == {"a", "b", UNKNOWN}
