"""Events between two observations: applied to the earlier merged group they give exactly the later one."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cli.verbs.watch.events import WatchEvent, events, merge_observed
from groups.model import Group, GroupState, GroupType, Member
from tests.cli.verbs.watch.groups import applied, facts_of, group, groups, member
from tests.support.golden import assert_recorded


@given(st.lists(groups(), max_size=6))
def test_a_whole_course_adds_up(observations: list[Group | None]) -> None:
    merged: Group | None = None
    facts = facts_of(merged)
    for timed in observations:
        before, merged = merged, merge_observed(merged, timed)
        facts = applied(facts, events(before, merged))
        assert facts == facts_of(merged)


@given(groups())
def test_nothing_happened_where_nothing_changed(view: Group | None) -> None:
    assert events(view, merge_observed(view, view)) == ()


@given(groups(), groups())
def test_a_complete_observation_is_unchanged(before: Group | None, after: Group | None) -> None:
    if after is None or before is None:
        return
    shown = replace(
        after,
        protocol="range",
        coordinator=after.coordinator or before.coordinator,
        members=tuple(replace(m, owned=m.owned or {}) for m in after.members),
        offsets={},
    )
    merged = merge_observed(before, shown)
    assert merged is not None
    assert [m.owned for m in merged.members] == [m.owned for m in shown.members]
    assert (merged.state, merged.offsets, merged.protocol) == (shown.state, {}, "range")


A, B = member("a", orders=(0, 1)), member("b", orders=(2, 3))
PAIR = group(A, B, kind=GroupType.CLASSIC)
BARE = replace(
    PAIR,
    state=GroupState.PREPARING_REBALANCE,
    members=tuple(Member(id=name, client=member(name).client) for name in "abc"),
)
GIVEN = group(A, member("b", orders=(2,)), member("c", orders=(3,)), kind=GroupType.CLASSIC)
CHANGES: dict[str, tuple[Group, ...]] = {
    "a member joins and takes over": (group(member("a", orders=(0, 1, 2, 3)), epoch=7), group(A, B, epoch=8)),
    "moves across several epochs": (group(A, B, epoch=7), group(member("c", orders=(0, 1, 2, 3)), epoch=11)),
    "how many epochs passed is not known if the type changed": (
        group(member("a", orders=(0,)), epoch=1),
        group(member("b", orders=(0,)), kind=GroupType.SHARE, epoch=9),
    ),
    "a static member rejoins": (
        group(member("a1", instance="a", orders=(0, 1)), epoch=3),
        group(member("a2", instance="a", orders=(0, 1)), epoch=3),
    ),
    "a rebalance hides subscriptions and assignments": (PAIR, BARE, GIVEN),
    "a member leaves": (group(A, B), group(A)),
    "offsets": tuple(
        group(offsets={} if offset is None else {"orders": {0: offset}}) for offset in (None, 5, 9, 5, None)
    ),
    "an unread offset is not a deleted one": (
        group(offsets={"orders": {0: 5, 1: 5}}),
        group(offsets={"orders": {0: None, 1: 5}}),
        group(),
    ),
}


def test_changes_have_the_recorded_events() -> None:
    answers = {}
    for name, (first, *later) in CHANGES.items():
        lines, merged = [], [first]
        for seen in later:
            after = merge_observed(merged[-1], seen)
            assert after is not None
            lines += [*map(event_line, events(merged[-1], after)), ""]
            merged.append(after)
        answers[name] = "\n".join(lines)
    assert_recorded("watch/events.txt", answers)


def event_line(event: WatchEvent) -> str:
    epochs = "" if event.epochs is None else f", {event.epochs} epochs"
    what = " ".join(str(part) for part in (event.member, event.topic, event.partitions or None) if part)
    return f"{event.kind.value} {what}: {event.before} → {event.after}{epochs}"
