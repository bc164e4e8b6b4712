"""Seeds and sizes of the comparisons with real engines."""

from __future__ import annotations

import os

import pytest

from tests.support.chance import seed


@pytest.fixture
def regex_seed() -> str:
    """What a failure names; KOHORT_REGEX_SEED=… repeats it."""
    return seed("KOHORT_REGEX_SEED")


@pytest.fixture
def regex_cases() -> int:
    """How many random patterns; KOHORT_REGEX_CASES=…."""
    return int(os.environ.get("KOHORT_REGEX_CASES", "300"))


@pytest.fixture
def regex_topics() -> int:
    """How many names each is matched with; KOHORT_REGEX_TOPICS=…."""
    return int(os.environ.get("KOHORT_REGEX_TOPICS", "150"))
