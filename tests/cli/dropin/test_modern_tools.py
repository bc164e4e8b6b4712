"""The stand-ins for the tools of other groups give the answers of these tools, but for the differences of the page."""

from collections.abc import Iterator, Mapping

import pytest

from cli.dropin.wording import NEWEST
from tests.cli.dropin import groups_cases, share_cases, streams_cases, streams_reset_cases
from tests.cli.dropin.changing import Change, Changes
from tests.cli.dropin.harness import PAIRS, Case, Scene, Stage, run_here
from tests.cli.dropin.modern_scene import share_scene, streams_scene
from tests.kafka.connect import join_and_wait
from tests.kafka.groups import wait_group
from tests.kafka.jars import kafka_version
from tests.kafka.members import fresh_name
from tests.support.long import few

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(kafka_version() != NEWEST.release, reason="an older release has other words"),
]


def named(case: Case) -> str:
    return f"{case.program} {case}"


CASES = [*groups_cases.CASES, *share_cases.CASES, *streams_cases.CASES, *streams_reset_cases.CASES]
CHANGING = [*share_cases.CHANGING, *streams_cases.CHANGING, *streams_reset_cases.CHANGING]


@pytest.mark.parametrize("case", few(CASES, one_in=2), ids=named)
def test_both_tools_say_the_same(case: Case, stage: Stage, request: pytest.FixtureRequest) -> None:
    scene = Scene(names={}) if case.scene == "none" else request.getfixturevalue(f"{case.scene}_scene")
    stage.check(case, scene)


@pytest.fixture(scope="module")
def changes(
    stage: Stage, modern_scene: Scene, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Changes]]:
    """By program."""
    file = tmp_path_factory.mktemp("modern") / "offsets.csv"
    broker, names = stage.broker, modern_scene.names
    with (
        share_scene(broker, names) as shared,
        streams_scene(broker, names, names["rested"], joined=True) as rested,
        streams_scene(broker, names, names["app"], joined=False) as app,
    ):
        scenes = {"share-groups": shared, "streams-groups": rested, "streams-application-reset": app}
        yield {
            program: Changes(scene=scene, broker=broker, tools=stage.tools, file=file)
            for program, scene in scenes.items()
        }


@pytest.mark.parametrize("case", few(CHANGING, one_in=2), ids=named)
def test_both_tools_change_the_same(case: Change, changes: Mapping[str, Changes]) -> None:
    changes[case.program].check(case)


def test_members_are_removed_only_by_force(stage: Stage) -> None:
    group = fresh_name("active")
    join_and_wait(stage.broker, group, "consumer")
    line = ["--bootstrap-server", stage.broker.bootstrap, "--application-id", group]
    answer = run_here(line, PAIRS["streams-application-reset"])
    assert answer.status == 1
    assert f"Consumer group '{group}' is still active and has following members: [" in answer.stderr
    assert run_here([*line, "--force", "--dry-run"], PAIRS["streams-application-reset"]).status == 0
    wait_group(stage.broker, group, members=1, state="CompletingRebalance")
    forced = run_here([*line, "--force"], PAIRS["streams-application-reset"])
    assert (forced.status, forced.stderr) == (0, "")
    wait_group(stage.broker, group, members=0, state="Empty")


def test_topics_of_a_running_streams_group_are_kept(stage: Stage, modern_scene: Scene) -> None:
    line = ["--bootstrap-server", stage.broker.bootstrap, "--application-id", modern_scene.names["counting"]]
    answer = run_here(line, PAIRS["streams-application-reset"])
    assert (answer.status, "has members: stop the application first" in answer.stderr) == (1, True)


def test_only_internal_topics_of_the_group_are_deleted(changes: Mapping[str, Changes]) -> None:
    scene = changes["streams-groups"].scene
    scene.lay()
    before = scene.state()
    reset = "--reset-offsets --group {rested} --all-input-topics --to-latest --execute"
    case = Case(line=f"{reset} --delete-internal-topic {{orders}}", program="streams-groups")
    answer = run_here(case.arguments(scene.names, changes["streams-groups"].broker), case.pair)
    assert (answer.status, scene.state()) == (1, before)
    assert "is not an internal topic of the group" in answer.stdout
