"""The rig itself: every kind of consumer joins, and Kafka's own tool shows it with its partitions."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.kafka import columns
from tests.kafka.broker import Broker, BrokerFailedError
from tests.kafka.child import ROOT
from tests.kafka.connect import join_connect_group
from tests.kafka.groups import describe, wait_group
from tests.kafka.member import Member
from tests.kafka.members import Members, fresh_name
from tests.kafka.plugin import REQUIRE, StartBroker
from tests.kafka.ports import is_free
from tests.kafka.tool_host import CONSUMER_GROUPS, ToolHost
from tests.kafka.topics import create_topics, fresh_topic

pytestmark = pytest.mark.kafka

JAVA_ASSIGNORS = "org.apache.kafka.clients.consumer."


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a starter of a consumer gets: where to join, and what to subscribe to."""

    members: Members
    broker: Broker
    tools: ToolHost
    group: str
    topic: str


NEW: Mapping[str, str] = {"group_protocol": "consumer"}


def strategy(*assignors: str) -> Mapping[str, str]:
    return {"partition_assignment_strategy": ",".join(assignors)}


CONSUMERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "confluent range": ("topic", strategy("range")),
    "confluent roundrobin": ("topic", strategy("roundrobin")),
    "confluent cooperative-sticky": ("topic", strategy("cooperative-sticky")),
    "confluent consumer protocol": ("topic", NEW),
    "confluent regex": ("regex", {}),
    "confluent consumer protocol regex": ("regex", NEW),
    "java range": ("topic", strategy(f"{JAVA_ASSIGNORS}RangeAssignor")),
    "java sticky": ("topic", strategy(f"{JAVA_ASSIGNORS}StickyAssignor")),
    "java cooperative and range": (
        "topic", strategy(f"{JAVA_ASSIGNORS}CooperativeStickyAssignor", f"{JAVA_ASSIGNORS}RangeAssignor"),
    ),
    "java pattern": ("pattern", {}),
    "java consumer protocol": ("topic", {**NEW, "client_rack": "a"}),
    "java consumer protocol re2": ("re2", NEW),
    "java consumer protocol pattern": ("pattern", NEW),
}  # fmt: skip
"""What each is subscribed by, and its settings."""


def started(subject: Subject, kind: str) -> Member:
    how, settings = CONSUMERS[kind]
    name = subject.topic
    by: dict[str, dict[str, Any]] = {
        "topic": {"topics": [name]},
        "regex": {"topics": [f"^{name}$"]},
        "pattern": {"pattern": f"{name}(?=$)"},
        "re2": {"re2": f"^{name}$"},
    }
    start = subject.members.confluent if kind.startswith("confluent") else subject.members.java
    return start(subject.broker, subject.group, **by[how], **settings)


@pytest.fixture
def subject(broker: Broker, members: Members, tools: ToolHost) -> Subject:
    """Give a group of the test's own and a topic of three partitions."""
    topic = fresh_topic(broker, 3)
    return Subject(members=members, broker=broker, tools=tools, group=fresh_name("payments"), topic=topic)


@pytest.mark.parametrize("kind", CONSUMERS)
def test_every_kind_of_consumer_is_shown_by_kafkas_own_tool(subject: Subject, kind: str) -> None:
    member = started(subject, kind)
    member.wait_assignment({subject.topic: [0, 1, 2]})
    view = wait_group(subject.broker, subject.group, members=1)
    assert view.kind == ("consumer" if "consumer protocol" in kind else "classic")
    asked = ("--describe", "--group", subject.group, "--members", "--verbose")
    said = subject.tools.ask(subject.broker, CONSUMER_GROUPS, *asked)
    assert said.returncode == 0, said
    (row,) = columns.parse(said.stdout)
    assert row["CONSUMER-ID"] == member.member_id() == view.members[0].member_id
    assert row["CLIENT-ID"] == member.name
    assert row["CURRENT-ASSIGNMENT"] == f"{subject.topic}:0,1,2"
    assert view.members[0].assignment == {subject.topic: [0, 1, 2]}


def test_a_connect_group_is_shown(broker: Broker) -> None:
    group = fresh_name("connect")
    member_id = join_connect_group(broker, group)
    view = wait_group(broker, group, members=1)
    assert (view.kind, view.protocol_type, view.members[0].member_id) == ("classic", "connect", member_id)


def test_a_killed_member_stays_in_the_group_until_its_session_ends(subject: Subject) -> None:
    where = (subject.broker, subject.group, [subject.topic])
    both = (
        subject.members.confluent(*where, session_timeout_ms=6000),
        subject.members.java(*where, own_process=True, session_timeout_ms=6000),
    )
    wait_group(subject.broker, subject.group, members=2)
    for member in both:
        member.crash()
    view = describe(subject.broker, subject.group)
    assert view is not None
    assert len(view.members) == 2
    wait_group(subject.broker, subject.group, members=0, state="Empty")


def test_a_separate_broker_takes_settings_stops_and_starts_again(start_broker: StartBroker) -> None:
    broker = start_broker({"group.max.size": "4"})
    assert "group.max.size = 4" in broker.log.read_text()
    create_topics(broker, {"orders": 1})
    broker.stop()
    assert is_free(broker.port)
    with pytest.raises(BrokerFailedError, match="does not run"):
        broker.check_alive()
    broker.start()
    broker.check_alive()
    assert (broker.data / "orders-0").is_dir()


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("num.network.threads", "none", r"num\.network\.threads"),
        # The formatter does not look at it, the broker does.
        ("offsets.topic.compression.codec", "99", "99"),
    ],
)
def test_a_broken_setting_shows_the_log(
    kafka_jars: Path, tmp_path: Path, setting: str, value: str, message: str
) -> None:
    with pytest.raises(BrokerFailedError, match=message):
        Broker(kafka_jars, tmp_path, {setting: value}).start()


@pytest.mark.parametrize(("required", "status"), [("0", 0), ("1", 1)])
def test_without_java_tests_are_skipped_or_fail(required: str, status: int) -> None:
    """Run one test where no program can be found; the summary counts the skipped one."""
    name = f"{__file__}::test_a_connect_group_is_shown"
    said = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", name],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PATH": "/nowhere", REQUIRE: required},
    )
    assert said.returncode == status, said
    assert "no java on PATH" in said.stdout
    assert ("Skipped for want of a real Kafka broker: 1" in said.stdout) is (status == 0)
