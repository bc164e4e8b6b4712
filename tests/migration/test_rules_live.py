"""What rules and paths rest on, with real clients on a real broker."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, KafkaException

from groups.model import Subscription
from migration.paths.configuration import assignors
from tests.cli.sources.live_source import live_source
from tests.kafka.broker import Broker
from tests.kafka.columns import parse
from tests.kafka.groups import describe, wait_group
from tests.kafka.member import Member
from tests.kafka.members import Members, fresh_name
from tests.kafka.tool_host import CONSUMER_GROUPS, ToolHost
from tests.kafka.topics import create_topics, fresh_topic
from tests.kafka.wait import wait_until
from tests.support.long import LONG

COOPERATIVE, RANGE = "cooperative-sticky", "range"


@pytest.mark.kafka
@pytest.mark.parametrize("library", ["librdkafka", pytest.param("java", marks=LONG)])
def test_the_successor_of_a_killed_static_member(broker: Broker, members: Members, library: str) -> None:
    """A classic group lets it in; in a consumer group it fails until the session of the killed one has ended."""
    topic = fresh_name("seats")
    create_topics(broker, {topic: 2})

    def start(group: str, protocol: str) -> Member:
        settings: dict[str, Any] = {"group_protocol": protocol, "group_instance_id": "seat"}
        if library == "librdkafka":
            return members.confluent(broker, group, [topic], **settings)
        return members.java(broker, group, [topic], own_process=True, **settings)

    for protocol in ("classic", "consumer"):
        group = fresh_name(protocol)
        first = start(group, protocol)
        first.wait_assignment({topic: [0, 1]})
        first.crash()
        successor = start(group, protocol)
        if protocol == "classic":
            successor.wait_assignment({topic: [0, 1]})
            continue
        reason = successor.wait_event("error").reason or ""
        assert "instance id" in reason.lower()
        wait_group(broker, group, members=0, state="Empty")
        start(group, protocol).wait_assignment({topic: [0, 1]})


@pytest.mark.kafka
def test_librdkafka_reports_a_missing_topic_in_a_classic_group_only(broker: Broker, members: Members) -> None:
    topic, missing = fresh_name("orders"), fresh_name("missing")
    create_topics(broker, {topic: 1})
    started = {
        protocol: members.confluent(broker, fresh_name(protocol), [topic, missing], group_protocol=protocol)
        for protocol in ("classic", "consumer")
    }
    assert "Unknown topic" in (started["classic"].wait_event("error").reason or "")
    started["consumer"].wait_assignment({topic: [0]})
    assert not [event for event in started["consumer"].events() if event.kind == "error"]


@pytest.mark.kafka
def test_a_java_pattern_is_not_sent_to_the_broker(broker: Broker, members: Members) -> None:
    """RE2/J has no look-ahead: the broker would refuse this one from anybody who sends it."""
    prefix = fresh_name("java-regex")
    create_topics(broker, {f"{prefix}-{name}": 1 for name in ("orders", "audit")})
    group = fresh_name("group")
    pattern = f"{prefix}-(?!audit).*"
    running = members.java(broker, group, pattern=pattern, group_protocol="consumer")
    running.wait_assignment({f"{prefix}-orders": [0]})
    with live_source(broker) as source:
        (description,) = source.describe([group], offsets=False).items
    (subscribed,) = [member.subscription for member in description.members]
    assert subscribed == Subscription(topics=(f"{prefix}-orders",))


@pytest.mark.kafka
def test_what_java_makes_of_the_proposals_settings(broker: Broker, members: Members) -> None:
    """KIP-848's `generic` is refused, its `group.local.assignors` ignored."""
    topic = fresh_topic(broker, 1)
    refused = members.java(broker, fresh_name("group"), [topic], group_protocol="generic")
    assert "generic" in (refused.wait_event("error").reason or "")
    ignored = members.java(broker, fresh_name("group"), [topic], group_local_assignors="org.example.Mine")
    ignored.wait_assignment({topic: [0]})


def test_what_librdkafka_makes_of_them() -> None:
    for name, value in (("group.protocol", "generic"), ("group.local.assignors", "org.example.Mine")):
        with pytest.raises(KafkaException, match=f'configuration property[: ]+"{name}"'):
            Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", name: value})


@pytest.mark.parametrize(("protocol", "keeps"), [("classic", True), ("consumer", False)])
def test_a_static_member_that_closes(broker: Broker, protocol: str, keeps: bool) -> None:
    topic, group = fresh_topic(broker, 4), f"static-{uuid4()}"
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": group, "group.protocol": protocol}
    first, second = (Consumer({**settings, "group.instance.id": name}) for name in "ab")
    for consumer in (first, second):
        consumer.subscribe([topic])
    both = _polled(lambda: _owned(first) == _owned(second) == 2, first, second)
    wait_until(both, "both own two partitions")
    first.close()
    if keeps:
        view = wait_until(lambda: describe(broker, group), "the group is described")
        assert {member.instance for member in view.members} == {"a", "b"}
    else:
        # The session of 45 s has not ended when the partitions are with the other one.
        wait_until(_polled(lambda: _owned(second) == 4, second), "the other member owns all", timeout_s=30)
    second.close()


def _owned(consumer: Consumer) -> int:
    return len(consumer.assignment())


def _polled(condition: Callable[[], bool], *consumers: Consumer) -> Callable[[], bool]:
    def polled() -> bool:
        for consumer in consumers:
            consumer.poll(0.1)
        return condition()

    return polled


@LONG
@pytest.mark.kafka
def test_the_protocol_turns_with_the_last_member(broker: Broker, members: Members, tools: ToolHost) -> None:
    topic, group = fresh_topic(broker, 6), fresh_name("payments")

    running: dict[str, Member] = {}

    def reported() -> str:
        (row,) = parse(tools.ask(broker, CONSUMER_GROUPS, "--describe", "--group", group, "--state").stdout)
        return str(row["ASSIGNMENT-STRATEGY"]).strip("-")

    def protocol() -> str:
        # Cooperative members rebalance once more, and no protocol is shown meanwhile.
        return wait_until(reported, "the group has a protocol")

    def start(name: str, *names: str) -> None:
        strategy = assignors(["java"], names)[1].partition("=")[2]
        running[name] = members.java(broker, group, [topic], name, partition_assignment_strategy=strategy)
        wait_group(broker, group, members=len(running))

    for name in ("a", "b", "c"):
        start(name, COOPERATIVE)
    seen = [protocol()]
    for bounce in ((RANGE, COOPERATIVE), (RANGE,)):
        for name in list(running):
            running.pop(name).stop()
            wait_group(broker, group, members=len(running))
            start(name, *bounce)
            seen.append(protocol())
    assert seen == [COOPERATIVE] * 3 + [RANGE] * 4
