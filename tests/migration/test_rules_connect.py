"""The groups of Kafka Connect's sink connectors: their members' library, their lines, and their workers' policy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cli.verbs.plan.files import read_client_config
from groups.findings import Level
from groups.model import Client, Group, GroupType, Member, MemberProtocol
from migration.client_config import ClientConfig
from migration.model import Destination, PlanVerdict
from migration.plan_file import plan_from_data, plan_to_data
from tests.migration.cases import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EAGER,
    GROUP,
    check_finding,
    found,
    plan,
    the_finding,
)

UUID = "3f0c6f9e-5a0b-4c1d-9d55-7c1f0a6b2e00"


def _task(number: int) -> Member:
    client = f"connector-consumer-s3-{number}"
    one = replace(GROUP.members[number], id=f"{client}-{UUID}")
    return replace(one, client=Client(id=client, host="/10.0.0.1"))


SINK = replace(GROUP, id="connect-s3", members=(_task(0), _task(1)))
WORKER = {
    "group.id": "connect-cluster",
    "session.timeout.ms": "10000",
    "heartbeat.interval.ms": "3000",
    "config.storage.topic": "connect-configs",
    "consumer.session.timeout.ms": "20000",
    "consumer.partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor",
}


def _file(folder: Path, settings: dict[str, str]) -> ClientConfig:
    file = folder / "worker.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return read_client_config(str(file))


def test_the_library_is_inferred_and_that_is_said() -> None:
    finding = the_finding(plan(SINK, CONSUMER), "client-library")
    assert (finding.level, finding.members) == (Level.INFO, tuple(member.id for member in SINK.members))
    assert finding.message.startswith("The plan is for connect, which is inferred from the member id")
    assert finding.remedy == "Check it, and set it with its version: --client connect:VERSION."
    assert found(plan(SINK, CONSUMER, "connect:4.4.0"), "client-library") is None


@pytest.mark.parametrize(
    ("reported", "to", "level", "said"),
    [
        ("connect:3.1", COOPERATIVE, Level.BLOCKER, "since 3.2"),
        ("connect:3.2", COOPERATIVE, None, ""),
        ("kafka-connect:3.9", CONSUMER, Level.BLOCKER, "since 4.0"),
    ],
)
def test_what_connect_can_do(reported: str, to: Destination, level: Level | None, said: str) -> None:
    made = plan(SINK, to, reported)
    check_finding(made, "client-support", level, said)
    if level is not None:
        assert the_finding(made, "client-support").remedy.startswith("Upgrade the Connect workers to ")


@pytest.mark.parametrize(
    ("group", "to", "lines"),
    [
        (
            SINK, CONSUMER,
            ["consumer.override.group.protocol=consumer", "consumer.override.group.remote.assignor=range",
             "# remove: consumer.override.partition.assignment.strategy",
             "# remove: consumer.override.session.timeout.ms", "# remove: consumer.override.heartbeat.interval.ms"],
        ),
        (
            SINK, COOPERATIVE,
            ["consumer.override.partition.assignment.strategy="
             "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"],
        ),
        (
            replace(SINK, protocol="cooperative-sticky"), EAGER,
            ["consumer.override.partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor"],
        ),
    ],
)  # fmt: skip
def test_a_connector_stops_and_starts_with_its_own_lines(
    group: Group, to: Destination, lines: list[str]
) -> None:
    made = plan(group, to, "connect:4.4.0")
    stop, start = made.steps
    assert made.verdict is not PlanVerdict.BLOCKED
    assert "PUT /connectors/s3/stop" in stop.actions[0]
    assert any("PUT /connectors/s3/config" in action for action in start.actions)
    assert any("PUT /connectors/s3/resume" in action for action in start.actions)
    assert [line for line in start.config if "consumer.override." in line and "connect:" not in line][
        -len(lines) :
    ] == lines
    assert any("connector.client.config.override.policy" in line for line in start.config)
    assert plan_from_data(json.loads(json.dumps(plan_to_data(made)))).steps == made.steps


def test_a_connectors_way_back_removes_the_remote_assignor() -> None:
    spoken = tuple(replace(one, protocol=MemberProtocol.CONSUMER, target=one.owned) for one in SINK.members)
    newer = replace(SINK, type=GroupType.CONSUMER, protocol="uniform", members=spoken)
    (*_, start) = plan(newer, CLASSIC, "connect:4.4.0").steps
    assert "consumer.override.group.protocol=classic" in start.config
    assert "# remove: consumer.override.group.remote.assignor" in start.config
    assert "# restore, if it was set: consumer.override.session.timeout.ms" in start.config


def test_the_plugin_must_bear_incremental_callbacks() -> None:
    remedy = the_finding(plan(SINK, COOPERATIVE, "connect:4.4.0"), "rebalance-listener").remedy
    assert "SinkTask.open() and close()" in remedy
    assert "onPartitionsRevoked" not in remedy


def test_of_a_workers_file_only_the_consumers_settings_count(tmp_path: Path) -> None:
    config = _file(tmp_path, WORKER)
    assert (config.library, config.known_by) == ("connect", "config.storage.topic is Connect's")
    made = plan(SINK, CONSUMER, configs=[config])
    assert found(made, "client-config-group") is None
    leftover = the_finding(made, "client-config-leftover")
    assert leftover.message.endswith(
        "contains consumer.session.timeout.ms (line 5), consumer.partition.assignment.strategy (line 6)."
    )
    assert found(plan(GROUP, CONSUMER, configs=[config]), "client-config-library") is not None


def test_a_connectors_configuration_as_the_rest_api_takes_it(tmp_path: Path) -> None:
    file = tmp_path / "s3.json"
    settings = {"connector.class": "S3", "consumer.override.session.timeout.ms": "20000", "topics": "orders"}
    file.write_text(json.dumps({"name": "s3", "config": settings}))
    config = read_client_config(str(file))
    assert config.library == "connect"
    leftover = the_finding(plan(SINK, CONSUMER, configs=[config]), "client-config-leftover")
    assert "config.consumer.override.session.timeout.ms" in leftover.message


@pytest.mark.parametrize(
    ("policy", "level", "said"),
    [
        (None, Level.INFO, "is unknown"),
        ("All", None, ""),
        ("Allowlist", Level.INFO, "It is Allowlist"),
        ("None", Level.WARNING, "is None: it refuses"),
        ("Principal", Level.WARNING, "is Principal: it refuses"),
        (
            "org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy",
            Level.WARNING,
            "is None",
        ),
        ("com.example.Ours", Level.INFO, "It is Ours"),
    ],
)
def test_the_workers_may_refuse_overrides(
    tmp_path: Path, policy: str | None, level: Level | None, said: str
) -> None:
    settings = {"connector.client.config.override.policy": policy} if policy else {}
    config = _file(tmp_path, {"config.storage.topic": "c", **settings})
    made = plan(SINK, CONSUMER, configs=[config])
    check_finding(made, "connect-override", level, said)
    assert found(plan(GROUP, CONSUMER), "connect-override") is None
