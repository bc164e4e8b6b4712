"""All interleavings of small groups: what holds, what falls without a rule, and that the walk itself can be trusted."""

from dataclasses import replace
from random import Random

import pytest

from coordinator.simulation.exploration.explorer import Exploration, explore, first_state
from coordinator.simulation.exploration.parts import Part
from coordinator.simulation.exploration.properties import CONVERGES, STATE_PROPERTIES, STEP_PROPERTIES
from coordinator.simulation.exploration.rules import RULES
from coordinator.simulation.exploration.small_world import SmallWorld
from coordinator.simulation.exploration.worlds import WORLDS, Verb
from tests.support.long import IS_LONG, LONG

EVERY = (*STATE_PROPERTIES, *STEP_PROPERTIES, CONVERGES)
FALLS = {
    "withhold-owned": "ValidPartitionEpoch",
    "revoke-before-acknowledge": "ValidMemberEpoch",
    "epoch-check": "ValidMemberEpoch",
    "revoke-before-assign": "NoDoubleClientAssignment",
    "append-before-answer": "ValidMemberEpoch",
    "two-bounces": "NoDoubleClientAssignment",
}
"""What falls first without a rule."""


def undisturbed(name: str) -> Exploration:
    return explore(replace(WORLDS[name], perturbations=0))


@pytest.mark.parametrize("name", ["published", "eager"])
def test_everything_holds_while_nothing_goes_wrong(name: str) -> None:
    result = undisturbed(name)
    assert result.is_whole
    assert result.counterexamples == ()
    assert result.holds == EVERY


@pytest.mark.parametrize("name", ["subscriptions", "calls"])
def test_everything_holds_whatever_an_application_calls(name: str) -> None:
    result = explore(WORLDS[name])
    assert (result.is_whole, result.counterexamples, result.holds) == (True, (), EVERY)


@pytest.mark.parametrize("name", RULES)
def test_each_rule_is_needed(name: str) -> None:
    rule = RULES[name]
    spec = replace(WORLDS[rule.world], perturbations=rule.perturbations)
    without = explore(
        spec,
        broken=name,
        breaking=rule.breaking,
        stop_at_first=True,
        only_where_needed=rule.must_be_needed,
        limit=20_000,
    )
    assert [fall.name for fall in without.counterexamples] == [FALLS[name]]
    if not rule.must_be_needed:  # else other things fall in this world, too
        assert FALLS[name] in explore(spec, limit=without.states).holds


@pytest.mark.parametrize("name", WORLDS)
def test_steps_on_forks_lead_where_the_same_steps_lead_without(name: str) -> None:
    for seed in range(4):
        dice = Random(seed)
        forked, plain = first_state(WORLDS[name]), first_state(WORLDS[name])
        for _ in range(60):
            steps = forked.steps()
            if not steps:
                break  # all have closed
            step = dice.choice(steps)
            for other in steps:  # which must leave no trace
                forked.fork().take(other)
            forked = forked.fork()
            forked.take(step)
            plain.take(step)
            plain.coordinator.results.clear()
            for client in plain.clients.values():
                client.results.clear()
            assert forked.fingerprint() == plain.fingerprint()
            assert [(member.member_id, owned) for _, member, owned in forked.owned()] == [
                (member.member_id, owned) for _, member, owned in plain.owned()
            ]


@pytest.mark.parametrize("name", WORLDS if IS_LONG else ["cooperative", "static", "failover"])
def test_what_parts_have_done_is_what_they_would_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle: each state has its own coordinator and clients, which take each step again."""
    limit = 3_000 if IS_LONG else 1_000
    shared = explore(WORLDS[name], limit=limit)
    monkeypatch.setattr(Part, "step", lambda _part, _key, take: take())
    monkeypatch.setattr(Part, "shared", lambda part, _parts: part)
    assert explore(WORLDS[name], limit=limit) == shared


def test_states_differ_by_what_is_under_way() -> None:
    one, other = SmallWorld(WORLDS["published"]), SmallWorld(WORLDS["published"])
    for world in (one, other):
        world.take(next(step for step in world.steps() if step.verb is Verb.START))
    assert one.fingerprint() == other.fingerprint()
    one.take(next(step for step in one.steps() if step.verb is Verb.REQUEST))
    assert one.fingerprint() != other.fingerprint()


@pytest.mark.parametrize("name", [name for name, spec in WORLDS.items() if spec.starts_settled])
def test_worlds_that_start_settled_are_settled(name: str) -> None:
    world = first_state(WORLDS[name])
    assert {len(owned) for _, _, owned in world.owned()} == {1}


@LONG
def test_the_published_world() -> None:
    result = explore(WORLDS["published"])
    assert (result.is_whole, result.states, result.transitions, result.depth) == (True, 223_678, 777_306, 43)
