"""A broker that runs with a failed log directory, a port of no broker, and addresses that lead nowhere."""

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.cli.dropin.harness import run_here, run_tool, unordered
from tests.cli.served_data import serving
from tests.kafka.broker import Broker
from tests.kafka.commits import commit_request, send_commits
from tests.kafka.connect import OPAQUE, join_group
from tests.kafka.coordinator import running_broker
from tests.kafka.look_alike import LookAlike, Product
from tests.kafka.tool_host import ToolHost
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.support.long import LONG
from wire.client.cluster import KafkaClient
from wire.client.security import ConnectionSettings
from wire.errors import ErrorCode
from wire.messages.definition import Api
from wire.messages.schemas.admin import DESCRIBE_LOG_DIRS
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.cluster import METADATA
from wire.messages.schemas.offsets import OFFSET_FETCH

TOPIC = "orders"
GROUPS = tuple(f"group-{number:02}" for number in range(12))
LOST = {1, 3}
OFFSETS_TOPIC = "__consumer_offsets"
FAILED = "/disk-2/kafka"
NOWHERE = "no-such-host.invalid"


def _without_leaders(answer: dict[str, Any]) -> None:
    partition = {"errorCode": 0, "leaderId": 1, "leaderEpoch": 0, "replicaNodes": [1], "isrNodes": [1]}
    partition["offlineReplicas"] = []
    error = ErrorCode.LEADER_NOT_AVAILABLE
    offline = {**partition, "errorCode": error, "leaderId": -1, "isrNodes": [], "offlineReplicas": [1]}
    for topic in answer["topics"]:
        if topic["name"] == OFFSETS_TOPIC:
            topic["errorCode"] = 0
            states = [offline if index in LOST else partition for index in range(5)]
            topic["partitions"] = [{**state, "partitionIndex": index} for index, state in enumerate(states)]


def _failed_directory(answer: dict[str, Any]) -> None:
    whole = {"totalBytes": -1, "usableBytes": -1, "isCordoned": False, "topics": []}
    failed = {**whole, "errorCode": ErrorCode.KAFKA_STORAGE_ERROR, "logDir": FAILED}
    answer["results"] = [{**whole, "errorCode": 0, "logDir": "/disk-1/kafka"}, failed]


def _refused(answer: dict[str, Any]) -> None:
    for group in answer["groups"]:
        group |= {"errorCode": ErrorCode.UNKNOWN_SERVER_ERROR, "members": []}


def _without_an_offset(answer: dict[str, Any]) -> None:
    for group in answer["groups"]:
        for topic in group["topics"]:
            topic["partitions"][0] |= {"errorCode": ErrorCode.UNKNOWN_SERVER_ERROR, "committedOffset": -1}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Give the port of a cluster with groups that have committed offsets."""
    with serving(None, "--topic", f"{TOPIC}:1") as served:
        send_commits(served, [commit_request(group, TOPIC, [0]) for group in GROUPS])
        yield served.port


def test_a_failed_directory_is_named_and_the_other_groups_are_shown(port: int, kohort: Kohort) -> None:
    changes = {METADATA.key: _without_leaders, DESCRIBE_LOG_DIRS.key: _failed_directory}
    reason = (
        f"{OFFSETS_TOPIC}-1, 3: no leader, so its groups are neither listed nor described. Repair the failed log "
        f"directory of broker 1 ({FAILED}), and restart the broker: its log shows the error."
    )
    with LookAlike(port, Product(changes=changes)) as cluster:
        listed = run_here(["--bootstrap-server", cluster.bootstrap, "--list"])
        assert (listed.status, listed.stdout.split()) == (3, list(GROUPS))
        assert listed.stderr == f"{reason}\n"
        kohort.quick("list -b", cluster.bootstrap).assert_said(3, f"kohort: {reason}\n")


class Moved(LookAlike):
    """A cluster that advertises an address that does not resolve."""

    def _change(self, api: Api, fields: dict[str, Any]) -> None:
        super()._change(api, fields)
        for node in (*fields.get("brokers", ()), *fields.get("coordinators", ())):
            node["host"] = NOWHERE


@pytest.mark.parametrize(
    "command",
    [
        "list", "describe group-01", "config get group-01", "config set group-01 consumer.session.timeout.ms=50000",
        "snapshot", "plan group-01 --to consumer", "diagnose group-01 --for 1s", "exporter --once",
        "offsets reset group-01 --to-earliest --all-topics", "delete group-01", "members remove group-01 --member a",
    ],
)  # fmt: skip
def test_an_address_that_does_not_resolve_is_named(port: int, kohort: Kohort, command: str) -> None:
    with Moved(port, Product()) as cluster:
        began = time.monotonic()
        answer = kohort.quick(command, "-b", cluster.bootstrap, "--timeout", "60000")
        assert time.monotonic() - began < 30
    answer.assert_refused(
        f"{NOWHERE}:{cluster.port}: the host name is not known", "advertised.listeners", status=3
    )


def test_an_offset_that_is_not_read_stays_unknown(port: int, kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    with LookAlike(port, Product(changes={OFFSET_FETCH.key: _without_an_offset})) as cluster:
        live = kohort.quick("describe group-01 --output json -b", cluster.bootstrap)
        taken = kohort.quick("snapshot group-01 -b", cluster.bootstrap, "--file", file)
        taken.assert_said(3, f"group-01, {TOPIC}-0")
        tool = run_here(["--bootstrap-server", cluster.bootstrap, "--describe", "--group", "group-01"])
        line = "--reset-offsets --group group-01 --to-earliest --all-topics --execute"
        reset = run_here(["--bootstrap-server", cluster.bootstrap, *line.split()])
    saved = kohort.quick("describe group-01 --output json --snapshot", file)
    for answer in (live, saved):
        assert answer.status == 3
        ((row,),) = [group["offsets"] for group in answer.document["groups"]]
        assert row["committed"] is row["lag"] is None
        assert [error["subject"] for error in answer.document["errors"]] == [f"group-01, {TOPIC}-0"]
    assert tool.status == reset.status == 4
    assert f"The committed offsets of group-01, {TOPIC}-0 are not known" in tool.stdout
    assert "UnknownServerException" in reset.stdout


def test_members_leave_by_id_though_the_group_cannot_be_described(port: int, kohort: Kohort) -> None:
    member = join_group(SimpleNamespace(port=port), "held", "consumer", OPAQUE, OPAQUE)
    with LookAlike(port, Product(changes={DESCRIBE_GROUPS.key: _refused})) as cluster:
        line = ("members remove held --execute --yes -b", cluster.bootstrap)
        kohort.quick(*line, "--all").assert_refused("held: UNKNOWN_SERVER_ERROR", status=3)
        removed = kohort.quick(*line, "--member", member)
        removed.assert_said(0, "held: UNKNOWN_SERVER_ERROR", "removed 1 member of held")
        assert "becomes Empty" not in removed.stderr
        kohort.quick(*line, "--member", member).assert_said(4, "UNKNOWN_MEMBER_ID")


@LONG
@pytest.mark.kafka
def test_a_real_broker_with_a_failed_directory(
    kafka_jars: Path, tools: ToolHost, kohort: Kohort, tmp_path: Path
) -> None:
    kept, failed = tmp_path / "broker" / "data", tmp_path / "broker" / "data-2"
    kept.parent.mkdir()
    often = {"log.flush.offset.checkpoint.interval.ms": "500"}
    with running_broker(kafka_jars, kept.parent, {"log.dirs": f"{kept},{failed}", **often}) as broker:
        create_topics(broker, {TOPIC: 4})
        send_commits(broker, [commit_request(group, TOPIC, [0] * 4) for group in GROUPS])
        lost = sorted(int(path.name.rpartition("-")[2]) for path in failed.glob(f"{OFFSETS_TOPIC}-*"))
        failed.rename(tmp_path / "gone")
        failed.write_text("not a directory")
        _wait_without_leaders(broker, len(lost))
        server = ["--bootstrap-server", broker.bootstrap, "--timeout", "5000"]
        reason = (
            f"{OFFSETS_TOPIC}-{', '.join(map(str, lost))}: no leader, so its groups are neither listed nor described. "
            f"Repair the failed log directory of broker 1 ({failed}), and restart the broker: its log shows the error."
        )
        for line in (
            "--list", "--list --state", "--describe --all-groups", "--describe --all-groups --members",
            "--describe --all-groups --state", "--reset-offsets --all-groups --to-earliest --topic orders:1 --dry-run",
        ):  # fmt: skip
            theirs = unordered(run_tool(tools, [*server, *line.split()]))
            ours = unordered(run_here([*server, *line.split()]))
            assert (ours.status, ours.stdout) == (3, theirs.stdout), line
            assert reason in ours.stderr
            assert "GROUP  " in ours.stdout or "group-" in ours.stdout
        kohort.quick("list -b", broker.bootstrap).assert_said(3, reason)
        described = kohort.quick("describe --all-groups -b", broker.bootstrap, "--timeout", "5000")
        described.assert_said(
            3, reason, "the partition has no leader. Repair the failed log directory of broker 1"
        )


def _wait_without_leaders(broker: Broker, count: int) -> None:
    with KafkaClient(ConnectionSettings(bootstrap_servers=(broker.bootstrap,))) as client:

        def lost() -> bool:
            partitions = client.brokers(fresh=True).topics[OFFSETS_TOPIC].partitions
            return sum(1 for partition in partitions if partition.leader_id < 0) == count

        wait_until(lost, "the broker has noticed that its directory failed", timeout_s=60)


@LONG
@pytest.mark.kafka
def test_the_port_of_a_controller_is_named_as_such(kafka_broker: Broker, kohort: Kohort) -> None:
    settings = (kafka_broker.directory / "server.properties").read_text()
    controller = settings.split("CONTROLLER://", 1)[1].split("\n", 1)[0]
    for command in ("list", "describe a", "config get a", "exporter --once"):
        kohort.quick(command, "-b", controller).assert_refused(
            f"{controller}: this is the port of a KRaft controller", "advertised.listeners", status=3
        )
    both = kohort.quick("list -b", f"{controller},{kafka_broker.bootstrap}")
    assert both.status == 0, both
