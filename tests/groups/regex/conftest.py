"""Seeds and sizes of the comparisons with real engines."""

import pytest

from tests.support.chance import seed
from tests.support.long import cases


@pytest.fixture
def regex_seed() -> str:
    return seed("KOHORT_REGEX_SEED")


@pytest.fixture
def regex_cases() -> int:
    return cases("KOHORT_REGEX_CASES", 150, many=10_000)


@pytest.fixture
def regex_topics() -> int:
    return cases("KOHORT_REGEX_TOPICS", 100, many=1_000)
