"""Scenarios of what went wrong with real clients: each shows the symptom that its thread describes."""

from collections import Counter
from dataclasses import replace

import pytest

from coordinator.consumer.library import LIBRARIES
from coordinator.consumer.outputs import CallbackKind
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.result import CallbackCall, RunResult
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Restart, Scenario, Variant
from coordinator.simulation.scenario_file import shipped_scenario
from coordinator.simulation.world import World
from tests.coordinator.simulation.story_files import with_library
from tests.support.long import IS_LONG


@pytest.fixture(params=(1, 2))
def seed(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def _run(name: str, seed: int, variant: Variant = Variant.AS_WRITTEN) -> RunResult:
    return run(shipped_scenario(name), seed, variant=variant)


def _given(result: RunResult, member: str = "", *, since: float = 0.0) -> list[CallbackCall]:
    """When members got partitions."""
    calls = (call for call in result.callbacks if call.kind is CallbackKind.ASSIGNED and call.partitions)
    return [call for call in calls if call.at_s >= since and member in ("", call.member)]


def _taken_away(result: RunResult, member: str, *, since: float) -> list[CallbackKind]:
    calls = (call for call in result.callbacks if call.kind is not CallbackKind.ASSIGNED)
    return [call.kind for call in calls if call.at_s >= since and call.member == member]


def _errors(result: RunResult) -> list[str]:
    return [thrown.error for thrown in result.thrown]


def _owned(result: RunResult) -> dict[str, int]:
    return {member: len(owned) for member, owned in result.final.items()}


def _count_entries(result: RunResult, what: str) -> int:
    return sum(entry.what == what for entry in result.story)


def test_one_restart_restarts_others_that_take_a_rebalance_for_fatal(seed: int) -> None:
    scenario = shipped_scenario("storm")
    lives = Counter(presence.member for presence in run(scenario, seed).presence)
    assert lives["a"] >= 2
    assert sum(lives[member] > 1 for member in "bcd") >= 2
    calm = replace(
        scenario,
        members={name: replace(script, after_error=None) for name, script in scenario.members.items()},
        events=tuple(
            replace(event, script=replace(event.script, after_error=None))
            if isinstance(event, Restart)
            else event
            for event in scenario.events
        ),
    )
    lives = Counter(presence.member for presence in run(calm, seed).presence)
    assert lives == {"a": 2, "b": 1, "c": 1, "d": 1}


def test_a_group_waits_for_the_session_of_a_leader_that_is_silent(seed: int) -> None:
    result = _run("leader-never-answers", seed)
    assert min(made.at_s for made in _given(result)) > 40
    assert {member for member, owned in result.final.items() if owned} == {"a", "b", "c"}


def test_a_shutdown_of_eight_takes_seven_rounds(seed: int) -> None:
    result = _run("shutdown-rounds", seed)
    assert len(_given(result, "a", since=40)) == 7
    # The consumer protocol revokes nothing from remaining members.
    assert not [
        callback
        for callback in _run("shutdown-rounds", seed, Variant.CONSUMER).callbacks
        if (callback.member, callback.kind) == ("a", CallbackKind.REVOKED) and callback.at_s > 40
    ]


def test_a_static_member_that_closes_for_good_keeps_its_partitions(seed: int) -> None:
    result = _run("static-close", seed)
    taken_over = min(made.at_s for made in _given(result, since=41))
    assert 40 + 40 < taken_over < 100
    assert min(made.at_s for made in _given(result, since=100)) < 105


def test_an_owner_that_heartbeats_and_never_polls_holds_all(seed: int) -> None:
    result = _run("owner-never-polls", seed)
    # a is outside poll from 20 s on, for longer than its max.poll.interval.ms of 60 s; b is there from 25 s on.
    assert _given(result, "b")[0].at_s > 20 + 55


def test_a_group_waits_for_a_listener_that_does_not_return(seed: int) -> None:
    result = _run("callback-never-returns", seed)
    assert _given(result, since=30)[0].at_s > 30 + 55
    assert _given(result, "c")


def test_no_member_rejoins_after_a_long_outage_of_the_coordinator(seed: int) -> None:
    scenario = shipped_scenario("coordinator-away")
    world = World(scenario, seed)
    world.schedule.play(int(scenario.until_s * 1000), 10**6)
    assert world.engine.state.groups[GROUP].is_empty()
    for process in world.processes.values():
        assert process.is_running
        for partition in process.owned:
            unread = world.topics.end(partition) - (process.position(partition) or 0)
            assert unread > (140 - 52) * scenario.records_per_s
    assert {violation.invariant for violation in run(scenario, seed).violations} == {"I4"}


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_a_restarted_coordinator_finds_the_group_unchanged(seed: int, library: str) -> None:
    result = run(with_library(shipped_scenario("coordinator-away"), library), seed)
    assert result.violations == ()
    assert (result.rebalances, [made for made in result.callbacks if made.at_s > 40]) == (1, [])
    assert result.without_owner_s == 0


def test_members_are_fenced_where_requests_are_repeated() -> None:
    kinds = Counter(made.kind for seed in range(1, 11) for made in _run("repeated-requests", seed).callbacks)
    assert kinds[CallbackKind.LOST] >= 1
    scenario = shipped_scenario("repeated-requests")
    calm = replace(scenario, faults=replace(scenario.faults, duplicate=0.0, loss=0.0))
    assert all(
        made.kind is not CallbackKind.LOST for seed in range(1, 11) for made in run(calm, seed).callbacks
    )


def test_an_evicted_member_reads_what_others_read(seed: int) -> None:
    result = _run("evicted-member-works-on", seed)
    assert {overlap.member for overlap in result.zombies} == {"c"}
    assert max(overlap.length_s for overlap in result.zombies) > 30
    assert result.read_twice > 2 * 10 * 30


def test_a_commit_while_it_joins_costs_a_member_its_assignment(seed: int) -> None:
    result = _run("commit-while-joining", seed)
    assert _errors(result) == ["ILLEGAL_GENERATION"]
    assert _taken_away(result, "a", since=36) == [CallbackKind.LOST]
    assert result.read_twice > 0
    for library, error in (("librdkafka", "ILLEGAL_GENERATION"), ("java", "RebalanceInProgressException")):
        mended = run(with_library(shipped_scenario("commit-while-joining"), library), seed)
        assert _errors(mended) == [error]
        assert _taken_away(mended, "a", since=36) == []
        assert len(_given(mended, "a", since=36)) == 0


def test_what_is_lost_during_a_rebalance_is_revoked_and_committed(seed: int) -> None:
    result = _run("revoked-not-lost", seed)
    owner = _given(result, "b")[0]
    assert owner.at_s < 70
    assert len(owner.partitions) == 6
    assert _taken_away(result, "a", since=80) == [CallbackKind.REVOKED]
    assert _errors(result)[:2] == ["UNKNOWN_MEMBER_ID", "UNKNOWN_MEMBER_ID"]
    java = run(with_library(shipped_scenario("revoked-not-lost"), "java"), seed)
    assert _taken_away(java, "a", since=80) == [CallbackKind.LOST]
    assert java.thrown == ()


def test_a_static_member_is_fenced_by_its_commit_of_what_it_has_lost(seed: int) -> None:
    result = _run("static-fenced-by-itself", seed)
    assert _errors(result) == ["_MAX_POLL_EXCEEDED", "_FATAL"]
    assert not result.final["a"]
    java = run(with_library(shipped_scenario("static-fenced-by-itself"), "java"), seed)
    assert java.thrown == ()
    assert len(java.final["a"]) == 3


def test_an_exception_of_the_listener_leaves_poll_and_nothing_is_undone(seed: int) -> None:
    result = _run("listener-throws", seed)
    assert {thrown.member for thrown in result.thrown} == {"a"}
    # KIP-429, error handling: the revocation counts as done.
    assert sorted(len(owned) for owned in result.final.values()) == [2, 2, 2]


@pytest.mark.parametrize("variant", [Variant.EAGER, Variant.COOPERATIVE, Variant.CONSUMER])
def test_partitions_that_are_added_get_owners(variant: Variant) -> None:
    result = _run("topic-growth", 1, variant)
    assert sorted(number for owned in result.final.values() for _, number in owned) == list(range(9))


def test_a_member_that_left_before_it_had_revoked_never_rejoins(seed: int) -> None:
    result = _run("leave-while-revoking", seed)
    assert _errors(result) == ["_MAX_POLL_EXCEEDED", "_FATAL"]
    assert _owned(result) == {"a": 0, "b": 6}
    mended = run(with_library(shipped_scenario("leave-while-revoking"), "librdkafka"), seed)
    assert _errors(mended) == ["_MAX_POLL_EXCEEDED"]
    assert _owned(mended) == {"a": 3, "b": 3}


def test_a_member_heartbeats_for_ever_to_a_group_that_is_gone(seed: int) -> None:
    refused = "ConsumerGroupHeartbeat -> GROUP_ID_NOT_FOUND"
    result = _run("group-gone", seed)
    # Every five seconds, from 100 s on, when the network is whole again.
    assert _count_entries(result, refused) == 16
    assert (result.thrown, len(result.final["a"])) == ((), 6)
    assert {violation.invariant for violation in result.violations} == {"I4"}
    mended = run(with_library(shipped_scenario("group-gone"), "librdkafka"), seed)
    assert (_count_entries(mended, refused), _errors(mended)) == (1, ["_FATAL"])
    assert len(mended.presence) == 2
    assert (len(mended.final["a"]), mended.violations) == (6, ())


def _stale(scenario: Scenario, seed: int) -> list[float]:
    """When a commit was refused for its epoch."""
    refused = {"STALE_MEMBER_EPOCH", "CommitFailedException"}
    return [thrown.at_s for thrown in run(scenario, seed).thrown if thrown.error in refused]


def test_commits_fail_when_others_join_and_leave_without_kip_1251(seed: int) -> None:
    scenario = shipped_scenario("commits-at-old-epochs")
    joined, left = _stale(scenario, seed)
    assert 40 < joined < 50
    assert 80 < left < 90
    # It is the brokers' rule: another client does not help.
    for library in ("librdkafka", "java"):
        assert len(_stale(with_library(scenario, library), seed)) == 2
    assert _stale(replace(scenario, without=()), seed) == []


def test_a_fetch_that_is_chained_to_a_finished_one_is_never_answered(seed: int) -> None:
    scenario = shipped_scenario("offset-fetch-spins")
    reading = {}
    for library in ("java-4.3", "java"):
        world = World(with_library(scenario, library), seed)
        world.schedule.play(60_000, 10**6)
        reading[library] = len(world.processes["a"].fetching)
    assert reading == {"java-4.3": 0, "java": 6}
    (thrown,) = run(scenario, seed).thrown
    assert (thrown.member, thrown.error, thrown.at_s) == ("a", "TimeoutException", 65.0)
    mended = run(with_library(scenario, "java"), seed)
    assert _count_entries(mended, "OffsetFetch -> STALE_MEMBER_EPOCH") == 1
    assert (mended.thrown, mended.violations) == ((), ())


LOADS = range(1, 9) if IS_LONG else range(3, 5)  # In a third of them, a node cannot load the log


def _failed_loads(scenario: Scenario) -> int:
    """How many of some seeds have a node that cannot load the log, after which the group never settles again."""
    falls = [tuple(violation.invariant for violation in run(scenario, seed).violations) for seed in LOADS]
    assert set(falls) <= {(), ("I8", "I4")}
    return len(falls) - falls.count(())


@pytest.mark.parametrize("name", ["offsets-before-group", "compacted-while-loading"])
def test_brokers_without_a_fix_cannot_load_a_compacted_log(name: str) -> None:
    scenario = shipped_scenario(name)
    assert _failed_loads(scenario) >= len(LOADS) / 3
    assert _failed_loads(replace(scenario, without=())) == 0


def _unread(scenario: Scenario, seed: int) -> list[int]:
    """Partitions that are owned and not read, after the first bounce and after the second."""
    world, counts = World(scenario, seed), []
    for at_s in (115, 180):
        world.schedule.play(at_s * 1000, 10**6)
        owners = [process for process in world.processes.values() if process.is_running]
        assert sum(len(owner.owned) for owner in owners) == 6
        counts.append(sum(len(owner.owned - owner.member.fetching) for owner in owners))
    return counts


def test_partitions_are_stranded_where_a_member_becomes_cooperative(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = shipped_scenario("change-of-balancer")
    assert _unread(scenario, seed) == [3, 0]
    assert _unread(with_library(scenario, "java"), seed) == [0, 0]
    flawed = LIBRARIES["franz-go-1.16"]
    mended = replace(flawed, behavior=replace(flawed.behavior, remembers_eager=False))
    monkeypatch.setitem(LIBRARIES, flawed.name, mended)
    assert _unread(scenario, seed) == [0, 0]
    assert run(scenario, seed).violations == ()


def test_an_application_ends_that_commits_what_it_keeps_during_a_rebalance(seed: int) -> None:
    result = _run("commit-while-rebalancing", seed)
    assert [(one.member, one.error) for one in result.thrown] == [("a", "RebalanceInProgressException")]
    assert {name for name, owned in result.final.items() if owned} == {"b", "c"}
    for variant in (Variant.EAGER, Variant.CONSUMER):
        other = _run("commit-while-rebalancing", seed, variant)
        assert (other.thrown, {*other.final}) == ((), {"a", "b", "c"})
