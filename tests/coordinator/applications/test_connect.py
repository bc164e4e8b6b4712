"""Two workers of Kafka Connect are a cluster on `kohort serve` as on a real broker (B22): connectors and tasks are
spread, a worker is killed and returns, and what `kohort describe` shows is what the workers' REST API and logs say."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError

import pytest

from tests.cli.command import Kohort
from tests.coordinator.applications.servers import REAL, served
from tests.kafka.broker import Broker
from tests.kafka.connect_worker import ConnectWorker
from tests.kafka.jars import fetch_connect
from tests.kafka.members import fresh_name
from tests.kafka.topics import fresh_topic
from tests.kafka.wait import wait_until
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, LONG]

SERVE = "serve --data"
QUICK = {
    "session.timeout.ms": "6000",
    "heartbeat.interval.ms": "500",
    "rebalance.timeout.ms": "10000",
    "scheduled.rebalance.max.delay.ms": "4000",
}
VARIANTS: Mapping[str, Mapping[str, str]] = {
    "eager": {"connect.protocol": "eager"},
    "compatible": {"connect.protocol": "compatible"},
    "sessioned": {"connect.protocol": "sessioned"},
    "exactly once": {"connect.protocol": "sessioned", "exactly.once.source.support": "enabled"},
}
LEADER = re.compile(
    r"got assignment: Assignment\{error=(\d+), leader='(.+?)', leaderUrl='(.+?)', offset=(\d+)"
)
FILES = "org.apache.kafka.connect.file.FileStream"


class Load(NamedTuple):
    """What one worker runs."""

    connectors: frozenset[str]
    tasks: frozenset[tuple[str, int]]


class Phase(NamedTuple):
    """A settled cluster, without what the random ids of its workers decide."""

    protocol: str
    connectors: Sequence[int]
    tasks: Sequence[int]


@dataclass(slots=True, kw_only=True)
class ConnectCluster:
    """Two workers with two sources, each of one task, and a sink of two tasks that writes down what both read."""

    kohort: Kohort
    broker: Broker
    directory: Path
    group: str
    workers: Sequence[ConnectWorker]

    def create_connectors(self) -> None:
        topic = fresh_topic(self.broker, partitions=2, prefix=self.group)
        for name in ("first", "second"):
            (self.directory / name).touch()
            self.configure(name, {"connector.class": f"{FILES}SourceConnector", "topic": topic})
        sink = {"connector.class": f"{FILES}SinkConnector", "topics": topic, "tasks.max": "2"}
        self.configure("copy", sink)

    def configure(self, name: str, config: Mapping[str, str]) -> None:
        def accepted() -> bool:
            try:
                self.workers[0].ask(
                    "PUT", f"/connectors/{name}/config", {**config, "file": str(self.directory / name)}
                )
            except HTTPError as error:
                if error.code != HTTPStatus.CONFLICT:  # while it rebalances
                    raise
                return False
            return True

        wait_until(accepted, f"connector {name} is accepted")

    def loads(self, worker: ConnectWorker) -> dict[str, Load] | None:
        """What each worker runs, by worker id, as the REST API of one answers; None if anything does not run."""
        connectors: dict[str, set[str]] = {}
        tasks: dict[str, set[tuple[str, int]]] = {}
        for name in ("first", "second", "copy"):
            try:
                status = worker.ask("GET", f"/connectors/{name}/status")
            except HTTPError:
                return None
            parts = [status["connector"], *status["tasks"]]
            if len(parts) != (3 if name == "copy" else 2) or {part["state"] for part in parts} != {"RUNNING"}:
                return None
            connectors.setdefault(status["connector"]["worker_id"], set()).add(name)
            for task in status["tasks"]:
                tasks.setdefault(task["worker_id"], set()).add((name, task["id"]))
        return {
            worker_id: Load(
                frozenset(connectors.get(worker_id, ())),
                frozenset(tasks.get(worker_id, ())),
            )
            for worker_id in connectors.keys() | tasks.keys()
        }

    def described(self) -> dict[str, Any]:
        answer = self.kohort.quick(f"describe -b {self.broker.bootstrap} --output json", self.group)
        (group,) = answer.succeeded().document["groups"]
        shown: dict[str, Any] = group
        return shown

    def settled(self, *running: ConnectWorker) -> Phase:
        """Wait until these workers run everything, and `describe` shows of each what the REST API of each answers."""

        def phase() -> Phase | None:
            group = self.described()
            workers = [member["connect"] for member in group["members"]]
            if group["state"] != "Stable" or len(workers) != len(running):
                return None
            shown = {
                worker["url"].removeprefix("http://").rstrip("/"): Load(
                    frozenset(worker["runs"]["connectors"]),
                    frozenset(
                        (name, number)
                        for name, numbers in worker["runs"]["tasks"].items()
                        for number in numbers
                    ),
                )
                for worker in workers
            }
            idle = {worker["delay_ms"] for worker in workers} == {0}
            if not idle or any(self.loads(worker) != shown for worker in running):
                return None
            assert shown.keys() == {worker.id for worker in running}
            assert {self.leader_in_log(worker) for worker in running} == {
                (str(worker["error"]), group["leader"], worker["leader_url"], str(worker["leader_offset"]))
                for worker in workers
            }
            connectors, tasks = zip(*shown.values(), strict=True)
            return Phase(group["protocol"], sorted(map(len, connectors)), sorted(map(len, tasks)))

        return wait_until(phase, lambda: f"{self.group} settles: {self.described()}", every_s=0.5)

    def leader_in_log(self, worker: ConnectWorker) -> tuple[str, ...]:
        last: tuple[str, ...] = LEADER.findall(worker.log.read_text())[-1]
        return last

    def waits_for_lost(self) -> bool:
        return any((member["connect"] or {}).get("delay_ms") for member in self.described()["members"])

    def write(self, text: str) -> None:
        """Write a line for each source, and wait until the sink has written down both."""
        for name in ("first", "second"):
            with (self.directory / name).open("a") as file:
                file.write(f"{name} {text}\n")
        lines = {f"{name} {text}" for name in ("first", "second")}
        wait_until(lambda: lines <= set((self.directory / "copy").read_text().split("\n")), f"{lines} arrive")


@contextmanager
def connect_cluster(
    kohort: Kohort, broker: Broker, directory: Path, settings: Mapping[str, str]
) -> Iterator[ConnectCluster]:
    group, workers = fresh_name("workers"), list[ConnectWorker]()
    try:
        for name in ("a", "b"):
            place = directory / f"worker-{name}"
            workers.append(ConnectWorker(fetch_connect(), broker, place, {**QUICK, **settings}, group=group))
        for worker in workers:
            worker.ready()
        yield ConnectCluster(kohort=kohort, broker=broker, directory=directory, group=group, workers=workers)
    finally:
        for worker in workers:
            worker.end()


def play(cluster: ConnectCluster) -> list[Phase]:
    """The worker that follows is killed and returns, then the leader: the phases in which the cluster is settled."""
    cluster.create_connectors()
    phases = [cluster.settled(*cluster.workers)]
    cluster.write("at first")
    for loses_leader in (False, True):
        url = cluster.leader_in_log(cluster.workers[0])[2]
        left, killed = sorted(cluster.workers, key=lambda worker: (worker.id in url) == loses_leader)
        killed.kill()
        if phases[0].protocol != "default" and not loses_leader:
            # A leader that was elected since does not know what was lost, and assigns it at once.
            wait_until(cluster.waits_for_lost, "the leader waits for the lost worker", every_s=0.2)
        phases.append(cluster.settled(left))
        cluster.write(f"without {killed.id}")
        killed.start()
        killed.ready()
        phases.append(cluster.settled(*cluster.workers))
        cluster.write(f"with {killed.id}")
    return phases


@pytest.mark.parametrize("variant", VARIANTS)
def test_workers_on_serve_end_as_on_a_broker(variant: str, session_broker: Broker, tmp_path: Path) -> None:
    phases = {}
    for server in (REAL, SERVE):
        directory = tmp_path / server.replace(" ", "")
        directory.mkdir()
        with ExitStack() as stack:
            broker = session_broker if server == REAL else stack.enter_context(served(server, directory))
            cluster = connect_cluster(Kohort(directory), broker, directory, VARIANTS[variant])
            phases[server] = play(stack.enter_context(cluster))
    protocol = {"eager": "default", "compatible": "compatible"}.get(variant, "sessioned")
    balanced, alone = Phase(protocol, [1, 2], [2, 2]), Phase(protocol, [3], [4])
    assert phases[REAL] == [balanced, alone, balanced, alone, balanced]
    assert phases[SERVE] == phases[REAL]
