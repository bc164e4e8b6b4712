"""A scene for changes, on a broker behind a turnstile."""

import gc
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from tests.cli.changes.scene import Scene, scene_on
from tests.cli.served_data import serving
from tests.kafka.coordinator import running_broker
from tests.kafka.ports import HOST, free_ports
from tests.kafka.topics import create_topics, delete_topic
from tests.kafka.turnstile import Turnstile
from tests.support.long import LONG
from wire.client.faults import ask_for_fault, fault_client
from wire.client.security import ConnectionSettings
from wire.messages.schemas.faults import DO

GRACE_S = 0.2


@pytest.fixture(scope="module", params=["kohort serve", pytest.param("Kafka", marks=LONG)])
def module_scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Give a scene on `kohort serve`, and in a long run on Apache Kafka too."""
    turnstile, directory = Turnstile(), tmp_path_factory.mktemp("changes")
    gc.collect()
    gc.freeze()
    start = served if request.param == "kohort serve" else partial(on_kafka, request)
    try:
        with (
            start(turnstile, directory) as (port, replace_topic),
            scene_on(turnstile, port, directory, replace_topic) as scene,
        ):
            yield scene
    finally:
        gc.unfreeze()
        turnstile.cut()


Started = tuple[int, Callable[[str], object]]
"""A broker's port, and what creates a topic, deleting it first if it exists."""


@contextmanager
def served(turnstile: Turnstile, _: Path) -> Iterator[Started]:
    with serving(None, "--advertise", f"{HOST}:{turnstile.port}") as started:
        settings = ConnectionSettings(bootstrap_servers=(f"{HOST}:{started.port}",), client_id="rig")

        def replace_topic(name: str) -> None:
            with fault_client(settings) as client:
                known = client.metadata([name]).topics
                event = {"topic": name, "recreate" if known else "create": 1}
                ask_for_fault(client, 30_000, operation=DO, event=json.dumps(event))

        yield started.port, replace_topic


@contextmanager
def on_kafka(request: pytest.FixtureRequest, turnstile: Turnstile, directory: Path) -> Iterator[Started]:
    client, behind, controller = free_ports(3)
    settings = {
        "listeners": f"CLIENT://{HOST}:{client},RELAYED://{HOST}:{behind},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": f"CLIENT://{HOST}:{client},RELAYED://{HOST}:{turnstile.port}",
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,RELAYED:PLAINTEXT,CONTROLLER:PLAINTEXT",
    }
    jars = request.getfixturevalue("kafka_jars")
    with running_broker(jars, directory, settings, port=client) as broker:

        def replace_topic(name: str) -> None:
            with suppress(KafkaException):
                delete_topic(broker, name)
            create_topics(broker, {name: 1})

        yield behind, replace_topic


@pytest.fixture
def scene(request: pytest.FixtureRequest, module_scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Give the scene; signals are handled by their usual handlers, and answers awaited for a short time."""
    if request.node.name.endswith("[Kafka-fault]"):
        pytest.skip("only kohort serve has faults")
    monkeypatch.setattr("cli.stopping.GRACE_S", GRACE_S)
    monkeypatch.setattr("cli.stopping._BACKSTOP_S", 0.0)
    return module_scene
