"""Fixtures of the tests that compare both tools."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.dropin.wording import VARIABLE
from tests.cli.dropin.harness import Scene, Stage
from tests.cli.dropin.modern_scene import modern_groups
from tests.cli.dropin.scenes import SILENCE, properties_files, quiet_cluster, steering_group
from tests.cli.fleet import Fleet
from tests.kafka.broker import Broker
from tests.kafka.coordinator import running_broker
from tests.kafka.jars import kafka_version
from tests.kafka.java_host import JavaHost
from tests.kafka.tool_host import ToolHost


@pytest.fixture(scope="session", autouse=True)
def _tool_of_the_release() -> Iterator[None]:
    """Have ours say what the tool of the tested release says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, kafka_version())
        yield


@pytest.fixture(scope="session")
def stage(kafka_broker: Broker, tools: ToolHost) -> Stage:
    """Give both tools and the broker that all tests share."""
    return Stage(kafka_broker, tools)


@pytest.fixture(scope="module")
def fleet_scene(fleet: Fleet) -> Scene:
    """Give a group of every kind, by kind."""
    return Scene(names={**fleet.groups, "topic": fleet.topic})


@pytest.fixture(scope="module")
def quiet_scene(
    kafka_jars: Path, java_host: JavaHost, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    """Give a separate broker with groups in every state; nothing changes there."""
    with running_broker(kafka_jars, tmp_path_factory.mktemp("quiet"), SILENCE) as broker:
        files = properties_files(tmp_path_factory.mktemp("properties"))
        with quiet_cluster(broker, kafka_jars, java_host, tmp_path_factory.mktemp("members")) as names:
            yield Scene(names={**names, **files}, broker=broker)


@pytest.fixture
def steering_scene(quiet_scene: Scene) -> Iterator[Scene]:
    """Give a group whose name would turn a terminal red; afterwards it is gone."""
    assert quiet_scene.broker is not None
    with steering_group(quiet_scene.broker) as name:
        yield Scene(names={"steering": name}, broker=quiet_scene.broker)


@pytest.fixture(scope="module")
def silent_scene() -> Iterator[Scene]:
    """Give a port where connections are taken and nothing is answered, as by a broker that is stopped or overloaded."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Scene(names={"silent": f"127.0.0.1:{server.getsockname()[1]}"})


@pytest.fixture(scope="module")
def modern_scene(
    kafka_broker: Broker,
    kafka_jars: Path,
    java_host: JavaHost,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Scene]:
    """Give share and streams groups, by what is the matter with them."""
    with modern_groups(kafka_broker, kafka_jars, java_host, tmp_path_factory.mktemp("modern")) as names:
        yield Scene(names=names)
