"""Fixtures for the tests of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.fleet import Fleet, running_fleet
from tests.cli.offset_rig import OffsetRig
from tests.kafka.broker import Broker
from tests.kafka.java_host import JavaHost
from tests.kafka.tool_host import ToolHost
from tests.support.signals import handled_interrupts

VARIABLES = ("CONFIG", "CONTEXT", "BOOTSTRAP_SERVER", "COMMAND_CONFIG", "SNAPSHOT", "TIMEOUT", "OUTPUT")


@pytest.fixture(scope="session", autouse=True)
def _nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep commands that run inside this process and the developer's own contexts and data apart.

    Not the cache: it contains only jars, which would be fetched again.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CONFIG", "DATA"):
            patch.setenv(f"XDG_{name}_HOME", str(tmp_path_factory.mktemp(name.lower())))
        for name in VARIABLES:
            patch.delenv(f"KOHORT_{name}", raising=False)
        yield


@pytest.fixture(scope="session")
def kohort(tmp_path_factory: pytest.TempPathFactory) -> Kohort:
    """Give the installed command; its default source is empty."""
    return Kohort(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def session_rig(session_broker: Broker, kohort: Kohort, tools: ToolHost) -> OffsetRig:
    """Give topics, groups and both tools on the shared broker, for fixtures of a wide scope."""
    return OffsetRig(broker=session_broker, kohort=kohort, tools=tools)


@pytest.fixture
def rig(broker: Broker, session_rig: OffsetRig) -> OffsetRig:
    """Give the same to a test; if the broker died the test shows its log."""
    return session_rig


@pytest.fixture(scope="session")
def fleet(
    session_broker: Broker, kafka_jars: Path, java_host: JavaHost, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    """Give a stable group of every kind on the shared broker."""
    with running_fleet(session_broker, kafka_jars, java_host, tmp_path_factory.mktemp("fleet")) as fleet:
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
