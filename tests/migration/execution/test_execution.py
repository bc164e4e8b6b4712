"""Plans carried out in the simulation by the state machine of `kohort migrate`, with hooks that fail."""

from collections.abc import Mapping
from functools import cache
from random import Random
from zlib import crc32

import pytest

from migration.execution.machine import Phase
from migration.execution.stops import StopRule
from migration.rehearsal.as_migrate import Migrated, migrate_seed
from migration.rehearsal.migrated import MigratedSum
from migration.rehearsal.troubles import HookFault, KohortDeath, MemberDeath, Troubles
from tests.migration.cases import CLASSIC, CONSUMER, COOPERATIVE, EAGER
from tests.migration.rehearsal.groups import PlannedGroup, classic_group, plan_of, planned
from tests.migration.rehearsal.test_plan_run import upgraded
from tests.support.long import IS_LONG, LONG, cases

COOPERATIVE_STICKY = "cooperative-sticky"
OFFLINE = plan_of(classic_group(), CONSUMER, offline=True)
JOURNEYS: Mapping[str, PlannedGroup] = {
    "two bounces": planned(classic_group(), COOPERATIVE),
    "two bounces in reverse": planned(classic_group(protocol=COOPERATIVE_STICKY), EAGER),
    "rolling upgrade": planned(classic_group(), CONSUMER),
    "rolling upgrade, static": planned(classic_group(static=True), CONSUMER),
    "downgrade": planned(upgraded(classic_group()), CLASSIC),
    "stop and start": PlannedGroup(OFFLINE, classic_group()),
    "bridge": planned(classic_group("librdkafka:2.16.0", COOPERATIVE_STICKY), CONSUMER),
}
FAILING = {HookFault.FAILS, HookFault.FAILS_STOPPED, HookFault.FAILS_DONE}
RULES: Mapping[HookFault, set[StopRule]] = {
    **{fault: {StopRule.HOOK} for fault in FAILING},
    HookFault.HANGS: {StopRule.HOOK_TIMEOUT},
    HookFault.NOTHING: {StopRule.HOOK},
    HookFault.WRONG_MEMBER: {StopRule.WRONG_MEMBER, StopRule.OFF_PLAN},  # If it was the only upgraded one
    # No broker shows the list of a classic member: only that the group does not change, or the member cannot join.
    HookFault.WRONG_CONFIGURATION: {
        StopRule.WRONG_CONFIGURATION,
        StopRule.GATE,
        StopRule.OFF_PLAN,
        StopRule.MEMBER_MISSING,
    },
}
ELSEWHERE = {StopRule.GATE, StopRule.OFF_PLAN, StopRule.MEMBER_MISSING}
SEEDS = range(cases("KOHORT_EXECUTIONS", 1, many=200))


QUICK = ("two bounces", "rolling upgrade", "stop and start", "bridge")
SOME_JOURNEYS = [pytest.param(name, marks=() if name in QUICK else LONG) for name in JOURNEYS]


def carried_out(journey: str, seed: int, troubles: Troubles) -> Migrated:
    group = JOURNEYS[journey]
    return migrate_seed(group.plan, group.found, group.simulated, seed, troubles=troubles)


@cache
def hooks_of(journey: str) -> int:
    return carried_out(journey, 1, Troubles()).hooks


@pytest.mark.parametrize("journey", JOURNEYS)
def test_a_plan_is_carried_out_to_its_end(journey: str) -> None:
    for seed in SEEDS:
        run = carried_out(journey, seed, Troubles())
        assert (run.end, run.stop, run.broken) == (Phase.FINISHED, None, ())


@pytest.mark.parametrize("fault", HookFault, ids=lambda fault: fault.value)
@pytest.mark.parametrize("journey", SOME_JOURNEYS)
def test_a_hook_that_fails_stops_it_by_a_rule_or_did_no_harm(journey: str, fault: HookFault) -> None:
    for seed in SEEDS:
        number = Random(f"{journey} {fault} {seed}").randint(1, hooks_of(journey))
        for rolls_back in (False, True) if IS_LONG else (crc32(f"{journey} {fault}".encode()) % 2 == 0,):
            run = carried_out(journey, seed, Troubles(hooks={number: fault}, rolls_back=rolls_back))
            assert run.broken == (), (seed, number)
            if journey in ("bridge", "stop and start"):
                # The bridge asks again, for the restart of another member; who stops others too stops all in the end.
                assert run.stop is None or run.stop.rule in RULES[fault] | ELSEWHERE
            else:
                assert run.stop is not None
                assert run.stop.rule in RULES[fault], (seed, number, run.stop)
            assert run.rollback_stop is None, (seed, number, run.rollback_stop)


@pytest.mark.parametrize("journey", SOME_JOURNEYS)
def test_a_member_that_dies_stops_it_or_is_restarted_in_its_turn(journey: str) -> None:
    for seed in SEEDS:
        random = Random(f"{journey} {seed}")
        member = random.choice(list(JOURNEYS[journey].simulated.members))
        death = MemberDeath(after_hook=random.randint(1, hooks_of(journey)), member=member)
        run = carried_out(journey, seed, Troubles(killed=death))
        assert run.broken == ()
        assert run.stop is None or run.stop.rule in (StopRule.MEMBER_LOST, StopRule.MEMBER_MISSING)


@pytest.mark.parametrize("journey", JOURNEYS)
def test_killed_and_started_again_it_restarts_no_member_twice(journey: str) -> None:
    for seed in SEEDS:
        dies_at_s = Random(f"{journey} {seed}").uniform(0, 250)
        run = carried_out(journey, seed, Troubles(deaths=[KohortDeath(at_s=dies_at_s)]))
        assert (run.end, run.stop, run.broken) == (Phase.FINISHED, None, ()), (seed, dies_at_s)


@pytest.mark.parametrize("journey", JOURNEYS)
def test_the_invariants_hold_with_the_troubles_that_seeds_draw(journey: str) -> None:
    group, sum_ = JOURNEYS[journey], MigratedSum()
    for seed in range(1, 1 + cases("KOHORT_EXECUTIONS", 1, many=1430)):
        sum_.add(migrate_seed(group.plan, group.found, group.simulated, seed))
    ends = ", ".join(f"{one.end.value} {one.rule} {one.runs}" for one in sum_.ordered)
    longest = sum_.longest_round.longest_round_s if sum_.longest_round else 0.0
    print(f"{journey}: {sum_.runs} seeds, {sum_.hooks} hooks, longest round {longest:.0f} s: {ends}")
    assert [(run.seed, run.broken) for run in sum_.broken] == []
