"""Kafka Streams on the classic protocol (A04, A05, A43): what `describe` and `diagnose` show of applications of five
releases is what their threads said. Recorded on a real broker: `KOHORT_LONG=1 KOHORT_WRITE_GOLDEN=1`."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import Producer

from tests.cli.command import Kohort
from tests.kafka import jars
from tests.kafka.broker import Broker
from tests.kafka.classic_streams import ClassicStreams, Tasks
from tests.kafka.coordinator import running_broker
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.support.golden import GOLDEN, assert_recorded
from tests.support.long import LONG

SNAPSHOT, SAID = GOLDEN / "classic_streams" / "groups.yaml", GOLDEN / "classic_streams" / "said.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """Instances by release, started one after the other, with the settings of each and of all."""

    instances: tuple[tuple[str, Mapping[str, str]], ...]
    topics: str = "orders,clicks"
    settings: Mapping[str, str] = field(default_factory=dict)


COPIES = {"num.standby.replicas": "1", "num.stream.threads": "2"}
EAGER = {"upgrade.from": "2.3"}
WARMING = {"acceptable.recovery.lag": "0", "commit.interval.ms": "1000"}
APPLICATIONS = {
    "r2.3.1": Application(instances=(("2.3.1", {}), ("2.3.1", {})), settings=COPIES),
    "r2.8.2-eager": Application(instances=(("2.8.2", EAGER), ("2.8.2", EAGER)), settings=COPIES),
    "r3.9.1": Application(instances=(("3.9.1", {}), ("3.9.1", {})), settings=COPIES),
    "r4.4.0": Application(instances=(("4.4.0", {}), ("4.4.0", {})), settings=COPIES),
    "mixed": Application(instances=(("2.3.1", {}), ("3.9.1", EAGER))),
    "held-back": Application(instances=(("2.8.2", {"upgrade.from": "1.1"}),)),
    "warming-up": Application(instances=(("4.4.0", {}), ("4.4.0", {})), topics="many", settings=WARMING),
}


def shown_tasks(document: Mapping[str, Any]) -> Tasks:
    """The tasks that a JSON document of describe has for each thread, in the form of what threads say."""
    return {
        member["client_id"]: {
            "active": member["streams"]["assignment"]["active"],
            "standby": sorted(
                member["streams"]["assignment"]["standby"]
                + (member["streams"]["assignment"]["warm_ups"] or [])
            ),
        }
        for group in document["groups"]
        for member in group["members"]
    }


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running_broker(jars.fetch(), tmp_path_factory.mktemp("broker")) as broker:
        create_topics(broker, {"orders": 4, "clicks": 2, "many": 3})
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        for topic, count in {"orders": 200, "clicks": 200, "many": 100_000}.items():
            for number in range(count):
                producer.produce(topic, key=str(number), value="x")
                if number % 10_000 == 0:
                    producer.flush()
        producer.flush()
        yield broker


@pytest.mark.kafka
@LONG
def test_describe_shows_what_the_threads_of_real_applications_say(
    kohort: Kohort, broker: Broker, tmp_path: Path
) -> None:
    """A04 A05 A43: of each thread, its active tasks and copies equal `metadataForLocalThreads`."""
    groups: dict[str, Any] = {}
    said: dict[str, Tasks] = {}
    topics: dict[str, Any] = {}
    for name, application in APPLICATIONS.items():
        with ExitStack() as stack:
            running: list[ClassicStreams] = []
            for number, (release, settings) in enumerate(application.instances, 1):
                server = {"application.server": f"host-{number}.example:8080"}
                instance = ClassicStreams(
                    broker,
                    tmp_path,
                    release,
                    name,
                    application.topics,
                    f"{name}-{number}",
                    server | dict(application.settings) | dict(settings),
                )
                stack.callback(instance.kill)
                running.append(instance)
                _settle(kohort, broker, name, running)
            # The assignment may still change by the next follow-up rebalance.
            time.sleep(5)
            said[name] = _settle(kohort, broker, name, running)
            in_log = kohort.quick(f"describe {name} --members --output json --log-dir", broker.data)
            assert shown_tasks(in_log.document) == said[name]
            answer = kohort.quick("snapshot", name, "-b", broker.bootstrap).succeeded()
            saved = yaml.safe_load(answer.stdout)
            groups |= saved["groups"]
            topics |= {
                topic: saved["topics"][topic] for topic in saved["topics"] if not topic.startswith("__")
            }
    assert said.keys() == APPLICATIONS.keys()
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        SNAPSHOT.parent.mkdir(exist_ok=True)
        SNAPSHOT.write_text(yaml.safe_dump({"kohort": 1, "topics": topics, "groups": groups}, width=500))
        SAID.write_text(json.dumps(said, indent=1) + "\n")


def _settle(kohort: Kohort, broker: Broker, group: str, running: list[ClassicStreams]) -> Tasks:
    """Wait until the threads hold what describe shows; what they say."""

    def equal() -> Tasks | None:
        answer = kohort.quick("describe", group, "--members", "--output", "json", "-b", broker.bootstrap)
        if answer.status != 0 or answer.document["groups"][0]["state"] != "Stable":
            return None
        said = {name: tasks for instance in running for name, tasks in instance.tasks.items()}
        is_running = all(instance.state == "RUNNING" for instance in running)
        return said if is_running and shown_tasks(answer.document) == said else None

    return wait_until(equal, f"describe shows what the threads of {group} say", timeout_s=90, every_s=1)


def test_a_snapshot_keeps_what_the_threads_said(kohort: Kohort) -> None:
    """A04 A05 A43"""
    said: dict[str, Tasks] = json.loads(SAID.read_text())
    assert said.keys() == APPLICATIONS.keys()
    for name, tasks in said.items():
        answer = kohort.quick(f"describe {name} --members --output json --snapshot", SNAPSHOT)
        assert shown_tasks(answer.document) == tasks, name


def test_what_is_shown_of_the_recorded_applications(kohort: Kohort) -> None:
    def shown(line: str) -> str:
        return kohort.quick(f"{line} --snapshot", SNAPSHOT).succeeded().stdout

    answers = {
        f"{name} {mode}": shown(f"describe {name} {mode}")
        for name, mode in (
            ("r4.4.0", "--members"),
            ("mixed", "--members"),
            ("mixed", "--migration"),
            ("held-back", "--members --verbose"),
            ("warming-up", "--members"),
        )
    }
    answers["diagnose"] = shown("diagnose --all-groups --verbose")
    assert_recorded("classic_streams/shown.txt", answers)


def test_a_probing_rebalance_and_its_warm_ups_are_named(kohort: Kohort) -> None:
    """A43"""
    answer = kohort.quick("describe warming-up --members --snapshot", SNAPSHOT)
    second = "warming-up-2-StreamThread-1-consumer"
    assert "by warming-up-1-StreamThread-1-consumer. It checks whether its warm-ups" in answer.stderr
    assert f"have caught up: 0_0 on {second}, 0_2 on {second}." in answer.stderr


def test_unreadable_data_is_said_and_the_rest_is_shown(kohort: Kohort, tmp_path: Path) -> None:
    saved = yaml.safe_load(SNAPSHOT.read_text())
    groups = {"mixed": saved["groups"]["mixed"]}
    first = groups["mixed"]["members"][0]
    first["user_data"]["assignment"] = "AAAADA=="
    file = tmp_path / "groups.yaml"
    file.write_text(yaml.safe_dump({"kohort": 1, "groups": groups}))
    answer = kohort.quick("describe mixed --members --output json --snapshot", file)
    said = "AssignmentInfo has version 12; the newest known is 11"
    assert said in answer.stderr
    threads = [member["streams"] for member in answer.document["groups"][0]["members"]]
    assert [thread["unreadable"] for thread in threads] == [said, None]
    assert threads[0]["assignment"] is None
    assert threads[1]["assignment"]["active"] == ["0_2", "0_3", "1_1"]


@pytest.mark.kafka
@LONG
def test_a_shutdown_that_an_instance_requests_is_found(
    kohort: Kohort, broker: Broker, tmp_path: Path
) -> None:
    """A05: while the instances shut down, the leader's error is in the assignments."""
    group = "failing"
    create_topics(broker, {"doomed": 2})
    with ExitStack() as stack:
        running = []
        for number in (1, 2):
            instance = ClassicStreams(
                broker, tmp_path, "3.9.1", group, "doomed", f"{group}-{number}", {}, fails=True
            )
            stack.callback(instance.kill)
            running.append(instance)
        _settle(kohort, broker, group, running)
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        producer.produce("doomed", key="1", value="fail")
        producer.flush()

        def errors() -> set[str] | None:
            answer = kohort.quick(f"diagnose {group} --output json -b {broker.bootstrap}")
            findings = answer.document["groups"][0]["findings"] if answer.status in (0, 1) else []
            return {one["message"] for one in findings if one["rule"] == "streams-error"} or None

        (message,) = wait_until(errors, "diagnose finds the error", timeout_s=90, every_s=1)
        assert "SHUTDOWN_REQUESTED" in message
