"""Printed plans of a sink connector, followed on a real worker of Kafka Connect by its REST API."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import Producer

from migration.execution.settings import REMOVE
from tests.kafka.broker import Broker
from tests.kafka.connect_worker import ConnectWorker
from tests.kafka.jars import fetch_connect
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.migration.end_to_end.config_lines import RESTORE, apply
from tests.migration.end_to_end.follower import CLOSED, OPEN, PLAN_FILE, WAIT
from tests.migration.end_to_end.shell import Shell
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, LONG]

PARTITIONS, TASKS, RECORDS = 4, 2, 25
REST = re.compile(r"\b(GET|PUT) (/connectors/[\w./-]*\w)")


@pytest.fixture
def worker(broker: Broker, tmp_path: Path) -> Iterator[ConnectWorker]:
    running = ConnectWorker(fetch_connect(), broker, tmp_path).ready()
    yield running
    running.end()


class Sink:
    """A connector that writes what it reads to a file, and its group."""

    def __init__(self, worker: ConnectWorker, broker: Broker, shell: Shell, directory: Path) -> None:
        self.name, self.topic = fresh_name("sink"), fresh_name("orders")
        self.group = f"connect-{self.name}"
        self.worker, self.broker, self.shell = worker, broker, shell
        self.file = directory / "out"
        self.written = 0
        create_topics(broker, {self.topic: PARTITIONS})
        self.config = {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
            "tasks.max": str(TASKS),
            "topics": self.topic,
            "file": str(self.file),
        }
        self.before = dict(self.config)

    def write(self) -> None:
        producer = Producer({"bootstrap.servers": self.broker.bootstrap})
        for number in range(RECORDS * PARTITIONS):
            producer.produce(self.topic, str(self.written + number), partition=number % PARTITIONS)
        producer.flush()
        self.written += RECORDS * PARTITIONS

    def has_read_all(self) -> bool:
        wanted = set(map(str, range(self.written)))
        return self.file.is_file() and set(self.file.read_text().split()) == wanted

    def do(self, step: dict[str, Any]) -> None:
        """Send the requests that a step names, in its order."""
        for action in step["actions"]:
            for method, path in REST.findall(action):
                assert path.startswith(f"/connectors/{self.name}/"), action
                body = None
                if path.endswith("/config"):
                    self.config = self._with(step["config"])
                    body = self.config
                self.worker.ask(method, path, body)

    def _with(self, lines: list[str]) -> dict[str, str]:
        """The configuration with a step's lines; other comments say where the lines belong."""
        is_ours = (REMOVE.fullmatch, RESTORE.fullmatch, lambda line: not line.startswith("#"))
        ours = [line for line in lines if any(test(line) for test in is_ours)]
        return apply(ours, self.config, "connect", self.before)

    def run(self, command: str, status: int) -> str:
        done = self.shell.run(command)
        assert done.returncode == status, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout


def test_a_sink_connector_there_and_back(
    worker: ConnectWorker, broker: Broker, shell: Shell, tmp_path: Path
) -> None:
    sink = Sink(worker, broker, shell, tmp_path)
    worker.ask("PUT", f"/connectors/{sink.name}/config", sink.config)
    sink.write()
    wait_until(sink.has_read_all, "the sink has read all")
    for to, kind, assignor in (
        ("cooperative", "classic", "cooperative-sticky"),
        ("consumer", "consumer", "uniform"),
        ("classic", "classic", "range"),
    ):
        options = f"--to {to} --client connect:4.3.1 -b {broker.bootstrap} --output yaml"
        sink.run(f"kohort plan {sink.group} {options} > {PLAN_FILE}", OPEN)
        plan = yaml.safe_load((shell.directory / PLAN_FILE).read_text())
        for step in plan["steps"]:
            gate = step["commands"][0]
            sink.run(WAIT.sub("", gate), CLOSED)
            sink.do(step)
            sink.run(gate, OPEN)
        options = f"--members -b {broker.bootstrap} --output yaml"
        described = sink.run(f"kohort describe {sink.group} {options}", OPEN)
        (group,) = yaml.safe_load(described)["groups"]
        assert (group["type"], group["protocol"], len(group["members"])) == (kind, assignor, TASKS)
        sink.write()
        wait_until(sink.has_read_all, f"the sink has read all, as {to}")
    states = worker.ask("GET", f"/connectors/{sink.name}/status")["tasks"]
    assert [task["state"] for task in states] == ["RUNNING"] * TASKS
