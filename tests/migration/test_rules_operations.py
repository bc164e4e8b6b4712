"""Changes for the operators of the members."""

from dataclasses import replace

import pytest

from groups.findings import Level
from groups.model import Cluster, Group
from migration.model import Destination
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.member import Member
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.migration.cases import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EAGER,
    EMPTY,
    GROUP,
    NEW,
    NEWER,
    check_finding,
    found,
    group_of,
    plan,
    the_finding,
)

LIBRDKAFKA = group_of("librdkafka:2.16.0", "range")
MIXED_LIBRARIES = replace(LIBRDKAFKA, members=(LIBRDKAFKA.members[0], GROUP.members[1]))
ARRIVED = replace(
    NEWER,
    members=tuple(replace(one, client=LIBRDKAFKA.members[0].client) for one in NEWER.members),
)
SESSION = "group.consumer.session.timeout.ms"


@pytest.mark.parametrize(
    ("kafka", "level", "said"),
    [
        ("4.0", Level.WARNING, "The brokers are 4.0. They refuse"),
        ("4.2.1", Level.WARNING, "The brokers are 4.2.1. They refuse"),
        ("4.3", None, ""),
        ("4.3.1", None, ""),
        ("4.10", None, ""),
        ("4.5 or later", None, ""),
        ("4.1 or later", Level.INFO, "Brokers older than 4.3 refuse"),
        (None, Level.INFO, "Brokers older than 4.3 refuse"),
        ("trunk", Level.INFO, "Brokers older than 4.3 refuse"),
    ],
)
def test_commits_of_an_older_epoch(kafka: str | None, level: Level | None, said: str) -> None:
    cluster = replace(NEW, kafka=kafka)
    check_finding(plan(GROUP, CONSUMER, cluster=cluster), "stale-commits", level, said)
    for group, to in ((GROUP, COOPERATIVE), (NEWER, CONSUMER)):
        assert found(plan(group, to, cluster=cluster), "stale-commits") is None


@pytest.mark.parametrize(
    ("group", "to", "session_ms", "said"),
    [
        (LIBRDKAFKA, CONSUMER, None, "45 s"),
        (LIBRDKAFKA, CONSUMER, "60000", "60 s"),
        (LIBRDKAFKA, CONSUMER, "6000", "45 s"),
        (MIXED_LIBRARIES, CONSUMER, None, "45 s"),
        (GROUP, CONSUMER, None, None),
        (LIBRDKAFKA, COOPERATIVE, None, None),
        (group_of("librdkafka:2.16.0", "cooperative-sticky"), EAGER, None, None),
        (ARRIVED, CONSUMER, None, None),
    ],
)
def test_how_long_a_shutdown_may_take(
    group: Group, to: Destination, session_ms: str | None, said: str | None
) -> None:
    cluster = NEW if session_ms is None else replace(NEW, settings={SESSION: session_ms})
    finding = found(plan(group, to, cluster=cluster), "shutdown-grace")
    if said is None:
        assert finding is None
        return
    assert finding is not None
    assert finding.level is Level.WARNING
    assert f"more than {said}" in finding.remedy
    assert "terminationGracePeriodSeconds" in finding.remedy


def test_only_members_of_librdkafka_are_named() -> None:
    assert the_finding(plan(MIXED_LIBRARIES, CONSUMER), "shutdown-grace").member == "m1"


@pytest.mark.parametrize("rule", ["fetch-without-coordinator", "missing-topics"])
def test_what_is_new_for_librdkafka(rule: str) -> None:
    check_finding(plan(LIBRDKAFKA, CONSUMER), rule, Level.INFO, "consumer protocol")
    check_finding(plan(EMPTY, CONSUMER, "librdkafka:2.16.0"), rule, Level.INFO)
    assert found(plan(GROUP, CONSUMER), rule) is None
    assert found(plan(LIBRDKAFKA, COOPERATIVE), rule) is None


def test_monitoring_that_loses_the_group_is_named() -> None:
    finding = the_finding(plan(GROUP, CONSUMER), "old-tools")
    assert finding.level is Level.WARNING
    for name in ("kafka_exporter", "KMinion", "Redpanda Console", "sarama"):
        assert name in finding.message
    for group, to in ((GROUP, COOPERATIVE), (NEWER, CONSUMER), (NEWER, CLASSIC)):
        assert found(plan(group, to), "old-tools") is None


def test_metrics_that_get_new_names() -> None:
    java = the_finding(plan(GROUP, CONSUMER), "renamed-metrics")
    assert java.level is Level.INFO
    assert "join-*" in java.message
    assert "consumer-group-rebalance-*" in java.message
    assert "join-*" not in the_finding(plan(LIBRDKAFKA, CONSUMER), "renamed-metrics").message
    assert found(plan(GROUP, COOPERATIVE), "renamed-metrics") is None
    assert found(plan(NEWER, CLASSIC), "renamed-metrics") is None


def test_the_classic_protocol_has_no_future_in_java() -> None:
    check_finding(plan(NEWER, CLASSIC), "classic-deprecated", Level.WARNING, "removed in 6.0")
    check_finding(plan(NEWER, CLASSIC, "connect"), "classic-deprecated", Level.WARNING)
    assert found(plan(NEWER, CLASSIC, "librdkafka:2.16.0"), "classic-deprecated") is None
    assert found(plan(GROUP, CONSUMER), "classic-deprecated") is None


@pytest.mark.parametrize(
    ("kafka", "said"),
    [
        ("4.2", ["Add consumer to it on every broker. Restart"]),
        ("4.3", ["Remove the setting from every broker", "removed in 5.0"]),
        (None, ["Add consumer to it", "From 4.3 on: remove the setting"]),
    ],
)
def test_how_a_protocol_is_enabled_depends_on_the_release(kafka: str | None, said: list[str]) -> None:
    settings = {"group.coordinator.rebalance.protocols": "classic"}
    finding = the_finding(
        plan(GROUP, CONSUMER, cluster=replace(NEW, kafka=kafka, settings=settings)), "rebalance-protocols"
    )
    assert all(words in finding.remedy for words in said)
    assert ("5.0" in finding.remedy) == (kafka != "4.2")


def test_a_gateway_may_be_in_the_way() -> None:
    finding = the_finding(plan(GROUP, CONSUMER, cluster=Cluster(consumer_protocol=False)), "broker-version")
    assert "gateway" in finding.message
    assert "Conduktor Gateway" in finding.remedy


def test_the_rack_aware_assignor_of_the_tests_is_not_advised() -> None:
    group = replace(GROUP, members=tuple(replace(one, rack="a") for one in GROUP.members))
    assert "Do not copy the rack-aware" in the_finding(plan(group, CONSUMER), "rack-awareness").remedy


@pytest.mark.parametrize(
    ("settings", "said"),
    [({}, "(45 s)"), ({SESSION: "30000"}, "(30 s)")],
)
def test_a_crashed_static_member_keeps_its_seat(settings: dict[str, str], said: str) -> None:
    static = replace(GROUP, members=(replace(GROUP.members[0], instance="seat-1"), GROUP.members[1]))
    cluster = replace(NEW, settings={"group.consumer.migration.policy": "bidirectional", **settings})
    remedy = the_finding(plan(static, CONSUMER, cluster=cluster), "static-member").remedy
    assert f"until its session expires {said}" in remedy
    back = replace(NEWER, members=(replace(NEWER.members[0], instance="seat-1"), NEWER.members[1]))
    assert "CrashLoopBackOff" not in the_finding(plan(back, CLASSIC), "static-member").remedy


@pytest.mark.kafka
@pytest.mark.parametrize("library", ["librdkafka", "java"])
def test_the_successor_of_a_killed_static_member(broker: Broker, members: Members, library: str) -> None:
    """A classic group lets it in; in a consumer group it fails until the session of the killed one has ended."""
    topic = fresh_name("seats")
    create_topics(broker, {topic: 2})

    def start(group: str, protocol: str) -> Member:
        if library == "librdkafka":
            return members.confluent(
                broker, group, [topic], group_protocol=protocol, group_instance_id="seat"
            )
        return members.java(
            broker, group, [topic], own_process=True, group_protocol=protocol, group_instance_id="seat"
        )

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
