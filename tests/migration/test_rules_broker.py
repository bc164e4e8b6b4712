"""What the brokers' settings allow."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from groups.findings import Level
from groups.model import Cluster, Group, MemberProtocol, Subscription
from migration.model import Destination
from tests.migration.cases import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EMPTY,
    GROUP,
    MIXED,
    NEW,
    NEWER,
    blockers,
    check_finding,
    found,
    group_of,
    plan,
    policy,
    the_finding,
    upgraded,
)

BRIDGED = group_of("librdkafka:2.16.0", "cooperative-sticky")
POLICY = "group.consumer.migration.policy"


@pytest.mark.parametrize(
    ("group", "to", "value", "level", "said"),
    [
        (GROUP, CONSUMER, "disabled", Level.BLOCKER, "GROUP_ID_NOT_FOUND"),
        (GROUP, CONSUMER, "DISABLED", Level.BLOCKER, "GROUP_ID_NOT_FOUND"),
        (GROUP, CONSUMER, "downgrade", Level.BLOCKER, "GROUP_ID_NOT_FOUND"),
        (GROUP, CONSUMER, "upgrade", Level.WARNING, "no online rollback"),
        (GROUP, CONSUMER, "bidirectional", None, ""),
        (EMPTY, CONSUMER, "disabled", None, ""),
        (MIXED, CONSUMER, "disabled", None, ""),
        (GROUP, COOPERATIVE, "disabled", None, ""),
        (NEWER, CLASSIC, "disabled", Level.BLOCKER, "INCONSISTENT_GROUP_PROTOCOL"),
        (NEWER, CLASSIC, "upgrade", Level.BLOCKER, "does not become classic"),
        (MIXED, CLASSIC, "upgrade", Level.BLOCKER, "does not become classic"),
        (NEWER, CLASSIC, "downgrade", None, ""),
        (NEWER, CLASSIC, "bidirectional", None, ""),
    ],
)
def test_what_a_policy_means(
    group: Group, to: Destination, value: str, level: Level | None, said: str
) -> None:
    finding = found(plan(group, to, "java:4.1", cluster=policy(NEW, value)), "migration-policy")
    assert (finding and finding.level) is level
    if finding is not None:
        assert said in finding.message
        assert "bidirectional" in finding.remedy


def test_an_offline_plan_needs_no_policy() -> None:
    made = plan(GROUP, CONSUMER, cluster=policy(NEW, "disabled"), offline=True)
    assert blockers(made) == []
    assert next(step.id for step in made.steps).startswith("stop")


@pytest.mark.parametrize(
    ("group", "to", "name", "most", "level", "said"),
    [
        (GROUP, CONSUMER, "group.consumer.max.size", 1, Level.BLOCKER, "'the group size exceeds'"),
        (GROUP, CONSUMER, "group.consumer.max.size", 2, Level.WARNING, "GROUP_MAX_SIZE_REACHED"),
        (GROUP, CONSUMER, "group.consumer.max.size", 3, None, ""),
        (BRIDGED, CONSUMER, "group.consumer.max.size", 3, Level.BLOCKER, "a bridge leader, one more member"),
        (BRIDGED, CONSUMER, "group.consumer.max.size", 4, None, ""),
        (GROUP, CONSUMER, "group.max.size", 1, None, ""),
        (GROUP, COOPERATIVE, "group.consumer.max.size", 1, None, ""),
        (MIXED, CONSUMER, "group.consumer.max.size", 1, Level.BLOCKER, "cannot rejoin"),
        (MIXED, CONSUMER, "group.consumer.max.size", 2, None, ""),
        (NEWER, CLASSIC, "group.max.size", 1, Level.BLOCKER, "does not convert it to classic"),
        (NEWER, CLASSIC, "group.max.size", 2, Level.WARNING, "GROUP_MAX_SIZE_REACHED"),
        (NEWER, CLASSIC, "group.consumer.max.size", 1, None, ""),
    ],
)
def test_how_large_a_group_may_be(
    group: Group, to: Destination, name: str, most: int, level: Level | None, said: str
) -> None:
    cluster = replace(NEW, settings={name: str(most)})
    check_finding(plan(group, to, cluster=cluster), "group-size", level, said)


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        (NEW, "are unknown from this source"),
        (
            replace(
                NEW, settings_problem="broker 1: Cluster authorization failed. (CLUSTER_AUTHORIZATION_FAILED)"
            ),
            "CLUSTER_AUTHORIZATION_FAILED",
        ),
        (
            replace(NEW, settings={POLICY: "bidirectional"}, settings_problem="broker 2: no answer"),
            "some brokers",
        ),
        (replace(NEW, settings={"group.consumer.max.size": "9"}), "is not among the brokers' settings"),
        (
            replace(NEW, settings={}, settings_differ={POLICY: ("bidirectional", "disabled")}),
            "different values of group.consumer.migration.policy: bidirectional, disabled",
        ),
    ],
)
def test_settings_that_are_not_known(cluster: Cluster, said: str) -> None:
    finding = the_finding(plan(GROUP, CONSUMER, cluster=cluster), "broker-settings")
    assert finding.level is Level.WARNING
    assert said in finding.message
    assert found(plan(GROUP, COOPERATIVE, cluster=cluster), "broker-settings") is None
    assert found(plan(EMPTY, CONSUMER, "java:4.1", cluster=cluster), "broker-settings") is None


@pytest.mark.parametrize(
    ("settings", "rule", "level"),
    [
        ({"group.coordinator.rebalance.protocols": "classic"}, "rebalance-protocols", Level.BLOCKER),
        ({"group.coordinator.rebalance.protocols": "classic,consumer,streams"}, "rebalance-protocols", None),
        ({"group.consumer.assignors": "uniform"}, "assignor-successor", Level.WARNING),
        ({"group.consumer.assignors": "uniform,range"}, "assignor-successor", Level.INFO),
        (
            {"group.consumer.assignors": "org.apache.kafka.coordinator.group.assignor.RangeAssignor"},
            "assignor-successor",
            Level.INFO,
        ),
    ],
)
def test_what_brokers_are_set_to(settings: Mapping[str, str], rule: str, level: Level | None) -> None:
    check_finding(plan(GROUP, CONSUMER, cluster=replace(NEW, settings=settings)), rule, level)


def test_brokers_without_the_protocol() -> None:
    made = plan(GROUP, CONSUMER, cluster=Cluster(consumer_protocol=False))
    assert blockers(made) == ["broker-version"]
    assert found(made, "group-version") is None
    assert (
        found(plan(GROUP, CONSUMER, cluster=replace(NEW, consumer_protocol=True)), "broker-version") is None
    )


BY_REGEX = replace(upgraded("m1"), subscription=Subscription(regex="ord.*"))
REGEXES = replace(NEWER, members=(BY_REGEX, upgraded("m2", MemberProtocol.CLASSIC)))


@pytest.mark.parametrize(
    ("group", "kafka", "to", "rule", "level"),
    [
        (GROUP, "4.0", CONSUMER, "fenced-members", Level.INFO),
        (GROUP, "4.2-IV1", CONSUMER, "fenced-members", Level.INFO),
        (GROUP, "4.3", CONSUMER, "fenced-members", None),
        (GROUP, "4.10", CONSUMER, "fenced-members", None),
        (GROUP, None, CONSUMER, "fenced-members", None),
        (GROUP, "4.0", COOPERATIVE, "fenced-members", None),
        (GROUP, "0.8.2", COOPERATIVE, "broker-version", Level.BLOCKER),
        (GROUP, "0.9.0.1", COOPERATIVE, "broker-version", None),
        (REGEXES, "4.0", CLASSIC, "regex-rollback", Level.WARNING),
        (REGEXES, None, CLASSIC, "regex-rollback", Level.WARNING),
        (REGEXES, "4.1", CLASSIC, "regex-rollback", None),
        (REGEXES, "4.0", CONSUMER, "regex-rollback", None),
    ],
)
def test_faults_of_early_brokers(
    group: Group, kafka: str | None, to: Destination, rule: str, level: Level | None
) -> None:
    check_finding(plan(group, to, cluster=replace(NEW, kafka=kafka)), rule, level)
