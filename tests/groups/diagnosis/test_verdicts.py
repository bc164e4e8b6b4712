"""The table of verdicts in docs/diagnose.md, judged from observations of real groups that `make diagnoses` records."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from groups.diagnosis.case import Observation, Thresholds
from groups.diagnosis.diagnose import diagnose
from groups.findings import Level
from tests.groups.diagnosis.kinds import KINDS, Kind
from tests.groups.diagnosis.recorded import read

SECONDS = (6, 10, 30)
PAGE = Path(__file__).parents[3] / "docs" / "diagnose.md"
TABLE = re.compile(r"(?<=<!-- verdicts -->\n).*?(?=<!-- /verdicts -->)", re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindVerdict:
    """What is reported of a kind of group."""

    text: str
    is_wrong: bool

    def __str__(self) -> str:
        return f"{self.text}{' (wrong)' if self.is_wrong else ''}"


def file_of(seconds: int) -> Path:
    """The observations of all kinds for this time."""
    return Path(__file__).with_name("recorded") / f"{seconds}s.jsonl"


def verdict_of(kind: Kind, observations: Sequence[Observation]) -> KindVerdict:
    """A sick group must be found, or the rule be reported as not checked; a healthy one has no error or warning."""
    result = diagnose(kind.name, observations, Thresholds())
    levels = {finding.rule: finding.level for finding in result.findings if finding.level is not Level.NOTE}
    unchecked = {rule for check in result.not_checked for rule in check.rules}
    if not kind.rules:
        return KindVerdict(text=", ".join(sorted(levels)) or "no problems", is_wrong=bool(levels))
    if reported := sorted(kind.rules & levels.keys()):
        return KindVerdict(text=", ".join(f"`{rule}`" for rule in reported), is_wrong=False)
    is_missed = not kind.rules & unchecked
    return KindVerdict(text="missed" if is_missed else "not checked", is_wrong=is_missed)


@cache
def _recorded(seconds: int) -> dict[str, list[Observation]]:
    return read(file_of(seconds))


@pytest.mark.parametrize("seconds", SECONDS)
def test_each_kind_of_group_is_found_or_not_checked(seconds: int) -> None:
    recorded = _recorded(seconds)
    verdicts = {kind.name: verdict_of(kind, recorded[kind.name]) for kind in KINDS}
    assert {name: verdict.text for name, verdict in verdicts.items() if verdict.is_wrong} == {}


def test_the_page_shows_the_verdicts_of_the_recorded_groups() -> None:
    rows = [
        [kind.about, *(verdict_of(kind, _recorded(seconds)[kind.name]).text for seconds in SECONDS)]
        for kind in KINDS
    ]
    head = ["group", *(f"`--for {seconds}s`" for seconds in SECONDS)]
    table = "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *rows])
    text = PAGE.read_text()
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        PAGE.write_text(TABLE.sub(lambda _: table, text))
    (shown,) = TABLE.findall(PAGE.read_text())
    assert shown == table
