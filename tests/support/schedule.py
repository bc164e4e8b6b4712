"""Which files of tests run in one process, and in which order. What is expensive to start and shared by many files
(Spark, a fleet of consumers, the brokers with TLS and SASL) is started in one process instead of in all: its files are
one unit, as each other file is. The longest units come first, so that no process waits for another in the end."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).parents[2]
SHARED = {
    "spark": re.compile(r"\b(live_)?spark: "),
    "fleet": re.compile(r"from tests\.cli\.fleet import|\bfleet_scene\b|\}_scene\b"),
    "secure": re.compile(r"\bsecure: SecureBroker\b"),
}
"""Fixtures of the session, and how a test of theirs shows itself."""
LONGEST = (
    "tests/conformance/test_conformance.py",
    "tests/migration/end_to_end/test_migrations.py",
    "spark",
    "fleet",
    "tests/cli/sources/test_outage.py",
    "tests/migration/test_expectation_live.py",
    "tests/coordinator/store/test_broker_reads_ours.py",
    "tests/conformance/test_clients.py",
    "tests/conformance/walks/test_walks.py",
    "secure",
)


@cache
def unit_of(path: str) -> str:
    """The unit that a file of tests belongs to: the name of what it shares, or the file."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return next((name for name, uses in SHARED.items() if uses.search(text)), path)


def rank(path: str) -> int:
    """The place of a file's unit among the longest; those that are not among them come after."""
    unit = unit_of(path)
    return LONGEST.index(unit) if unit in LONGEST else len(LONGEST)


def by_unit(config: pytest.Config, log: object) -> Any:
    """The scheduler of xdist that gives a process one unit after the other."""
    scheduler = LoadFileScheduling(config, log)
    scheduler._split_scope = lambda nodeid: unit_of(nodeid.split("::", 1)[0])
    return scheduler
