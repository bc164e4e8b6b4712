"""The picture's contents: columns, lanes, and what is left out."""

import pytest

from cli.verbs.plan.timeline import MOST_FRAMES, MOST_LANES, STOPPED, PlanTimeline, timeline_of
from migration.model import Rollout, RoundAction
from tests.migration.test_expectation import BOTH, COME, CONSUMER, COOPERATIVE, foreseen, group_of, one_by_one

STICKY = "cooperative-sticky"


def drawn(protocol: str, members: int, partitions: int, *rollouts: Rollout) -> PlanTimeline:
    group = group_of(protocol, members, partitions)
    names = {member.id: f"n{member.id}" for member in group.members}
    rounds = sum(len(rollout.rounds) for rollout in rollouts)
    timeline = timeline_of(foreseen(group, *rollouts).settled_groups, names, rounds)
    assert timeline is not None
    return timeline


def test_every_moment_of_a_small_group_is_a_column() -> None:
    group = group_of("range", 3, 12)
    timeline = drawn("range", 3, 12, one_by_one(group, BOTH), one_by_one(group, COOPERATIVE))
    first, *_ = timeline.lanes
    assert [frame.title for frame in timeline.frames][:3] == [
        "as found",
        "step 1, round 1: stop",
        "step 1, round 1: start",
    ]
    assert timeline.kinds == ("classic: range", STOPPED, f"classic: {STICKY}, range", f"classic: {STICKY}")
    assert (first.name, first.partitions[:4]) == ("nm000-id", (4, 0, 4, 6))
    assert first.kinds == (0, 1, 2, 2, 2, 2, 2, 1, 3, 3, 3, 3, 3)
    assert [timeline.frames[at].group for at in (0, -1)] == ["classic, range", f"classic, {STICKY}"]


def test_a_guest_is_away_until_it_comes() -> None:
    timeline = drawn(STICKY, 2, 4, COME, Rollout(action=RoundAction.STOP, rounds=(("bridge",),)))
    guest = timeline.lanes[-1]
    assert [timeline.kinds[kind] for kind in guest.kinds] == [STOPPED, f"classic: {STICKY}", STOPPED]


@pytest.mark.parametrize("members", [20, MOST_LANES, MOST_LANES + 1, 120])
def test_rows_add_up_and_fit_a_page(members: int) -> None:
    partitions = 3 * members
    group = group_of("range", members, partitions)
    timeline = drawn("range", members, partitions, one_by_one(group, BOTH), one_by_one(group, CONSUMER))
    frames = len(timeline.frames)
    assert frames <= MOST_FRAMES
    assert all(len(lane.kinds) == len(lane.partitions) == frames for lane in timeline.lanes)
    assert len(timeline.lanes) == (members if members <= MOST_LANES else 0)
    assert [sum(column) for column in zip(*timeline.members, strict=True)] == [members] * frames
    assert [sum(column) for column in zip(*timeline.partitions, strict=True)] == [partitions] * frames
    assert len(timeline.partitions) == len(timeline.kinds) + 1
    shown = {(frame.step, frame.round) for frame in timeline.frames if frame.step}
    assert timeline.left_out == 2 * members - len(shown)
    assert timeline.frames[-1].group == "consumer, uniform"
    assert timeline.frames[-1].round == members


def test_a_column_of_a_whole_round_has_its_whole_cost() -> None:
    group = group_of("range", 25, 75)
    rollout = one_by_one(group, CONSUMER)
    timeline = drawn("range", 25, 75, rollout)
    (step,) = foreseen(group, rollout).steps
    assert step.expectation is not None
    assert timeline.frames[1].title == "step 1, round 1: stop and start"
    assert sum(frame.moved for frame in timeline.frames) == step.expectation.moved
    assert sum(frame.rebalances for frame in timeline.frames) == step.expectation.rebalances


def test_there_is_no_picture_of_nothing() -> None:
    group = group_of("com.example.Weighted", 3, 12)
    assert timeline_of(foreseen(group, one_by_one(group, CONSUMER)).settled_groups[:1], {}, 3) is None
    assert timeline_of((), {}, 0) is None
