"""The page about Kafka's departures names evidence that exists."""

import re

import pytest

from tests.conformance.script import scripts
from tests.coordinator.simulation.story_files import story_names
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "where-kafka-departs.md").read_text(encoding="utf-8")
SCRIPTS = {script.name for script in scripts()} | {f"stories/{name}" for name in story_names()}
ROWS = [
    line
    for line in PAGE.splitlines()
    if line.startswith("| ") and "---" not in line and "evidence" not in line
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[3].strip()[:40])
def test_each_line_names_what_shows_it(row: str) -> None:
    cells = [cell.strip() for cell in row.strip("| ").split(" | ")]
    assert len(cells) == 4
    evidence = re.findall(r"`([^`]+)`", cells[3])
    assert evidence
    for source in evidence:
        file, _, test = source.partition("::")
        if test:
            assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")
        else:
            assert source in SCRIPTS
