"""Fixtures for the tests of the command line."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.cli.fleet import Fleet, running_fleet
from tests.cli.offset_rig import OffsetRig
from tests.cli.served_data import serving
from tests.kafka.broker import Broker, RunningBroker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.java_host import JavaHost
from tests.kafka.settings import DEFAULTS
from tests.kafka.tool_host import ToolHost
from tests.support.signals import handled_interrupts

IS_REAL = os.environ.get("KOHORT_BROKER") == "real"
"""Whether all tests of this folder run on a real broker."""
VARIABLES = (
    "CONFIG", "CONTEXT", "BOOTSTRAP_SERVER", "COMMAND_CONFIG", "SNAPSHOT", "TIMEOUT", "OUTPUT", "JOURNAL", "AGENT",
)  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def _nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep commands that run inside this process and the developer's own contexts and data apart. Not the cache: it
    contains only jars, which would be fetched again."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CONFIG", "DATA"):
            patch.setenv(f"XDG_{name}_HOME", str(tmp_path_factory.mktemp(name.lower())))
        for name in VARIABLES:
            patch.delenv(f"KOHORT_{name}", raising=False)
        yield


@pytest.fixture(scope="session")
def kohort(tmp_path_factory: pytest.TempPathFactory) -> Kohort:
    return Kohort(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def session_broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningBroker]:
    """Give `kohort serve`, which keeps its data, with the settings of the real broker; or that one: `IS_REAL`."""
    if IS_REAL:
        yield request.getfixturevalue("kafka_broker")
        return
    settings: dict[str, Any] = {name.replace(".", "_"): value for name, value in DEFAULTS.items()}
    with serving(tmp_path_factory.mktemp("served"), "--fsync", "interval", **settings) as served:
        wait_for_coordinator(served)
        yield served


@pytest.fixture(scope="session")
def session_rig(session_broker: RunningBroker, kohort: Kohort, tools: ToolHost) -> OffsetRig:
    """Give topics, groups and both tools on that broker, for fixtures of a wide scope."""
    return OffsetRig(broker=session_broker, kohort=kohort, tools=tools)


@pytest.fixture(scope="session")
def kafka_rig(kafka_broker: Broker, kohort: Kohort, tools: ToolHost) -> OffsetRig:
    return OffsetRig(broker=kafka_broker, kohort=kohort, tools=tools)


@pytest.fixture
def broker(request: pytest.FixtureRequest) -> Iterator[RunningBroker]:
    """Give the shared broker; a test that is marked `kafka` gets the real one."""
    broker: RunningBroker = request.getfixturevalue(f"{_wanted(request)}_broker")
    broker.check_alive()
    yield broker
    broker.check_alive()


@pytest.fixture
def rig(request: pytest.FixtureRequest, broker: RunningBroker) -> OffsetRig:
    """Give topics, groups and both tools on the broker of the test."""
    rig: OffsetRig = request.getfixturevalue(f"{_wanted(request)}_rig")
    return rig


def _wanted(request: pytest.FixtureRequest) -> str:
    return "session" if request.node.get_closest_marker("kafka") is None else "kafka"


@pytest.fixture(scope="session")
def fleet(
    kafka_broker: Broker, kafka_jars: Path, java_host: JavaHost, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    with running_fleet(kafka_broker, kafka_jars, java_host, tmp_path_factory.mktemp("fleet")) as fleet:
        yield fleet


@pytest.fixture(scope="session")
def sample(kohort: Kohort, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the directory that `kohort demo` filled: a source for `--embedded`."""
    directory = tmp_path_factory.mktemp("sample")
    kohort.quick("demo", directory).succeeded()
    return directory


@pytest.fixture(name="handled_interrupts")
def _default_interrupts() -> Iterator[None]:
    """Have children obey Ctrl-C and hangups, even if a shell or nohup has the tests ignore them."""
    with handled_interrupts():
        yield
