"""What the tests of every folder share."""

import gc
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.shipping.budget import limits
from tests.support import forked
from tests.support.chance import IS_RANDOM
from tests.support.long import IS_LONG, LEFT_OUT, LONG
from tests.support.schedule import by_unit, rank

pytest_plugins = ["tests.kafka.plugin", "tests.coordinator.store.plugin"]

# How long an example takes says how busy the machine is; what must be fast is measured in benchmarks/.
settings.register_profile(
    "kohort", deadline=None, derandomize=not IS_RANDOM, max_examples=100 if IS_LONG else 40
)
settings.load_profile("kohort")


STARTED = time.monotonic()
gc.disable()  # until all tests are collected, when there is no garbage
SPARK_TIMEOUT_S = 900
"""For a test with sessions of Spark, which share two cores with others; it is there to end what hangs."""
SPARK = frozenset(("spark", "live_spark", "story"))
"""Fixtures that start Spark, or a story for it."""
SPARK_IN_SHORT = Path(__file__).parent / "cli" / "verbs" / "fleet" / "test_fleet.py"
"""The file for which `make test` starts Spark, once; for all others a long run does."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest first, then the files that wait for a real Kafka: at the end all processes compute."""
    for item in items:
        if SPARK.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.timeout(SPARK_TIMEOUT_S))
            if item.path != SPARK_IN_SHORT:
                item.add_marker(LONG)
    waiting = {item.path for item in items if "kafka_jars" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: (rank(item.nodeid.split("::", 1)[0]), item.path not in waiting))


def pytest_collection_finish() -> None:
    gc.freeze()  # the tests themselves, which no collection needs to walk
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _no_ones_journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the entries of changes, which tests and their children make by the thousand, out of the developer's home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.delenv("KOHORT_JOURNAL", raising=False)
        yield


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Keep together tests that share something expensive, if files are kept together."""
    return by_unit(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_sessionfinish() -> None:
    forked.end()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left = sum(LEFT_OUT in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    spent = os.times()
    processors_s = spent.user + spent.system + spent.children_user + spent.children_system
    allowed_s = limits()["test-processor-seconds"]
    terminalreporter.write_line(
        f"Took {time.monotonic() - STARTED:.0f} s, and {processors_s:.0f} s of the processors"
        f" (the budget of `make test`: {allowed_s} s)."
    )
    if left:
        terminalreporter.write_line(
            f"Left out: {left} long tests, and all but a few made-up cases; `make test-long` runs them.",
            yellow=True,
        )
