"""The stand-ins for the tools of other groups give the answers of these tools, but for the differences of the page."""

import pytest

from cli.dropin.wording import NEWEST
from tests.cli.dropin import groups_cases
from tests.cli.dropin.harness import Case, Scene, Stage
from tests.kafka.jars import kafka_version

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(kafka_version() != NEWEST.release, reason="an older release has other words"),
]


@pytest.mark.parametrize("case", groups_cases.CASES, ids=lambda case: f"{case.program} {case}")
def test_both_tools_say_the_same(case: Case, stage: Stage, request: pytest.FixtureRequest) -> None:
    scene = Scene(names={}) if case.scene == "none" else request.getfixturevalue(f"{case.scene}_scene")
    stage.check(case, scene)
