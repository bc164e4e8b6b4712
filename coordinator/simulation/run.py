"""Plays a scenario from a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from coordinator.simulation.broken_rules import without_rule
from coordinator.simulation.consumers import MakeMember, make_member
from coordinator.simulation.rest_rules import REST_MS
from coordinator.simulation.result import Result
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.variants import with_variant
from coordinator.simulation.world import World

LIMIT = 5_000_000
"""Steps after which a run that does not end is cut."""


def run(
    scenario: Scenario,
    seed: int,
    *,
    variant: Variant = Variant.AS_WRITTEN,
    limit: int = LIMIT,
    member_ids: Mapping[str, Sequence[str]] | None = None,
    break_rule: str | None = None,
    make: MakeMember = make_member,
    tells: bool = True,
) -> Result:
    """Play a scenario to its end, then, without faults, until all is at rest or long enough for it (I4).

    The figures are those at the scenario's end; what follows only serves the invariants. Without `tells` there is no
    story, and the run is faster: the same seed tells it.

    :param limit: steps after which the run is cut
    :param member_ids: see `World`
    :param break_rule: the safety rule that is switched off, of `broken_rules`
    :raises InvalidSetting: a setting of the brokers or of a member is invalid
    """
    played = with_variant(scenario, variant)
    with without_rule(break_rule):
        world = World(played, seed, member_ids=member_ids, make=make, tells=tells)
        is_whole = world.schedule.play(int(played.until_s * 1000), limit)
        result = result_of(world, seed, variant, is_cut=not is_whole)
        if not is_whole:
            return result
        is_at_rest = come_to_rest(world, limit)
    has_converged = is_at_rest and world.measures.changed_ms <= played.until_s * 1000
    return replace(
        result,
        converged_s=_converged_s(world) if has_converged else None,
        violations=tuple(world.violations.all),
        requests=world.answered,
    )


def come_to_rest(world: World, limit: int) -> bool:
    """The quiet time, without faults: I4, I9, I10 and, at rest, I6 and I13. Whether it comes to rest.

    :param limit: steps of the world after which it is cut, which is no rest
    """
    rules, schedule = world.invariants.rest, world.schedule
    world.calm_down()
    rules.begin(world.measures.rebalances)

    def is_restless() -> bool:
        return schedule.now_ms - world.measures.changed_ms < REST_MS or bool(rules.unrest())

    began_ms = schedule.now_ms
    # What excuses the group may end meanwhile: then it has the time that others have.
    while schedule.now_ms < began_ms + rules.quiet_ms():
        if not schedule.play(began_ms + rules.quiet_ms(), limit, is_restless):
            return False
        if not is_restless():
            break
    is_at_rest = not rules.unrest()
    rules.judge(is_at_rest=is_at_rest, rebalances=world.measures.rebalances)
    if is_at_rest:
        for process in world.processes.values():
            if process.is_running:
                world.invariants.clients.judge_at_rest(process)
    return is_at_rest


def _converged_s(world: World) -> float:
    """How long after the last event, and the last fault that has an end, something changed for the last time."""
    events, partitions = world.scenario.events, world.scenario.faults.partitions
    ends = [each.at + getattr(each, "for_s", 0.0) + getattr(each, "after_s", 0.0) for each in events]
    ends += [each.end_s for each in partitions]
    return max(0.0, world.measures.changed_ms / 1000 - max(ends, default=0.0))


def result_of(
    world: World, seed: int, variant: Variant = Variant.AS_WRITTEN, *, is_cut: bool = False
) -> Result:
    """What a world has come to by now; nothing is converged."""
    measures = world.measures
    for process in world.processes.values():
        process.count_reading()
    return Result(
        scenario=world.scenario,
        variant=variant,
        seed=seed,
        callbacks=tuple(measures.callbacks),
        thrown=tuple(measures.thrown),
        final={name: each.owned for name, each in world.processes.items() if each.is_running},
        owners=measures.owners_now(),
        presence=measures.presence_now(),
        rebalances=measures.rebalances,
        moved=measures.moved,
        without_owner_s=measures.without_owner_s,
        read_twice=measures.read_twice,
        converged_s=None,
        zombies=world.consumption.overlaps_now(),
        violations=tuple(world.violations.all),
        story=world.story.happenings(),
        ended_s=world.schedule.now_ms / 1000,
        is_cut=is_cut,
        requests=world.answered,
    )
