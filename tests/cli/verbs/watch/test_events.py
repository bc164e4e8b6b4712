"""Events between two observations: applied to the earlier merged group they give exactly the later one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.verbs.watch.events import EventKind, WatchEvent, events, merge_observed
from groups.model import Group, GroupState, GroupType, Member
from tests.cli.verbs.watch.groups import applied, facts_of, group, groups, member


@given(groups(), groups())
def test_applying_events_gives_the_later_group(before: Group | None, after: Group | None) -> None:
    merged = merge_observed(before, after)
    assert applied(facts_of(before), events(before, merged)) == facts_of(merged)


@given(st.lists(groups(), max_size=6))
def test_a_whole_course_adds_up(observations: list[Group | None]) -> None:
    """Also where looks show only a part, one after the other."""
    merged: Group | None = None
    facts = facts_of(merged)
    for timed in observations:
        before, merged = merged, merge_observed(merged, timed)
        facts = applied(facts, events(before, merged))
        assert facts == facts_of(merged)


@given(groups())
def test_nothing_happened_where_nothing_changed(found: Group | None) -> None:
    assert events(found, merge_observed(found, found)) == ()


@given(groups(), groups())
def test_undoing_goes_back(before: Group | None, after: Group | None) -> None:
    """The reverse has the same events, reversed, except for appearances, joins and new names."""
    there, back = events(before, after), events(after, before)
    kinds = {EventKind.PARTITIONS_LOST, EventKind.PARTITIONS_MOVED, EventKind.PARTITIONS_ASSIGNED}
    if (
        before is None
        or after is None
        or EventKind.MEMBER_REPLACED in {each.kind for each in (*there, *back)}
    ):
        return
    turned = {(each.topic, each.partitions, each.after, each.before) for each in there if each.kind in kinds}
    assert turned == {
        (each.topic, each.partitions, each.before, each.after) for each in back if each.kind in kinds
    }


@given(groups(), groups())
def test_a_complete_observation_is_unchanged(before: Group | None, after: Group | None) -> None:
    if after is None or before is None:
        return
    shown = replace(
        after,
        protocol="range",
        coordinator=after.coordinator or before.coordinator,
        members=tuple(replace(each, owned=each.owned or {}) for each in after.members),
        offsets={},
    )
    merged = merge_observed(before, shown)
    assert merged is not None
    assert [each.owned for each in merged.members] == [each.owned for each in shown.members]
    assert (merged.state, merged.offsets, merged.protocol) == (shown.state, {}, "range")


def kinds(before: Group | None, after: Group | None) -> list[EventKind]:
    return [event.kind for event in events(before, after)]


def only(before: Group | None, after: Group | None, kind: EventKind) -> list[WatchEvent]:
    return [event for event in events(before, after) if event.kind is kind]


def test_a_member_joins_and_takes_over() -> None:
    before = group(member("a", orders=(0, 1, 2, 3)), epoch=7)
    after = group(member("a", orders=(0, 1)), member("b", orders=(2, 3)), epoch=8)
    assert kinds(before, after) == [
        EventKind.MEMBER_JOINED,
        EventKind.MEMBER_PROTOCOL_CHANGED,
        EventKind.SUBSCRIPTION_CHANGED,
        EventKind.EPOCH_CHANGED,
        EventKind.ASSIGNMENT_EPOCH_CHANGED,
        EventKind.MEMBER_EPOCH_CHANGED,
        EventKind.PARTITIONS_MOVED,
    ]
    (moved,) = only(before, after, EventKind.PARTITIONS_MOVED)
    assert (moved.topic, moved.partitions, moved.before, moved.after) == ("orders", (2, 3), ("a",), ("b",))
    assert moved.epochs == 1


def test_moves_are_found_across_several_epochs() -> None:
    before = group(member("a", orders=(0, 1)), member("b", orders=(2, 3)), epoch=7)
    after = group(member("c", orders=(0, 1, 2, 3)), epoch=11)
    moved = only(before, after, EventKind.PARTITIONS_MOVED)
    assert [(each.partitions, each.before, each.after) for each in moved] == [
        ((0, 1), ("a",), ("c",)),
        ((2, 3), ("b",), ("c",)),
    ]
    assert {each.epochs for each in moved} == {4}


@pytest.mark.parametrize("kind", [GroupType.CLASSIC, GroupType.CONSUMER])
def test_how_many_epochs_passed_is_not_known_where_the_type_changed(kind: GroupType) -> None:
    before = group(member("a", orders=(0,)), kind=kind, epoch=1)
    after = group(member("b", orders=(0,)), kind=GroupType.SHARE, epoch=9)
    assert {each.epochs for each in only(before, after, EventKind.PARTITIONS_MOVED)} == {None}


def test_a_static_member_that_rejoins_keeps_its_partitions() -> None:
    before = group(member("a1", instance="a", orders=(0, 1)), epoch=3)
    after = group(member("a2", instance="a", orders=(0, 1)), epoch=3)
    (replaced,) = events(before, after)
    assert (replaced.kind, replaced.before, replaced.after) == (EventKind.MEMBER_REPLACED, "a1", "a2")


def test_what_a_classic_group_does_not_show_is_kept() -> None:
    """In a rebalance brokers show members without subscription and assignment."""
    stable = group(member("a", orders=(0, 1)), member("b", orders=(2, 3)), kind=GroupType.CLASSIC)
    bare = [
        Member(id=name, client=each.client)
        for name, each in zip("abc", (*stable.members, member("c")), strict=True)
    ]
    joining = replace(stable, state=GroupState.PREPARING_REBALANCE, members=tuple(bare))
    middle = merge_observed(stable, joining)
    assert kinds(stable, middle) == [EventKind.MEMBER_JOINED, EventKind.STATE_CHANGED]
    after = group(
        member("a", orders=(0, 1)), member("b", orders=(2,)), member("c", orders=(3,)), kind=GroupType.CLASSIC
    )
    moved = only(middle, merge_observed(middle, after), EventKind.PARTITIONS_MOVED)
    assert [(each.partitions, each.before, each.after) for each in moved] == [((3,), ("b",), ("c",))]


def test_the_partitions_of_a_member_that_left_have_no_owner() -> None:
    before = group(member("a", orders=(0, 1)), member("b", orders=(2, 3)))
    after = group(member("a", orders=(0, 1)))
    (lost,) = only(before, after, EventKind.PARTITIONS_LOST)
    assert (lost.partitions, lost.before, lost.after) == ((2, 3), ("b",), ())


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (None, 5, EventKind.OFFSETS_COMMITTED),
        (5, 9, EventKind.OFFSETS_COMMITTED),
        (9, 5, EventKind.OFFSETS_SET_BACK),
    ],
)
def test_offsets(before: int | None, after: int, kind: EventKind) -> None:
    old = group(offsets={} if before is None else {"orders": {0: before}})
    (event,) = events(old, group(offsets={"orders": {0: after}}))
    assert (event.kind, event.topic, event.partitions, event.before, event.after) == (
        kind, "orders", (0,), before, after,
    )  # fmt: skip


def test_an_offset_that_is_gone_was_deleted_an_unread_one_was_not() -> None:
    before = group(offsets={"orders": {0: 5, 1: 5}})
    assert kinds(before, group(offsets={"orders": {1: 5}})) == [EventKind.OFFSETS_DELETED]
    unread = merge_observed(before, group(offsets={"orders": {0: None, 1: 5}}))
    assert events(before, unread) == ()
    assert events(before, merge_observed(before, group())) == ()
