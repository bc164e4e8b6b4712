"""Brokers that are gone, or that do not answer: what can be read is shown, the rest is named, and nothing hangs."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.sources.admin import AdminSource
from tests.cli.command import Answer, Kohort
from tests.cli.dropin.harness import run_here
from tests.kafka.ports import HOST, free_ports
from tests.kafka.trio import Trio, trio
from wire.client.security import ConnectionSettings

pytestmark = pytest.mark.kafka

LOST = 3
"""The broker that goes."""
MANY = 5000
TOPIC = "orders"
TIMEOUT_MS = "2500"
PATIENT_MS = "30000"
PREFIX = "fleet-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A cluster, our command, and groups by whether their coordinator is the broker that goes."""

    cluster: Trio
    kohort: Kohort
    kept: Sequence[str]
    lost: Sequence[str]

    def __call__(self, *args: str, output: str = "json", timeout_ms: str = TIMEOUT_MS) -> Answer:
        answer = self.kohort.quick(
            *args, "-b", self.cluster.bootstrap, "--timeout", timeout_ms, "--output", output
        )
        assert not answer.traceback, answer.stderr
        return answer

    @property
    def place(self) -> str:
        return self.cluster.brokers[LOST].bootstrap


@pytest.fixture(scope="module")
def cluster(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trio]:
    with trio(kafka_jars, tmp_path_factory.mktemp("trio")) as running:
        yield running


@pytest.fixture(scope="module")
def scene(cluster: Trio, kohort: Kohort) -> Scene:
    """Groups that have committed an offset of each partition; a partition is on each broker."""
    cluster.create_topic(TOPIC, (1, 2, LOST))
    groups = [f"{PREFIX}{number:04}" for number in range(MANY)]
    cluster.commit(groups, TOPIC, (0, 0, 0))
    at = cluster.coordinators(groups)
    return Scene(
        cluster=cluster, kohort=kohort, kept=[group for group in groups if at[group] != LOST],
        lost=[group for group in groups if at[group] == LOST],
    )  # fmt: skip


@pytest.fixture
def frozen(scene: Scene) -> Iterator[Scene]:
    scene.cluster.freeze(LOST)
    yield scene
    scene.cluster.thaw(LOST)


@pytest.fixture(scope="module")
def stopped(scene: Scene) -> Scene:
    """The broker has left the cluster, for the rest of the tests."""
    scene.cluster.brokers[LOST].stop()
    scene.cluster.wait_alive(2)
    return scene


def groups_of(answer: Answer) -> list[str]:
    return [group["group"] for group in answer.document["groups"]]


def errors_of(answer: Answer) -> dict[str, str]:
    return {error["subject"]: error["message"] for error in answer.document["errors"]}


def test_a_first_bootstrap_server_that_is_dead_or_keeps_quiet(frozen: Scene) -> None:
    for first in (f"{HOST}:{free_ports(1)[0]}", frozen.place):
        servers = f"{first},{frozen.cluster.brokers[1].bootstrap}"
        line = f"describe {frozen.kept[0]} --state -b {servers} --timeout {TIMEOUT_MS}"
        assert frozen.kept[0] in frozen.kohort.quick(line).succeeded().stdout


def test_describe_names_the_groups_of_a_broker_that_keeps_quiet(frozen: Scene) -> None:
    kept, lost = frozen.kept[0], frozen.lost[0]
    answer = frozen("describe", kept, lost)
    assert (answer.status, groups_of(answer)) == (3, [kept])
    errors = errors_of(answer)
    assert errors[lost].startswith(f"{frozen.place}: timed out")
    assert errors[f"{TOPIC}-2"].startswith(f"{frozen.place}: timed out")
    (group,) = answer.document["groups"]
    rows = [(row["committed"], row["end"], row["lag"]) for row in group["offsets"]]
    assert rows == [(0, 0, 0), (0, 0, 0), (0, None, None)]


def test_a_reset_is_not_made_where_a_part_cannot_be_known(frozen: Scene) -> None:
    answer = reset(frozen, TOPIC)
    kept, lost = frozen.kept[0], frozen.lost[0]
    (group,) = answer.document["groups"]
    assert (group["group"], group["applicable"]) == (kept, False)
    rows = [(row["partition"], row["after"], row["applied"]) for row in group["offsets"]]
    assert rows == [(0, 0, None), (1, 0, None)]
    errors = errors_of(answer)
    assert errors[lost].startswith(f"{frozen.place}: timed out")
    assert errors[f"{kept}, {TOPIC}-2"].startswith(f"{frozen.place}: timed out")
    assert "nothing was changed" in answer.stderr
    check_narrow_reset(frozen)


def reset(scene: Scene, topic: str) -> Answer:
    line = ["offsets", "reset", scene.kept[0], scene.lost[0], "--to-earliest", "--execute", "--yes"]
    answer = scene(*line, "--topic", topic)
    assert answer.status == 3
    return answer


def check_narrow_reset(scene: Scene) -> None:
    """What can be set is set."""
    narrow = reset(scene, f"{TOPIC}:0,1")
    (group,) = narrow.document["groups"]
    assert (group["group"], [row["applied"] for row in group["offsets"]]) == (scene.kept[0], [True, True])
    assert list(errors_of(narrow)) == [scene.lost[0]]


def test_config_get_without_a_broker_that_keeps_quiet(frozen: Scene) -> None:
    for _ in range(4):
        answer = frozen("config", "get", frozen.kept[0])
        assert answer.status == 0, answer.stderr
    settings = {setting["name"]: setting for setting in answer.document["settings"]}
    interval = settings["consumer.session.timeout.ms"]
    assert (interval["minimum"], interval["maximum"]) == (6000, 60_000)
    assert f"the bounds of broker {LOST} are not known: {frozen.place}: timed out" in answer.stderr


def test_the_settings_that_the_adminclient_tells_of_a_cluster_of_several(frozen: Scene) -> None:
    servers = tuple(frozen.cluster.bootstrap.split(","))
    settings = ConnectionSettings(bootstrap_servers=servers, api_timeout_ms=int(TIMEOUT_MS))
    reported = AdminSource(settings).cluster()
    assert reported.settings is not None
    assert reported.settings["group.consumer.min.session.timeout.ms"] == "6000"
    assert (reported.settings_problem or "").startswith(f"broker {LOST}: no answer in time")


ABSENT = "no leader, so its groups are neither listed nor described. Start broker 3."


def no_coordinator(message: str) -> bool:
    return message.startswith("no coordinator: __consumer_offsets-") and message.endswith(
        " has no leader. Start broker 3 (COORDINATOR_NOT_AVAILABLE)."
    )


@pytest.mark.parametrize("command", ["list", "describe --all-groups"])
def test_partitions_whose_groups_are_gone_are_named(stopped: Scene, command: str) -> None:
    answer = stopped(*command.split(), timeout_ms=PATIENT_MS)
    assert (answer.status, groups_of(answer)) == (3, list(stopped.kept))
    (subject,) = [error["subject"] for error in answer.document["errors"] if error["message"] == ABSENT]
    assert subject.startswith("__consumer_offsets-")
    if command != "list":
        assert errors_of(answer)[f"{TOPIC}-2"] == "the partition has no leader. Start broker 3."


def test_snapshot_without_a_broker(stopped: Scene, tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    answer = stopped.kohort.quick("snapshot", "--file", file, "-b", stopped.cluster.bootstrap)
    answer.assert_said(3, ABSENT, "the partition has no leader. Start broker 3.")
    assert sorted(json.loads(file.read_text())["groups"]) == list(stopped.kept)


COMMANDS = (
    "describe GROUP", "describe GROUP --members", "plan GROUP --to consumer", "delete GROUP --execute --yes",
    f"offsets reset GROUP --to-latest --topic {TOPIC} --execute --yes",
    f"offsets delete GROUP --topic {TOPIC} --execute --yes",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_group_without_a_coordinator_is_not_reported_absent(stopped: Scene, command: str) -> None:
    lost = stopped.lost[0]
    answer = stopped(*command.replace("GROUP", lost).split(), output="table")
    assert answer.status == 3
    (line,) = [line for line in answer.stderr.splitlines() if "no coordinator" in line]
    assert no_coordinator(line.removeprefix(f"kohort: {lost}: "))
    assert "no such group" not in answer.stderr


def test_a_reset_and_a_deletion_take_the_groups_that_have_a_coordinator(stopped: Scene) -> None:
    errors = errors_of(reset(stopped, TOPIC))
    assert no_coordinator(errors[stopped.lost[0]])
    assert errors[f"{stopped.kept[0]}, {TOPIC}-2"] == "the partition has no leader. Start broker 3."
    check_narrow_reset(stopped)
    kept, lost = stopped.kept[2], stopped.lost[0]
    answer = stopped("delete", kept, lost, "--execute", "--yes")
    assert answer.status == 3
    assert [(group["group"], group["deleted"]) for group in answer.document["groups"]] == [(kept, True)]
    assert no_coordinator(errors_of(answer)[lost])


def test_the_other_command_shows_the_groups_that_have_a_coordinator(stopped: Scene) -> None:
    kept, lost = stopped.kept[3], stopped.lost[0]
    server = ["--bootstrap-server", stopped.cluster.bootstrap, "--timeout", TIMEOUT_MS]
    answer = run_here([*server, "--describe", "--group", kept, "--group", lost])
    assert answer.status == 3
    table, _, error = answer.stdout.partition("Error: ")
    rows = [row.split()[2:6] for row in table.splitlines() if row.startswith(kept)]
    assert rows == [["0", "0", "0", "0"], ["1", "0", "0", "0"], ["2", "0", "-", "-"]]
    assert no_coordinator("no coordinator" + error.rstrip().partition("no coordinator")[2])
    assert f"The log end offsets of {TOPIC}-2 are not known: " in answer.stderr
