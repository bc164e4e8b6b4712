"""Playing a scenario from a seed, and the command that plays it again."""

import gc
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from coordinator.simulation.broken_rules import without_rule
from coordinator.simulation.consumers import MakeMember, make_member
from coordinator.simulation.result import MemberMetrics, RunResult
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.settling_rules import QUIET_MS
from coordinator.simulation.variants import with_variant
from coordinator.simulation.world import World

LIMIT = 5_000_000  # Steps after which a run that does not end is stopped


@contextmanager
def without_collector() -> Iterator[None]:
    """Without Python's collector of cycles: it scans all objects, up to a third of a run's time, for a few MB."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def run(
    scenario: Scenario,
    seed: int,
    *,
    variant: Variant = Variant.AS_WRITTEN,
    limit: int = LIMIT,
    member_ids: Mapping[str, Sequence[str]] | None = None,
    break_rule: str | None = None,
    make: MakeMember = make_member,
    with_story: bool = True,
) -> RunResult:
    """Play a scenario to its end, where the figures are taken, then without faults until all are settled (I4).
    Without `with_story` the run is faster, and the same seed can be replayed with its story. Stops after `limit` steps;
    `member_ids` as in `World`. Raises InvalidSetting for a setting of the brokers or of a member."""
    played = with_variant(scenario, variant)
    with without_rule(break_rule), without_collector():
        world = World(played, seed, member_ids=member_ids, make=make, with_story=with_story)
        is_whole = world.schedule.play(int(played.until_s * 1000), limit)
        result = result_of(world, seed, variant, is_cut=not is_whole)
        if not is_whole:
            return result
        is_settled = run_until_settled(world, limit)
    has_converged = is_settled and world.measures.changed_ms <= played.until_s * 1000
    return replace(
        result,
        converged_s=_converged_s(world) if has_converged else None,
        violations=tuple(world.violations.all),
        requests=world.answered,
    )


def run_until_settled(world: World, limit: int) -> bool:
    """Play the quiet period of at most `limit` steps: I4, I9, I10, then I6 and I13. Whether all settle."""
    rules, schedule = world.settling, world.schedule
    world.clear_faults()
    rules.begin(world.measures.rebalances)

    def is_restless() -> bool:
        return schedule.now_ms - world.measures.changed_ms < QUIET_MS or bool(rules.unsettled())

    began_ms = schedule.now_ms
    # The reason why the group need not settle may disappear meanwhile: then it gets the usual time.
    while schedule.now_ms < began_ms + rules.quiet_period_ms():
        if not schedule.play(began_ms + rules.quiet_period_ms(), limit, is_restless):
            return False
        if not is_restless():
            break
    is_settled = not rules.unsettled()
    rules.judge(is_settled=is_settled, rebalances=world.measures.rebalances)
    if is_settled:
        for process in world.processes.values():
            if process.is_running:
                world.clients.check_settled(process)
    return is_settled


def metrics_of(world: World) -> MemberMetrics:
    """The metrics of a world's members at this moment."""
    return {
        name: process.member.metrics.named(world.schedule.now_ms)
        if process.is_running and process.member.identity.library.has_metrics
        else None
        for name, process in world.processes.items()
    }


def _converged_s(world: World) -> float:
    """The time from the last event, and from the last fault that ends, to the last change."""
    events, partitions = world.scenario.events, world.scenario.faults.partitions
    ends = [event.at + getattr(event, "for_s", 0.0) + getattr(event, "after_s", 0.0) for event in events]
    ends += [partition.end_s for partition in partitions]
    return max(0.0, world.measures.changed_ms / 1000 - max(ends, default=0.0))


def result_of(
    world: World, seed: int, variant: Variant = Variant.AS_WRITTEN, *, is_cut: bool = False
) -> RunResult:
    """The result of a world at this moment; it has not converged."""
    measures = world.measures
    for process in world.processes.values():
        process.count_reading()
    return RunResult(
        scenario=world.scenario,
        variant=variant,
        seed=seed,
        callbacks=tuple(measures.callbacks),
        assignor_calls=tuple(measures.assignor_calls),
        thrown=tuple(measures.thrown),
        final={
            name: process.member.assignment for name, process in world.processes.items() if process.is_running
        },
        metrics=metrics_of(world),
        owners=measures.owners_now(),
        presence=measures.presence_now(),
        rebalances=measures.rebalances,
        moved=measures.moved,
        without_owner_s=measures.without_owner_s,
        read_twice=measures.read_twice,
        converged_s=None,
        zombies=world.consumption.overlaps_now(),
        violations=tuple(world.violations.all),
        story=world.story.entries(),
        ended_s=world.schedule.now_ms / 1000,
        is_cut=is_cut,
        requests=world.answered,
    )


def replay_command(
    called: str,
    seed: int,
    *,
    variant: Variant,
    limit: int = LIMIT,
    settings: Mapping[str, str] | None = None,
    break_rule: str | None = None,
) -> str:
    """The command for a shell; `called` is the scenario as in `kohort simulate`, the rest are its parameters."""
    words = ["kohort", "simulate", called, "--seed", str(seed)]
    if variant is not Variant.AS_WRITTEN:
        words += ["--protocol", variant.value]
    for name, value in (settings or {}).items():
        words += ["--set", f"{name}={value}"]
    if break_rule is not None:
        words += ["--break", break_rule]
    if limit != LIMIT:
        words += ["--limit", str(limit)]
    return shlex.join([*words, "--story"])
