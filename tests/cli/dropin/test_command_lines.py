"""Both tools give the same answers, but for the differences that docs/kafka-consumer-groups.md explains."""

import pytest

from tests.cli.dropin.cases import CASES
from tests.cli.dropin.harness import Case, Scene, Stage
from tests.support.long import few

NOWHERE = Scene(names={})


@pytest.mark.kafka
@pytest.mark.parametrize("case", few(CASES, one_in=2), ids=str)
def test_both_tools_say_the_same(case: Case, stage: Stage, request: pytest.FixtureRequest) -> None:
    scene = NOWHERE if case.scene == "none" else request.getfixturevalue(f"{case.scene}_scene")
    stage.check(case, scene)
