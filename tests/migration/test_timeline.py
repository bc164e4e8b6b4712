"""The picture's contents: columns, lanes, and what is left out."""

import pytest

from cli.verbs.plan.timeline import MOST_FRAMES, MOST_LANES, STOPPED, PlanTimeline, timeline_of
from migration.model import Rollout, RoundAction, TemporaryMember
from tests.migration.test_expectation import BOTH, CONSUMER, COOPERATIVE, foreseen, group_of, one_by_one


def drawn(protocol: str, members: int, partitions: int, *rollouts: Rollout) -> PlanTimeline:
    group = group_of(protocol, members, partitions)
    settled_groups = foreseen(group, *rollouts).settled_groups
    timeline = timeline_of(
        settled_groups, {member.id: f"n{member.id}" for member in group.members}, count(rollouts)
    )
    assert timeline is not None
    return timeline


def count(rollouts: tuple[Rollout, ...]) -> int:
    return sum(len(rollout.rounds) for rollout in rollouts)


def test_every_moment_of_a_small_group_is_a_column() -> None:
    group = group_of("range", 3, 12)
    timeline = drawn("range", 3, 12, one_by_one(group, BOTH), one_by_one(group, COOPERATIVE))
    assert [frame.title for frame in timeline.frames][:4] == [
        "as found",
        "step 1, round 1: stop",
        "step 1, round 1: start",
        "step 1, round 2: stop",
    ]
    assert timeline.kinds == (
        "classic: range",
        STOPPED,
        "classic: cooperative-sticky, range",
        "classic: cooperative-sticky",
    )
    first = timeline.lanes[0]
    assert first.name == "nm000-id"
    assert first.kinds == (0, 1, 2, 2, 2, 2, 2, 1, 3, 3, 3, 3, 3)
    assert first.partitions[:4] == (4, 0, 4, 6)
    assert timeline.frames[0].group == "classic, range"
    assert timeline.frames[-1].group == "classic, cooperative-sticky"
    assert timeline.left_out == 0


def test_a_guest_is_away_until_it_comes() -> None:
    come = Rollout(
        action=RoundAction.START,
        rounds=(("guest",),),
        start=COOPERATIVE,
        temporary_members=(TemporaryMember(id="guest", topics=("none",)),),
    )
    timeline = drawn("cooperative-sticky", 2, 4, come, Rollout(action=RoundAction.STOP, rounds=(("guest",),)))
    guest = timeline.lanes[-1]
    assert guest.name == "guest"
    assert [timeline.kinds[kind] for kind in guest.kinds] == [STOPPED, "classic: cooperative-sticky", STOPPED]


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
