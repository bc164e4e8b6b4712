"""The stand-ins for the tools of other groups give the answers of these tools, but for the differences of the page."""

from collections.abc import Iterator, Mapping

import pytest

from cli.dropin.wording import NEWEST
from tests.cli.dropin import groups_cases, share_cases, streams_cases
from tests.cli.dropin.changing import Change, Changes
from tests.cli.dropin.harness import Case, Scene, Stage
from tests.cli.dropin.modern_scene import share_scene, streams_scene
from tests.kafka.jars import kafka_version
from tests.support.long import few

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(kafka_version() != NEWEST.release, reason="an older release has other words"),
]


def named(case: Case) -> str:
    return f"{case.program} {case}"


CASES = [*groups_cases.CASES, *share_cases.CASES, *streams_cases.CASES]
CHANGING = [*share_cases.CHANGING, *streams_cases.CHANGING]


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
    with (
        share_scene(stage.broker, modern_scene.names) as shared,
        streams_scene(stage.broker, modern_scene.names) as rested,
    ):
        yield {
            program: Changes(scene=scene, broker=stage.broker, tools=stage.tools, file=file)
            for program, scene in (("share-groups", shared), ("streams-groups", rested))
        }


@pytest.mark.parametrize("case", few(CHANGING, one_in=2), ids=named)
def test_both_tools_change_the_same(case: Change, changes: Mapping[str, Changes]) -> None:
    changes[case.program].check(case)
