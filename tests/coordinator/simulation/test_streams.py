"""Applications of Kafka Streams in a simulation: warm-ups catch up, and probing rebalances follow (A38)."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from assignors.streams.assignor import StreamsGroupSpec
from assignors.streams.model import RUNNING, StreamThread, Task
from assignors.streams.rounds import run_rounds
from coordinator.simulation.result import RunResult
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario, StreamsScript, Variant
from coordinator.simulation.scenario_file import scenario_from_tree, shipped_scenario, shipped_text
from coordinator.simulation.scenario_text import scenario_tree
from coordinator.simulation.streams import process_id, settings_of
from groups.trees import Malformed

WARM_UP = "streams-warm-up"
TASKS = tuple(Task(0, number) for number in range(4))


def script(scenario: Scenario) -> StreamsScript:
    assert scenario.streams is not None
    return scenario.streams


def assignments(scenario: Scenario, member: str, **options: Any) -> list[str]:
    """The tasks of each assignment that the thread gets, as in the story."""
    result = run(scenario, 1, **options)
    assert result.violations == ()
    return assignments_of(result, member)


def assignments_of(result: RunResult, member: str) -> list[str]:
    lines = [entry.what for entry in result.story if entry.who == member]
    return [line.partition("; rejoins")[0][5:] for line in lines if line.startswith("gets ")]


def test_state_warms_up_before_a_task_moves() -> None:
    assert assignments(shipped_scenario(WARM_UP), "right-1") == [
        "no active task; copies of 0_0",
        "no active task; copies of 0_0, 0_2",
        "active tasks 0_0; copies of 0_2",
        "active tasks 0_0; copies of 0_2",
        "active tasks 0_0, 0_2",
    ]


def test_a_slow_warm_up_is_probed_until_it_is_caught_up() -> None:
    scenario = shipped_scenario(WARM_UP)
    slow = replace(scenario, streams=replace(script(scenario), restored_per_s=2_000), until_s=300)
    shares = assignments(slow, "right-1")
    assert shares[:3] == ["no active task; copies of 0_0"] * 3
    assert shares[-1] == "active tasks 0_0, 0_2"


def test_a_simulation_has_the_rebalances_of_a_dry_run() -> None:
    scenario = shipped_scenario(WARM_UP)
    threads = tuple(
        StreamThread(id=f"{process}-1", process=process_id(process)) for process in script(scenario).processes
    )
    running = replace(
        threads[0],
        owned=frozenset(("orders", number) for number in range(4)),
        offset_sums=dict.fromkeys(TASKS, RUNNING),
    )
    spec = StreamsGroupSpec(
        threads=(running, threads[1]),
        tasks={task: frozenset({("orders", task.partition)}) for task in TASKS},
        stateful=frozenset(TASKS),
        end_offset_sums=dict.fromkeys(TASKS, script(scenario).state),
        leader=running.process,
        settings=settings_of(script(scenario)),
    )
    rounds, rests = run_rounds(spec)
    assert rests
    expected = [each.assignment.threads["left-1"].active for each in rounds]
    shares = assignments(scenario, "left-1")[1:]  # after the one before right joins
    assert shares == [f"active tasks {', '.join(map(str, active))}" for active in expected]


def test_a_restarted_process_has_its_state() -> None:
    scenario = shipped_scenario(WARM_UP)
    tree = scenario_tree(scenario)
    tree["events"].append({"at": 100, "restart": "right-1", "after": 1})
    shares = assignments(scenario_from_tree(tree, name="restarted"), "right-1")
    assert shares[-1] == "active tasks 0_0, 0_2"
    assert not any("copies" in line for line in shares[5:])


def of_releases(left: dict[str, str], right: dict[str, str]) -> Scenario:
    tree = scenario_tree(shipped_scenario(WARM_UP))
    tree["members"]["left-1"] |= left
    tree["members"]["right-1"] |= right
    return scenario_from_tree(tree, name="releases")


@pytest.mark.parametrize(
    ("left", "first"),
    [
        ({"release": "2.3.1"}, "no active task; rejoins at once with version 4 of the data"),
        ({"release": "2.8.2"}, "no active task; copies of 0_0; rejoins at once with version 9 of the data"),
        ({"release": "3.9.1"}, "no active task; copies of 0_0"),
    ],
)
def test_a_newer_thread_sends_the_version_that_all_know(left: dict[str, str], first: str) -> None:
    """KIP-268: a leader before 2.4 gives a thread with newer data nothing, a later one tasks."""
    result = run(of_releases(left, {"release": "3.9.1"}), 1)
    assert result.violations == ()
    gets = [
        entry.what[5:] for entry in result.story if entry.who == "right-1" and entry.what.startswith("gets ")
    ]
    assert gets[0] == first
    assert [line for line in gets[1:] if "of the data" in line] == []


def test_an_eager_thread_gives_up_all_its_tasks_in_a_rebalance() -> None:
    eager = {"release": "3.9.1", "upgrade_from": "2.3"}
    for right, revoked in ((eager, [4]), ({}, [])):
        scenario = of_releases({**eager, "release": "3.9.1"} if right else {}, right)
        result = run(replace(scenario, until_s=32), 1)
        sizes = [
            len(callback.partitions)
            for callback in result.callbacks
            if callback.member == "left-1" and callback.kind.value == "revoked"
        ]
        assert sizes == revoked


def test_a_leader_throws_on_data_from_before_2_0_and_newer_data() -> None:
    """An upgrade from before 2.0 without `upgrade.from`: the leader throws, as Java's does."""
    scenario = of_releases({"release": "1.1"}, {"release": "3.9.1"})
    result = run(replace(scenario, until_s=32), 1)
    assert any("incompatible pre Kafka 2.0 subscription" in entry.what for entry in result.story)


def test_a_static_thread_of_an_old_release_dies_on_newer_data() -> None:
    """Within its session it gets the assignment of its predecessor, as 2.3.1 after 3.9.1 does."""
    tree = scenario_tree(shipped_scenario(WARM_UP))
    tree["members"]["right-1"] |= {"instance": "right", "after_error": "die"}
    tree["events"].append({"at": 60, "restart": "right-1", "with": {"release": "2.3.1"}, "after": 5})
    result = run(scenario_from_tree(tree, name="static"), 1)
    assert [error.member for error in result.thrown] == ["right-1"]
    assert assignments_of(result, "left-1")[-1] == "active tasks 0_0, 0_1, 0_2, 0_3"


def test_a_closed_thread_stays_a_member_until_its_session_expires() -> None:
    tree = scenario_tree(shipped_scenario(WARM_UP))
    tree["events"] = [
        {"at": 0, "start": "left-1"},
        {"at": 0, "start": "right-1"},
        {"at": 20, "close": "right-1"},
    ]
    result = run(scenario_from_tree(tree, name="closed"), 1)
    (left,) = [
        entry.at_s for entry in result.story if entry.who == "left-1" and entry.what.endswith("0_1, 0_2, 0_3")
    ]
    assert 20 + 45 - 3 <= left <= 20 + 45 + 3


def test_members_are_plain_consumers_in_another_variant() -> None:
    assert assignments(shipped_scenario(WARM_UP), "right-1", variant=Variant.EAGER) == []


def test_a_written_scenario_is_read_as_the_same() -> None:
    scenario = shipped_scenario(WARM_UP)
    assert scenario_from_tree(scenario_tree(scenario), name=scenario.name) == scenario


def test_a_smaller_scenario_names_only_its_members() -> None:
    scenario = shipped_scenario(WARM_UP)
    smaller = replace(scenario, members={"left-1": scenario.members["left-1"]}, events=scenario.events[:1])
    read = scenario_from_tree(scenario_tree(smaller), name="smaller")
    assert script(read).processes == {"left": ("left-1",)}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("streams.topology", "Topology", "line 1: 'Topology' is before the first 'Sub-topology: 0'"),
        ("streams.settings", {"max.warm.ups": 1}, "there is no setting 'max.warm.ups'"),
        ("streams.processes", {"left": ["left-1", "right"]}, "there is no member 'right'"),
        (
            "streams.processes",
            {"a": ["left-1", "right-1"], "b": ["left-1"]},
            "left-1 is in several processes",
        ),
        ("streams.processes", {"a": ["left-1"]}, "is in no process of `streams`: all members are threads"),
        ("streams.state", -1, "state"),
        (
            "members.left-1",
            {"topics": ["orders"], "release": "4.0", "upgrade_from": "2.3"},
            "members.left-1.upgrade_from: Kafka Streams 4.0 does not start with upgrade.from=2.3",
        ),
        ("members.left-1", {"release": "new"}, "members.left-1.release: 'new' is no release"),
    ],
)
def test_an_invalid_application_is_refused(path: str, value: object, message: str) -> None:
    tree = yaml.safe_load(shipped_text(WARM_UP))
    top, _, key = path.partition(".")
    tree[top][key] = value
    with pytest.raises(Malformed) as error:
        scenario_from_tree(tree, name="invalid")
    assert message in f"{error.value.path}: {error.value}"


def test_a_source_topic_that_does_not_exist_is_refused() -> None:
    text = shipped_text(WARM_UP).replace("topics: [orders])", "topics: [orders, returns])")
    with pytest.raises(Malformed, match="source topics do not exist: returns"):
        scenario_from_tree(yaml.safe_load(text), name="invalid")
