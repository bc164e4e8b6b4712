"""Fixtures for the tests of the assignors."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kafka.oracle import Oracle, running
from tests.support.chance import seed
from tests.support.long import cases


@pytest.fixture(scope="session")
def oracle(kafka_jars: Path) -> Iterator[Oracle]:
    with running(kafka_jars) as oracle:
        yield oracle


@pytest.fixture(scope="session")
def oracle_seed() -> str:
    return seed("KOHORT_ORACLE_SEED")


@pytest.fixture(scope="session")
def oracle_cases() -> int:
    return cases("KOHORT_ORACLE_CASES", 100, many=10_000)
