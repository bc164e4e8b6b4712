"""The table of differences says all of them, and nothing else."""

import re
from importlib import import_module
from pathlib import Path

from tests.cli.dropin.changing import STRICTER
from tests.cli.dropin.harness import DIFFERENCES, PAIRS, Case

CASES: list[Case] = [
    case
    for file in sorted(Path(__file__).parent.glob("*cases.py"))
    for cases in [import_module(f"{__package__}.{file.stem}")]
    for case in [*cases.CASES, *getattr(cases, "CHANGING", ())]
]
"""Of all tables in this folder."""

PAGE = Path(__file__).parents[3] / "docs" / "kafka-consumer-groups.md"
WANTED_LINES = 80


def test_the_page_names_the_differences_that_the_cases_have() -> None:
    documented = re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(), re.MULTILINE)
    met = {name for case in CASES for name in case.differs}
    assert sorted(documented) == sorted([*DIFFERENCES, *STRICTER]) == sorted(met)


def test_every_flag_is_in_a_case() -> None:
    for program, pair in PAIRS.items():
        lines = [case.line for case in CASES if case.program == program]
        assert pair.flags.keys() - set(re.findall(r"--([a-z-]+)", " ".join(lines))) == set()


def test_there_are_many_cases_and_none_comes_twice() -> None:
    lines = [(case.program, case.scene, str(case), case.connects) for case in CASES]
    assert len(lines) >= WANTED_LINES
    assert len(lines) == len(set(lines))
