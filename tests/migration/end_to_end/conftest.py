"""Fixtures for plans that are followed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.kafka.broker import Broker
from tests.kafka.java_host import JavaHost
from tests.kafka.members import OTHERS
from tests.migration.end_to_end.deployment import MEMBERS, Deployment, Fleet, deployed
from tests.migration.end_to_end.follower import Follower
from tests.migration.end_to_end.shell import Shell

Deploy = Callable[[Fleet], Deployment]
Follow = Callable[[Deployment], Follower]


@pytest.fixture(scope="session")
def java_hosts(kafka_jars: Path) -> Iterator[list[JavaHost]]:
    """Give a JVM for each consumer of a group, and one more: no two of them share a process."""
    hosts = [JavaHost(kafka_jars) for _ in range(MEMBERS + 1)]
    yield hosts
    for host in hosts:
        host.crash()


@pytest.fixture
def deploy(
    broker: Broker,
    kafka_jars: Path,
    java_hosts: list[JavaHost],
    tmp_path: Path,
    program: Callable[[str], None],
) -> Iterator[Deploy]:
    """Give a function that deploys consumers, which are stopped after the test; of sarama only where it is
    available."""
    with ExitStack() as stack:

        def deploys(fleet: Fleet) -> Deployment:
            if fleet.library in OTHERS:
                program(fleet.library)
            return stack.enter_context(deployed(fleet, broker, kafka_jars, java_hosts, tmp_path))

        yield deploys


@pytest.fixture
def shell(kafka_jars: Path, tmp_path: Path) -> Shell:
    return Shell(tmp_path / "shell", kafka_jars)


@pytest.fixture
def follow(shell: Shell) -> Iterator[Follow]:
    with ExitStack() as stack:

        def follower(deployment: Deployment) -> Follower:
            made = Follower(deployment=deployment, shell=shell)
            stack.callback(made.end)
            return made

        yield follower
