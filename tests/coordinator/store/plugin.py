"""Fixtures for the tests of any folder: the files that a killed real broker wrote about groups of every kind."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.coordinator.store.real_log import REUSE, RealLog, make_real_log
from tests.coordinator.store.restart import restart_and_compact
from tests.kafka.tool_host import ToolHost
from tests.support.once import once


@pytest.fixture(scope="session")
def tools(kafka_jars: Path) -> Iterator[ToolHost]:
    host = ToolHost(kafka_jars)
    yield host
    host.close()


@pytest.fixture(scope="session")
def real_log(kafka_jars: Path, tools: ToolHost, tmp_path_factory: pytest.TempPathFactory) -> RealLog:
    if made := os.environ.get(REUSE):
        return RealLog.load(Path(made))

    def make(directory: Path) -> None:
        scratch = tmp_path_factory.mktemp("real-log")
        make_real_log(kafka_jars, scratch, tools, Kohort(scratch / "home")).save(directory)

    return RealLog.load(once(tmp_path_factory, "real-log", make))


@pytest.fixture(scope="session")
def compacted_log(kafka_jars: Path, real_log: RealLog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(directory: Path) -> None:
        restart_and_compact(kafka_jars, real_log, tmp_path_factory.mktemp("compacted-log")).rename(directory)

    return once(tmp_path_factory, "compacted-log", make)
