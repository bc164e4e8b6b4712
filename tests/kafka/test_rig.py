"""The rig itself: every kind of consumer joins, and Kafka's own tool shows it with its partitions."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.kafka import columns
from tests.kafka.broker import Broker, BrokerFailedError
from tests.kafka.connect import join_connect_group
from tests.kafka.groups import describe, wait_group
from tests.kafka.member import Member
from tests.kafka.members import Members, fresh_name
from tests.kafka.plugin import StartBroker
from tests.kafka.ports import is_free
from tests.kafka.tool_host import CONSUMER_GROUPS, DUMP_LOG, SHARE_GROUPS, STREAMS_GROUPS, ToolHost
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
    (row,) = members_shown(subject)
    assert row["CONSUMER-ID"] == member.member_id() == view.members[0].member_id
    assert row["CLIENT-ID"] == member.name
    assert row["CURRENT-ASSIGNMENT"] == f"{subject.topic}:0,1,2"
    assert view.members[0].assignment == {subject.topic: [0, 1, 2]}


def members_shown(subject: Subject, tool: str = CONSUMER_GROUPS) -> list[columns.Row]:
    """Return the rows of a tool's `--describe --members --verbose`."""
    asked = ("--describe", "--group", subject.group, "--members", "--verbose")
    said = subject.tools.ask(subject.broker, tool, *asked)
    assert said.returncode == 0, said
    return columns.parse(said.stdout)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_static_member_keeps_its_instance_id(subject: Subject, protocol: str) -> None:
    first = subject.members.confluent(
        subject.broker, subject.group, [subject.topic], group_protocol=protocol, group_instance_id="a"
    )
    first.wait_assignment({subject.topic: [0, 1, 2]})
    subject.members.java(
        subject.broker, subject.group, [subject.topic], group_protocol=protocol, group_instance_id="b"
    )
    view = wait_group(subject.broker, subject.group, members=2)
    assert {member.instance for member in view.members} == {"a", "b"}
    assert {row["GROUP-INSTANCE-ID"] for row in members_shown(subject)} == {"a", "b"}


def test_a_share_consumer_is_shown(subject: Subject) -> None:
    member = subject.members.share(subject.broker, subject.group, [subject.topic])
    member.wait_event("started")
    view = wait_group(subject.broker, subject.group, members=1)
    assert (view.kind, view.members[0].client_id) == ("share", member.name)
    (row,) = members_shown(subject, SHARE_GROUPS)
    assert row["CONSUMER-ID"] == view.members[0].member_id
    assert row["GROUP"] == subject.group


def test_a_streams_application_is_shown(subject: Subject) -> None:
    member = subject.members.streams(subject.broker, subject.group, [subject.topic])
    member.wait_assignment({subject.topic: [0, 1, 2]})
    view = wait_group(subject.broker, subject.group, members=1)
    assert view.kind == "streams"
    assert view.members[0].assignment == {subject.topic: [0, 1, 2]}
    (row,) = members_shown(subject, STREAMS_GROUPS)
    assert row["MEMBER"] == view.members[0].member_id
    assert "ACTIVE: 0:[0,1,2]" in row["ASSIGNMENTS"]


def test_a_connect_group_is_shown(broker: Broker) -> None:
    group = fresh_name("connect")
    member_id = join_connect_group(broker, group)
    view = wait_group(broker, group, members=1)
    assert (view.kind, view.protocol_type, view.members[0].member_id) == ("classic", "connect", member_id)


def test_two_clients_share_a_group_and_one_leaves(subject: Subject) -> None:
    java = subject.members.java(subject.broker, subject.group, [subject.topic])
    confluent = subject.members.confluent(
        subject.broker, subject.group, [subject.topic], partition_assignment_strategy="range"
    )
    wait_group(subject.broker, subject.group, members=2)
    confluent.wait_event("assigned")
    confluent.stop()
    java.wait_assignment({subject.topic: [0, 1, 2]})
    assert [event.kind for event in confluent.events()][-2:] == ["revoked", "stopped"]


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


def test_a_member_that_shares_its_jvm_refuses_to_crash(subject: Subject) -> None:
    member = subject.members.java(subject.broker, subject.group, [subject.topic])
    with pytest.raises(ValueError, match="own_process=True"):
        member.crash()


def test_the_log_segments_of_the_offsets_topic_are_decoded(subject: Subject) -> None:
    subject.members.confluent(subject.broker, subject.group, [subject.topic])
    wait_group(subject.broker, subject.group, members=1)
    segments = subject.broker.data.glob("__consumer_offsets-*/*.log")
    files = ",".join(str(segment) for segment in segments)
    said = subject.tools.run(DUMP_LOG, "--offsets-decoder", "--files", files)
    assert f'"group":"{subject.group}"' in said.stdout, said


def test_a_separate_broker_takes_settings_stops_and_starts_again(start_broker: StartBroker) -> None:
    own = start_broker({"group.max.size": "4"})
    assert "group.max.size = 4" in own.log.read_text()
    create_topics(own, {"orders": 1})
    own.stop()
    assert is_free(own.port)
    with pytest.raises(BrokerFailedError, match="does not run"):
        own.check_alive()
    own.start()
    own.check_alive()
    assert (own.data / "orders-0").is_dir()


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
