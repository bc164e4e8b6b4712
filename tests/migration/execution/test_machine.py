"""The state machine that carries out a plan, on groups and clocks that do what they want."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from groups.model import Group, GroupType
from migration.execution.events import RunHook
from migration.execution.machine import Execution, Phase
from migration.execution.preflight import CannotCarryOutError, processes_of
from migration.execution.stops import StopRule
from migration.model import Plan, RoundAction
from tests.migration.cases import CONSUMER, COOPERATIVE, EMPTY, plan
from tests.migration.execution.rig import LIMITS, Rig, ends_hooks
from tests.migration.rehearsal.groups import classic_group, plan_of


def begun() -> tuple[Rig, RunHook]:
    """The hook of the first member, m1, has begun."""
    rig = Rig()
    (hook,) = rig.next_hooks()
    return rig, hook


def waiting() -> Rig:
    """The hook of the first member, m1, has ended, and it is away."""
    rig, hook = begun()
    rig.leave(rig.member("m1"))
    rig.end(hook)
    return rig


def gone(rig: Rig) -> None:
    rig.group = None


def converted(rig: Rig) -> None:
    assert rig.group is not None
    rig.group = replace(rig.group, type=GroupType.CONSUMER, group_epoch=9)


def rejoin(rig: Rig, *names: str) -> None:
    for name in names:
        member = rig.member(name)
        rig.leave(member)
        rig.join(member)


def scale_up(rig: Rig) -> None:
    """A member joins that could be the one that is away, if that one did not return then."""
    client = replace(rig.member("m2").client, id="m9", host="/10.0.0.9")
    rig.join(replace(rig.member("m2"), client=client))
    rig.look()
    for member in rig.left:
        rig.join(member)


def twice(rig: Rig) -> None:
    """Its new process runs, and the old one too."""
    rig.join(rig.member("m2"))


EVENTS: Mapping[str, tuple[Callable[[Rig], object], StopRule, str]] = {
    "the group disappears": (gone, StopRule.MEMBER_MISSING, "m1"),
    "it becomes another type": (converted, StopRule.PLAN, "group type"),
    "two members rejoin": (lambda rig: rejoin(rig, "m2", "m3"), StopRule.OUTSIDE_RESTART, "m2"),
    "a deployment": (lambda rig: rejoin(rig, "m3", "m2"), StopRule.OUTSIDE_RESTART, "m3"),
    "it is scaled up": (scale_up, StopRule.UNEXPECTED_MEMBER, "m9"),
    "it is scaled down": (lambda rig: rig.leave(rig.member("m2")), StopRule.MEMBER_MISSING, "m1"),
    "a process runs twice": (twice, StopRule.MEMBER_MISSING, "m1"),
}
"""What happens while m1 is awaited, the rule that stops it within some minutes, and what its message names."""


@pytest.mark.parametrize("what", EVENTS)
def test_what_happens_meanwhile_stops_it_by_a_rule(what: str) -> None:
    happen, rule, named = EVENTS[what]
    rig = waiting()
    happen(rig)
    list(rig.looks(600))
    assert rig.execution.stop is not None
    assert (rig.rule, rig.execution.phase) == (rule, Phase.STOPPED)
    assert rig.execution.stop.message.startswith("Step 1, round 1: ")
    assert named in rig.execution.stop.message


def test_what_happens_when_the_member_is_back_stops_it_too() -> None:
    for happen in (scale_up, twice):
        rig, hook = begun()
        happen(rig)
        rig.restart(hook)
        list(rig.looks(600))
        assert rig.rule in (StopRule.UNEXPECTED_MEMBER, StopRule.OFF_PLAN)


def test_a_member_that_lost_its_session_has_not_been_restarted() -> None:
    """It has a new id before its turn, and is restarted all the same; nothing stops for it."""
    rig, first = begun()
    rejoin(rig, "m2")
    rig.restart(first)
    (second,) = rig.next_hooks()
    assert (second.seat.client_id, second.ids) == ("m2", (rig.member("m2").id,))
    list(rig.looks(2))
    rig.end(second)  # which has done nothing
    list(rig.looks(200))
    assert rig.rule is StopRule.HOOK


def test_time_in_which_the_machine_slept_does_not_count() -> None:
    rig = waiting()
    rig.look()
    rig.look(7200)
    assert rig.rule is None
    costs = rig.execution.costs.by_step[1]
    assert costs.without_owner_s <= 60  # seconds of six partitions, not hours
    rig.join(*rig.left)
    (hook,) = rig.next_hooks()
    assert hook.seat.client_id == "m2"


def test_a_broker_that_is_away_for_a_while_stops_nothing() -> None:
    rig = waiting()
    for _ in range(3):
        for _ in range(100):
            rig.look(problem="no broker answers")
        rig.look()
    assert rig.rule is None
    rejoin(rig, "m2", "m3")  # their sessions expired meanwhile
    rig.look()
    assert rig.rule is None
    for _ in range(130):
        rig.look(problem="no broker answers")
    assert rig.rule is StopRule.UNREADABLE


def test_a_broker_that_refuses_stops_it_at_once() -> None:
    rig = waiting()
    rig.look(problem="TOPIC_AUTHORIZATION_FAILED", is_refused=True)
    assert rig.rule is StopRule.REFUSED


def alike() -> Group:
    """Three members with one client id on one host."""
    group = classic_group()
    members = tuple(replace(one, client=group.members[0].client) for one in group.members)
    return replace(group, members=members)


def test_members_that_look_alike_are_distinguished_by_their_ids() -> None:
    group = alike()
    rig = Rig(group, plan_of(group, COOPERATIVE))
    restarted = []
    for _ in range(3):
        (hook,) = rig.next_hooks()
        restarted.append(hook.member)
        rig.restart(hook)
    assert sorted(restarted) == sorted(member.id for member in group.members)
    assert rig.group is not None
    rig.group = replace(rig.group, protocol="cooperative-sticky")
    (hook,) = rig.next_hooks()  # Of the next step, for its present id
    assert hook.ids[0] in {member.id for member in rig.group.members}


def test_a_batch_is_restarted_together_and_no_one_else() -> None:
    group = classic_group()
    rig = Rig(group, plan(group, COOPERATIVE, topics=["orders"], concurrency=2))
    hooks = rig.next_hooks()
    assert len(hooks) == 2
    rig.restart(hooks[0])
    assert [*rig.looks(60)] == []
    rig.restart(hooks[1])
    assert len(rig.next_hooks()) == 1


def offline() -> Plan:
    return plan_of(classic_group(), CONSUMER, offline=True)


def test_of_members_that_start_together_one_starts_first() -> None:
    rig = Rig(plan=offline())
    stops = rig.next_hooks()
    assert [hook.action for hook in stops] == [RoundAction.STOP] * 3
    members = [rig.member(name) for name in ("m1", "m2", "m3")]
    for hook, member in zip(stops, members, strict=True):
        rig.leave(member)
        rig.end(hook)
    assert rig.group is not None
    rig.group = replace(
        rig.group, type=GroupType.CONSUMER, protocol="uniform", group_epoch=1, assignment_epoch=1
    )
    (first,) = rig.next_hooks()
    rig.end(first)
    assert [*rig.looks(5)] == []
    rig.join(replace(members[0], protocol=members[0].protocol))  # with its old configuration
    list(rig.looks(5))
    assert rig.rule is StopRule.WRONG_CONFIGURATION
    assert "m1" in (rig.execution.stop.message if rig.execution.stop else "")


def connect() -> Plan:
    group = classic_group("connect:4.1.0")
    made = plan_of(group, CONSUMER, offline=True)
    assert made.baseline is not None
    members = tuple(replace(one, library="connect") for one in made.baseline.members)
    return replace(made, baseline=replace(made.baseline, members=members))


def test_the_tasks_of_a_connector_have_one_command() -> None:
    made = connect()
    assert set(processes_of(made).values()) == {made.group}
    (hook,) = Rig(plan=made).next_hooks()
    assert (len(hook.members), hook.action) == (3, RoundAction.STOP)


def test_the_threads_of_a_process_have_one_command() -> None:
    group = classic_group()
    names = ("app-StreamThread-1-consumer", "app-StreamThread-2-consumer", "other")
    members = tuple(
        replace(one, client=replace(one.client, id=name))
        for one, name in zip(group.members, names, strict=True)
    )
    made = plan_of(replace(group, members=members), COOPERATIVE)
    processes = processes_of(made)
    assert len(set(processes.values())) == 1
    assert len(processes) == 2


REFUSED: Mapping[str, tuple[Plan, str]] = {
    "an empty group": (plan(EMPTY, CONSUMER, "java:4.1.0"), "names none to start"),
    "no baseline": (replace(offline(), baseline=None), "make a new plan"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_plan_that_no_command_can_carry_out_is_refused(why: str) -> None:
    made, text = REFUSED[why]
    with pytest.raises(CannotCarryOutError, match=text):
        Execution(made, LIMITS)


def test_an_interrupt_ends_the_round_and_a_second_one_everything() -> None:
    rig, hook = begun()
    assert rig.execution.interrupt(rig.at_s) == ()
    rig.restart(hook)
    list(rig.looks(60))
    assert (rig.rule, rig.execution.phase) == (StopRule.INTERRUPTED, Phase.STOPPED)
    rig, hook = begun()
    rig.execution.interrupt(rig.at_s)
    assert ends_hooks(rig.execution.interrupt(rig.at_s))
    rig.end(hook, "it was interrupted")
    assert (rig.rule, rig.execution.phase) == (StopRule.INTERRUPTED, Phase.STOPPED)
    assert any("Step 1, not yet as planned" in text for text in rig.execution.standing)
