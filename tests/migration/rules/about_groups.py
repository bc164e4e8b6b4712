"""Plans for the rules about a group and its brokers."""

from dataclasses import replace

from groups.model import Cluster, GroupState, UserData
from migration.model import Plan
from tests.migration.cases import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EMPTY,
    GROUP,
    MIXED,
    NEW,
    NEWER,
    listing,
    plan,
    policy,
)
from tests.migration.rules.groups import (
    BRIDGED,
    JAVA_STICKY,
    JAVAS,
    LIBRDKAFKA,
    PREVIEW,
    RACKS,
    REGEXES,
    SHARED,
    STATIC,
    STRATEGY,
    WEIGHTED,
    WRITERS,
    changed,
    file,
    kafka,
    settings,
    writers,
)

ABOUT_GROUPS: dict[str, dict[str, Plan]] = {
    "static-member": {
        "to consumer": plan(STATIC, CONSUMER),
        "to cooperative": plan(STATIC, COOPERATIVE),
        "a shorter session": plan(STATIC, CONSUMER, cluster=settings(group_consumer_session_timeout_ms="30000")),
        "back": plan(changed(NEWER, instance="seat-1"), CLASSIC),
        "all of librdkafka": plan(changed(LIBRDKAFKA, instance="m1"), CONSUMER),
        "librdkafka to cooperative": plan(changed(LIBRDKAFKA, instance="m1"), COOPERATIVE),
        "in a file": file({**JAVAS, "group.instance.id": "seat"}, group=EMPTY),
    },
    "rack-awareness": {
        "to consumer": plan(RACKS, CONSUMER),
        "to cooperative": plan(RACKS, COOPERATIVE),
        "in a file": file({"client.rack": "a"}),
    },
    "assignment-user-data": {
        **{name: plan(group, CONSUMER) for name, (group, _) in WRITERS.items() if group.members},
        "to cooperative": plan(WRITERS["java-custom"][0], COOPERATIVE),
        "offline": plan(WRITERS["java-custom"][0], CONSUMER, offline=True),
        "of subscriptions": plan(changed(user_data=UserData(subscription=b"w=3")), CONSUMER),
        "the only member": plan(writers("librdkafka", "cooperative-sticky", b"abcd"), CONSUMER),
    },
    "user-data-to-come": {
        **{name: plan(group, CONSUMER) for name, (group, _) in WRITERS.items() if group.members},
        "to cooperative": plan(WRITERS["librdkafka-fresh"][0], COOPERATIVE),
    },
    "malformed-metadata": {
        "one member": plan(changed(unreadable="the topics: 3 bytes are missing"), CONSUMER),
    },
    "custom-assignor": {
        "in use": plan(WEIGHTED, CONSUMER),
        "Kafka's own": plan(GROUP, CONSUMER),
        "in a file": file({STRATEGY: "com.example.Own", **JAVAS}),
    },
    "assignor-successor": {
        "unknown offer": plan(GROUP, CONSUMER),
        "not offered": plan(GROUP, CONSUMER, cluster=settings(group_consumer_assignors="uniform")),
        "offered": plan(GROUP, CONSUMER, cluster=settings(group_consumer_assignors="uniform,range")),
        "by its class": plan(
            GROUP,
            CONSUMER,
            cluster=settings(group_consumer_assignors="org.apache.kafka.coordinator.group.assignor.RangeAssignor"),
        ),
    },
    "assignor-lists": {
        "java": plan(JAVA_STICKY, COOPERATIVE),
        "known": plan(listing(JAVA_STICKY, "cooperative-sticky"), COOPERATIVE),
        "librdkafka": plan(BRIDGED, COOPERATIVE),
    },
    "shared-partitions": {
        "to consumer": plan(SHARED, CONSUMER),
        "offline": plan(SHARED, CONSUMER, offline=True),
        "to cooperative": plan(SHARED, COOPERATIVE),
        "apart": plan(GROUP, CONSUMER),
    },
    "group-state": {
        "rebalancing": plan(replace(GROUP, state=GroupState.PREPARING_REBALANCE), CONSUMER),
        "stable": plan(GROUP, CONSUMER),
        "empty": plan(EMPTY, CONSUMER),
    },
    "group-version": {
        "finalized": plan(GROUP, CONSUMER, cluster=Cluster(features={"group.version": 1})),
        "at 0": plan(GROUP, CONSUMER, cluster=Cluster(features={"group.version": 0})),
        "missing": plan(GROUP, CONSUMER, cluster=Cluster(features={"metadata.version": 25})),
        "unknown": plan(GROUP, CONSUMER, cluster=Cluster()),
        "to cooperative": plan(GROUP, COOPERATIVE, cluster=Cluster()),
        "a preview": plan(GROUP, CONSUMER, cluster=PREVIEW),
        "no protocol at all": plan(GROUP, CONSUMER, cluster=Cluster(consumer_protocol=False)),
    },
    "broker-version": {
        "without the protocol": plan(GROUP, CONSUMER, cluster=Cluster(consumer_protocol=False)),
        "with it": plan(GROUP, CONSUMER, cluster=replace(NEW, consumer_protocol=True)),
        "0.8.2": plan(GROUP, COOPERATIVE, cluster=kafka("0.8.2")),
        "0.9.0.1": plan(GROUP, COOPERATIVE, cluster=kafka("0.9.0.1")),
    },
    "fenced-members": {
        **{
            str(release): plan(GROUP, CONSUMER, cluster=kafka(release))
            for release in ("4.0", "4.2-IV1", "4.3", "4.10", None)
        },
        "to cooperative": plan(GROUP, COOPERATIVE, cluster=kafka("4.0")),
    },
    "regex-rollback": {
        **{str(release): plan(REGEXES, CLASSIC, cluster=kafka(release)) for release in ("4.0", None, "4.1")},
        "to consumer": plan(REGEXES, CONSUMER, cluster=kafka("4.0")),
    },
    "stale-commits": {
        **{
            str(release): plan(GROUP, CONSUMER, cluster=kafka(release))
            for release in ("4.0", "4.2.1", "4.3", "4.3.1", "4.10", "4.5 or later", "4.1 or later", None, "trunk")
        },
        "to cooperative": plan(GROUP, COOPERATIVE, cluster=kafka("4.0")),
        "all are there": plan(NEWER, CONSUMER, cluster=kafka("4.0")),
    },
    "migration-policy": {
        **{
            f"{name} to {to.value}, {value}": plan(group, to, "java:4.1", cluster=policy(NEW, value))
            for name, group, to, values in (
                ("classic", GROUP, CONSUMER, ("disabled", "DISABLED", "downgrade", "upgrade", "bidirectional")),
                ("consumer", NEWER, CLASSIC, ("disabled", "upgrade", "downgrade", "bidirectional")),
                ("empty", EMPTY, CONSUMER, ("disabled",)),
                ("mixed", MIXED, CONSUMER, ("disabled",)),
                ("mixed", MIXED, CLASSIC, ("upgrade",)),
                ("classic", GROUP, COOPERATIVE, ("disabled",)),
            )
            for value in values
        },
        "offline": plan(GROUP, CONSUMER, cluster=policy(NEW, "disabled"), offline=True),
    },
    "group-size": {
        f"{name} to {to.value}, {key.replace('_', '.')}={most}": plan(group, to, cluster=settings(**{key: most}))
        for name, group, to, key, sizes in (
            ("2 classic members", GROUP, CONSUMER, "group_consumer_max_size", "123"),
            ("3 with a bridge", BRIDGED, CONSUMER, "group_consumer_max_size", "34"),
            ("2 classic members", GROUP, CONSUMER, "group_max_size", "1"),
            ("2 classic members", GROUP, COOPERATIVE, "group_consumer_max_size", "1"),
            ("2 mixed members", MIXED, CONSUMER, "group_consumer_max_size", "12"),
            ("2 consumer members", NEWER, CLASSIC, "group_max_size", "12"),
            ("2 consumer members", NEWER, CLASSIC, "group_consumer_max_size", "1"),
        )
        for most in sizes
    },
    "broker-settings": {
        "unknown": plan(GROUP, CONSUMER),
        "forbidden": plan(GROUP, CONSUMER, cluster=replace(NEW, settings_problem="broker 1: forbidden")),
        "of one broker": plan(
            GROUP, CONSUMER, cluster=replace(policy(NEW, "bidirectional"), settings_problem="broker 2: no answer")
        ),
        "without the policy": plan(GROUP, CONSUMER, cluster=settings(group_consumer_max_size="9")),
        "different": plan(
            GROUP,
            CONSUMER,
            cluster=replace(
                NEW, settings={}, settings_differ={"group.consumer.migration.policy": ("bidirectional", "disabled")}
            ),
        ),
        "to cooperative": plan(GROUP, COOPERATIVE),
        "empty": plan(EMPTY, CONSUMER, "java:4.1"),
    },
    "rebalance-protocols": {
        "classic alone": plan(GROUP, CONSUMER, cluster=settings(group_coordinator_rebalance_protocols="classic")),
        "all": plan(
            GROUP, CONSUMER, cluster=settings(group_coordinator_rebalance_protocols="classic,consumer,streams")
        ),
        **{
            f"of {release}": plan(
                GROUP,
                CONSUMER,
                cluster=replace(settings(group_coordinator_rebalance_protocols="classic"), kafka=release),
            )
            for release in ("4.2", None)
        },
    },
}  # fmt: skip
"""By rule and name."""
