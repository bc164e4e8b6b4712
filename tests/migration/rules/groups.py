"""Groups, clusters and files that plans are made for, to see what the rules find."""

from collections.abc import Mapping
from dataclasses import replace

from groups.model import Client, Cluster, Group, Member, MemberProtocol, Subscription, UserData
from migration.access import Access, AccessEntry, ResourceKind
from migration.model import Plan
from migration.rules.assignors import OnlinePath
from tests.groups.streams_groups import application, thread
from tests.migration.cases import (
    CONSUMER,
    EMPTY,
    GROUP,
    NEW,
    NEWER,
    config_of,
    group_of,
    member,
    plan,
    upgraded,
)

UUID = "3f0c6f9e-5a0b-4c1d-9d55-7c1f0a6b2e00"


def changed(group: Group = GROUP, **fields: object) -> Group:
    return replace(group, members=(replace(group.members[0], **fields), *group.members[1:]))  # type: ignore[arg-type]


def by_topics(*topics: tuple[str, ...]) -> Group:
    wanting = (
        replace(one, subscription=Subscription(topics=some))
        for one, some in zip(GROUP.members, topics, strict=True)
    )
    return replace(GROUP, members=tuple(wanting))


def sink_task(number: int) -> Member:
    client = f"connector-consumer-s3-{number}"
    return replace(GROUP.members[number], id=f"{client}-{UUID}", client=Client(id=client, host="/10.0.0.1"))


def writers(library: str, protocol: str, *data: bytes | None) -> Group:
    """A group of a library, with this user data in each member's assignment; None: the source does not show it."""
    members = (
        replace(
            member(f"m{n}", library, "99.0"), user_data=None if blob is None else UserData(assignment=blob)
        )
        for n, blob in enumerate(data)
    )
    return replace(GROUP, protocol=protocol, members=tuple(members))


def settings(**values: str) -> Cluster:
    """A cluster with settings, underscores in place of dots."""
    return replace(NEW, settings={name.replace("_", "."): value for name, value in values.items()})


def kafka(release: str | None) -> Cluster:
    return replace(NEW, kafka=release)


def entry(
    kind: ResourceKind, name: str, operation: str, *, allows: bool = True, is_prefix: bool = False
) -> AccessEntry:
    return AccessEntry(
        kind=kind, name=name, is_prefix=is_prefix, principal="User:a", operation=operation, allows=allows
    )


STATIC = changed(instance="seat-1")
RACKS = replace(GROUP, members=tuple(replace(m, rack=r) for m, r in zip(GROUP.members, "ba", strict=True)))
WEIGHTED = replace(GROUP, protocol="com.example.Weighted")
STICKY = replace(GROUP, protocol="cooperative-sticky")
STREAMS = replace(GROUP, protocol="stream")
OLD_THREAD = thread("o1", used=4, newest=4)
KEEPING = thread("a1", kept={"orders": (0,)})
COPIES = application(thread("a1", "0_0", "0_1"), thread("b1", "0_1", "0_0"))
PARTLY_COPIED = application(
    thread("a1", "0_0 1_0", had={"1_0": -2}, next_ms=1_700_000_000_000), thread("b1", "", "0_0")
)
LIBRARIES = replace(GROUP, members=(GROUP.members[0], member("m3", "librdkafka", "2.16.0")))
LIBRDKAFKA = group_of("librdkafka:2.16.0", "range")
BRIDGED = group_of("librdkafka:2.16.0", "cooperative-sticky")
JAVA_STICKY = group_of("java:4.1.0", "cooperative-sticky")
TWINS = replace(
    GROUP, members=tuple(replace(member(f"rdkafka-{n}"), client=Client(id="rdkafka")) for n in "ab")
)
SHARED = replace(
    GROUP,
    protocol="redundant",
    members=tuple(
        replace(one, owned={"orders": (0, 1), "bills": (n,)}) for n, one in enumerate(GROUP.members)
    ),
)
ARRIVED = replace(
    NEWER, members=tuple(replace(one, client=LIBRDKAFKA.members[0].client) for one in NEWER.members)
)
REGEXES = replace(
    NEWER,
    members=(
        replace(upgraded("m1"), subscription=Subscription(regex="ord.*")),
        upgraded("m2", MemberProtocol.CLASSIC),
    ),
)
WITH_RDKAFKA = replace(GROUP, members=(GROUP.members[0], member("rdkafka")))
PREVIEW = Cluster(kafka="3.9", features={"metadata.version": 21}, consumer_protocol=True)
SINK = replace(GROUP, id="connect-s3", members=(sink_task(0), sink_task(1)))
READER = by_topics(("orders", "refunds"), ("orders", "refunds"))
MAY_READ, TOPIC = entry(ResourceKind.GROUP, "payments", "READ"), ResourceKind.TOPIC
WRITERS = {
    "librdkafka": (writers("librdkafka", "cooperative-sticky", b"abcd", b"abcd"), OnlinePath.BRIDGE_LEADER),
    "librdkafka-fresh": (writers("librdkafka", "cooperative-sticky", b"", b""), OnlinePath.BRIDGE_LEADER),
    "librdkafka-unseen": (writers("librdkafka", "cooperative-sticky", None, None), OnlinePath.BRIDGE_LEADER),
    "librdkafka-range": (writers("librdkafka", "range", b"", b""), None),
    "java-cooperative": (writers("java", "cooperative-sticky", b"", b""), None),
    "java-custom": (writers("java", "com.example.Weighted", b"w=1", b"w=2"), None),
    "sarama": (writers("sarama", "sticky", b"abcd", b"abcd"), OnlinePath.RANGE_FIRST),
    "sarama-unseen": (writers("sarama", "sticky", None, None), OnlinePath.RANGE_FIRST),
    "sarama-without": (writers("sarama", "sticky", b"", b""), None),
    "java-sticky-unseen": (writers("java", "sticky", None, None), None),
    "java-sticky-with-data": (writers("java", "sticky", b"abcd"), None),
    "no-member": (EMPTY, None),
}
JAVA = "org.apache.kafka.clients.consumer."
STRATEGY, IDLE, POLL, RESET = (
    "partition.assignment.strategy", "connections.max.idle.ms", "max.poll.interval.ms", "auto.offset.reset",
)  # fmt: skip
JAVAS, RDKAFKAS = {"key.deserializer": "x"}, {"enable.partition.eof": "x"}
TIMEOUTS = {**JAVAS, "session.timeout.ms": "50000", "heartbeat.interval.ms": "6000"}
OVERRIDE = "connector.client.config.override.policy"


def file(
    text: Mapping[str, str],
    to: object = CONSUMER,
    client: str = "java:4.1",
    group: Group = GROUP,
    cluster: Cluster = NEW,
) -> Plan:
    """The plan with a configuration file of the members."""
    return plan(group, to, client, cluster=cluster, configs=[config_of(text)])  # type: ignore[arg-type]


def access(*entries: AccessEntry) -> Plan:
    return plan(READER, CONSUMER, access=Access(entries=entries))


def regex(
    library: str, *patterns: str, topics: tuple[str, ...] = ("orders", "orders-eu", "payments")
) -> Plan:
    return plan(GROUP, CONSUMER, f"{library}:99", topics=topics, regexes=patterns)
