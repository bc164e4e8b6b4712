"""The stand-ins for the tools of other groups give the answers of these tools, but for the differences of the page."""

from collections.abc import Iterator

import pytest

from cli.dropin.wording import NEWEST
from tests.cli.dropin import groups_cases, share_cases
from tests.cli.dropin.changing import Change, Changes
from tests.cli.dropin.harness import Case, Scene, Stage
from tests.cli.dropin.modern_scene import share_scene
from tests.kafka.jars import kafka_version
from tests.support.long import few

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(kafka_version() != NEWEST.release, reason="an older release has other words"),
]


def named(case: Case) -> str:
    return f"{case.program} {case}"


@pytest.mark.parametrize("case", few([*groups_cases.CASES, *share_cases.CASES], one_in=2), ids=named)
def test_both_tools_say_the_same(case: Case, stage: Stage, request: pytest.FixtureRequest) -> None:
    scene = Scene(names={}) if case.scene == "none" else request.getfixturevalue(f"{case.scene}_scene")
    stage.check(case, scene)


@pytest.fixture(scope="module")
def share_changes(
    stage: Stage, modern_scene: Scene, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Changes]:
    with share_scene(stage.broker, modern_scene.names) as scene:
        file = tmp_path_factory.mktemp("share") / "offsets.csv"
        yield Changes(scene=scene, broker=stage.broker, tools=stage.tools, file=file)


@pytest.mark.parametrize("case", share_cases.CHANGING, ids=named)
def test_share_groups_are_changed_alike(case: Change, share_changes: Changes) -> None:
    share_changes.check(case)
