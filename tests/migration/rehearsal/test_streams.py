"""Rehearsals of Kafka Streams on the classic protocol: releases, `upgrade.from`, tasks, mistakes (A38)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import pytest

from groups.model import Group, Subscription, Topic
from migration.client_config import ClientConfig, kept
from migration.model import Destination, Plan
from migration.rehearsal.mistakes import OF_STREAMS, Mistake, PlacedMistake, mistakes_in
from migration.rehearsal.plan_run import places, rehearse, simulated_for_plan
from migration.rehearsal.rehearsed import Rehearsed
from migration.rehearsal.simulated_members import (
    CannotRehearseError,
    FoundGroup,
    SimulatedMembers,
    round_actions,
)
from migration.rehearsal.symptoms import GateOutcome, play_mistake
from tests.groups.streams_groups import application, thread
from tests.migration.cases import COOPERATIVE, EAGER, NEW, plan
from tests.migration.rehearsal.groups import classic_group, planned
from tests.support.golden import assert_recorded

PARTITIONS = 6
TOPICS = {"orders": Topic(name="orders", partitions=PARTITIONS)}
QUICK = ClientConfig(
    name="x", settings=tuple(kept([("session.timeout.ms", "6000", 1), ("heartbeat.interval.ms", "500", 2)]))
)


def running(
    newest: int = 11,
    used: int | None = None,
    *,
    instances: str = "abc",
    threads: int = 1,
    stateful: bool = True,
    standby: bool = False,
    static: bool = False,
    keeps: bool = False,
) -> Group:
    """Instances with threads that have the tasks of six partitions in turns."""
    names = [f"{one}-StreamThread-{number}-consumer" for one in instances for number in range(1, threads + 1)]
    members = []
    for place, name in enumerate(names):
        numbers = tuple(range(place, PARTITIONS, len(names)))
        copies = tuple(range((place + threads) % len(names), PARTITIONS, len(names))) if standby else ()
        member = thread(
            name,
            " ".join(f"0_{number}" for number in numbers),
            " ".join(f"0_{number}" for number in copies),
            had={f"0_{number}": 10 for number in (*numbers, *copies)} if stateful else {},
            used=used or newest,
            newest=newest,
        )
        owned = {"orders": numbers}
        members.append(
            replace(
                member,
                owned=owned,
                kept=owned if keeps else None,
                subscription=Subscription(topics=("orders",)),
                instance=name if static else None,
            )
        )
    return application(*members)


class Scene:
    def __init__(self, group: Group, to: Any, *clients: str, **options: Any) -> None:
        self.found = FoundGroup(group=group, cluster=NEW, topics=TOPICS)
        bounce_s = options.pop("bounce_s", 30.0)
        made = plan(group, to, *clients, topics=["orders"], **options)
        self.plan: Plan = replace(made, bounce_s=bounce_s)

    @cached_property
    def simulated(self) -> SimulatedMembers:
        return simulated_for_plan(self.plan, self.found, (QUICK,))

    def rehearse(self, seed: int = 1, **options: Any) -> Rehearsed:
        return rehearse(self.plan, self.found, self.simulated, seed, **options)


GROUPS: Mapping[str, Group] = {
    "2.3": running(4),
    "2.3, stateless": running(4, stateful=False),
    "2.3, standby copies, two threads": running(4, standby=True, threads=2),
    "2.0": running(3),
    "1.1": running(2),
    "2.3 and 2.8": application(*running(4, instances="a").members, *running(9, 4, instances="bc").members),
    "2.4": running(5),
    "2.8, two threads": running(9, threads=2, instances="ab"),
    "3.9": running(),
    "3.9, stateless": running(stateful=False),
    "3.9, standby copies": running(standby=True),
    "3.9, static": running(static=True),
    "3.9 that keeps partitions": running(keeps=True),
}
WITHIN_SESSIONS = "3.9, static, restarted within their sessions"


@pytest.mark.parametrize("to", [COOPERATIVE, EAGER], ids=["cooperative", "eager"])
def test_what_the_bounces_of_applications_cost_is_as_recorded(to: Destination) -> None:
    scenes = {name: Scene(group, to) for name, group in GROUPS.items()}
    scenes[WITHIN_SESSIONS] = Scene(running(static=True), to, bounce_s=2.0)
    answers = {}
    for name, scene in scenes.items():
        if not scene.plan.steps:
            answers[name] = "no steps"
            continue
        run = scene.rehearse()
        assert run.unsafe == (), name
        assert [(round_.step, round_.round) for round_ in run.rounds] == list(places(scene.plan))
        answers[name] = "\n".join(
            f"{played.step}.{played.round}: {played.costs.rebalances} rebalances, {played.costs.moved} moved, "
            f"{played.costs.without_owner_s:.0f} s without an owner"
            for played in run.rounds
        )
    assert_recorded(f"rehearsed_streams_{to.value}.txt", answers)


@pytest.mark.parametrize(
    ("group", "to"),
    [
        (GROUPS["2.3, standby copies, two threads"], COOPERATIVE),
        (GROUPS["3.9"], EAGER),
        (GROUPS["2.4"], COOPERATIVE),
        (running(4, static=True), COOPERATIVE),
    ],
    ids=["2.3", "3.9", "2.4", "2.3, static"],
)
def test_the_rollback_arrives_from_every_round(group: Group, to: Destination) -> None:
    """A static thread of an old release waits for the session of the newer one."""
    scene = Scene(group, to, bounce_s=3.0)
    for place in places(scene.plan):
        run = scene.rehearse(stop_at=place)
        assert (run.unsafe, run.back and run.back.arrived) == ((), True), place


def test_an_offline_plan_stops_and_starts_all_instances() -> None:
    scene = Scene(GROUPS["2.3"], COOPERATIVE, offline=True)
    run = scene.rehearse()
    assert run.unsafe == ()
    assert [(played.step, played.round) for played in run.rounds] == [(1, 1), (2, 1)]


CLOSED, SETTLED, OPENED = GateOutcome.CLOSED, GateOutcome.SETTLED, GateOutcome.OPENED
OUTCOMES = {
    ("2.3", COOPERATIVE): {
        "bounce-skipped 1": (CLOSED, "streams-rebalancing"),
        "next-round-too-early 1": (SETTLED, "replaced"),
        "next-round-too-early 2": (SETTLED, "replaced"),
        "old-member-back 1": (CLOSED, "streams-release"),
        "old-member-back 2": (CLOSED, "streams-release"),
        "wrong-jar 1": (CLOSED, "streams-release"),
        "wrong-jar 2": (CLOSED, "streams-release"),
        "deploy-in-the-middle 1": (OPENED, "replaced"),  # their sessions have not expired
        "deploy-in-the-middle 2": (OPENED, "replaced"),
        "upgrade-from-kept 2": (OPENED, "replaced"),  # no data shows 2.0 to 2.3
        "upgrade-from-refused 1": (CLOSED, "member-count"),
    },
    ("3.9", EAGER): {
        "next-round-too-early 1": (SETTLED, "replaced"),
        "old-member-back 1": (OPENED, "replaced"),  # it has not rejoined with tasks since
        "wrong-jar 1": (CLOSED, "streams-rebalancing"),
        "deploy-in-the-middle 1": (OPENED, "replaced"),
        "upgrade-from-refused 1": (CLOSED, "member-count"),
    },
}


@pytest.mark.parametrize(("name", "to"), OUTCOMES)
def test_what_the_gates_find_of_mistakes(name: str, to: Destination) -> None:
    scene = Scene(GROUPS[name], to, bounce_s=2.0)
    right = scene.rehearse(with_story=True)
    outcomes = {}
    for mistake in mistakes_in(scene.plan, scene.simulated):
        if isinstance(mistake, PlacedMistake):
            result = play_mistake(scene.plan, scene.found, scene.simulated, mistake, right)
            outcomes[f"{mistake.mistake.value} {mistake.step}"] = result.outcome, result.closed_by
    expected = OUTCOMES[name, to]
    assert outcomes.keys() == expected.keys()
    for what, (outcome, check) in expected.items():
        assert outcomes[what][0] is outcome, (what, outcomes[what])
        assert check in outcomes[what][1], (what, outcomes[what])


def test_mistakes_are_made_by_whole_instances() -> None:
    scene = Scene(GROUPS["2.3, standby copies, two threads"], COOPERATIVE)
    mistake = next(
        one
        for one in mistakes_in(scene.plan, scene.simulated)
        if isinstance(one, PlacedMistake) and one.mistake is Mistake.WRONG_JAR
    )
    scripts = {member: one.script for member, one in scene.simulated.members.items()}
    actions = round_actions(scene.plan, *mistake.place, scripts)
    changed = mistake.operator(mistake.place, actions, scripts)
    assert [action.script and action.script.release for action in changed] == ["2.1", "2.1"]
    assert {action.script and action.script.release for action in actions} == {"3.9.1"}


def test_plans_of_consumers_have_no_mistakes_of_streams() -> None:
    scene = planned(classic_group(), COOPERATIVE)
    mistakes = {mistake.mistake for mistake in mistakes_in(scene.plan, scene.simulated)}
    assert mistakes == {*Mistake} - OF_STREAMS


def test_what_data_does_not_show_is_assumed_and_said() -> None:
    hidden, shown = Scene(running(9), COOPERATIVE).simulated, Scene(running(4), COOPERATIVE).simulated
    mixed, oldest = Scene(GROUPS["2.3 and 2.8"], EAGER).simulated, Scene(GROUPS["1.1"], COOPERATIVE).simulated
    assert [one.script.upgrade_from for one in mixed.members.values()] == [None, "2.3", "2.3"]
    assert any("did not show the release" in remark for remark in oldest.remarks)
    assert {one.script.upgrade_from for one in hidden.members.values()} == {"2.3"}
    assert "3 threads did not show upgrade.from: rehearsed with upgrade.from=2.3" in hidden.remarks
    assert {(one.script.release, one.script.upgrade_from) for one in shown.members.values()} == {
        ("2.1", None)
    }
    assert any(remark.startswith("tasks that a leader before 2.6 assigns") for remark in shown.remarks)
    assert "the newer release is rehearsed as Kafka Streams 3.9.1" in shown.remarks


def test_missing_tasks_are_asked_for_by_the_option_that_names_them() -> None:
    group = running()
    bare = tuple(replace(member, owned={}, user_data=thread("a1").user_data) for member in group.members)
    scene = Scene(replace(group, members=bare), COOPERATIVE)
    with pytest.raises(CannotRehearseError, match="so the tasks are not known; --topology names them"):
        _ = scene.simulated
