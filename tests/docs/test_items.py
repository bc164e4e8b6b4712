"""Every item of the five documents is somewhere: items.txt names a test, a sequence, a story, a scenario or a row."""

from pathlib import Path

import pytest

from coordinator.simulation.scenario_file import shipped_names
from tests.conformance.script import scripts
from tests.coordinator.simulation.story_files import story_names
from tests.docs.pages import ROOT

LINES = [
    [cell.strip() for cell in line.split(" | ")]
    for line in Path(__file__).with_name("items.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
DEPARTURES = (ROOT / "docs" / "where-kafka-departs.md").read_text(encoding="utf-8")


def test_all_150_items_are_listed_once() -> None:
    ids = [line[0] for line in LINES]
    assert len(ids) == len(set(ids)) == 150
    assert ids == sorted(ids)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[0])
def test_the_place_of_an_item_is_there(line: list[str]) -> None:
    assert len(line) == 3
    kind, _, name = line[2].partition(" ")
    match kind:
        case "test":
            file, _, test = name.partition("::")
            assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")
        case "sequence":
            assert name in {script.name for script in scripts()}
        case "story":
            assert name in story_names()
        case "scenario":
            assert name in shipped_names()
        case "departs":
            assert name in DEPARTURES
        case _:
            assert line[2].startswith("not built: ")
