"""Seeds and sizes of the comparisons with real engines."""

from __future__ import annotations

import pytest

from tests.support.chance import seed
from tests.support.long import cases


@pytest.fixture
def regex_seed() -> str:
    """What a failure names; KOHORT_REGEX_SEED=… repeats it."""
    return seed("KOHORT_REGEX_SEED")


@pytest.fixture
def regex_cases() -> int:
    """How many random patterns; KOHORT_REGEX_CASES=…."""
    return cases("KOHORT_REGEX_CASES", 150, many=10_000)


@pytest.fixture
def regex_topics() -> int:
    """How many names each is matched with; KOHORT_REGEX_TOPICS=…."""
    return cases("KOHORT_REGEX_TOPICS", 100, many=1_000)
