"""A broker whose group coordinator is ready, which it is only once a client asks for it. One that maps the archive of
Kafka's classes (`ensure_archive`) starts in half of the time."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from kio.schema.errors import ErrorCode

from coordinator.store.partition_files import OFFSETS_TOPIC, partition_for
from tests.kafka.broker import Broker, BrokerFailedError, RunningBroker
from tests.kafka.java import archive_of
from tests.kafka.members import fresh_name
from tests.kafka.settings import DEFAULTS
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask

GROUP_KEY = 0
PROBE_MS = 60_000


def wait_for_coordinator(broker: RunningBroker) -> None:
    """Have `__consumer_offsets` made, and return when each partition that the broker leads is loaded: until then it
    answers NOT_COORDINATOR about its groups, although it is found as their coordinator."""

    def found() -> bool:
        answer = ask(broker.port, "FindCoordinator", 4, key_type=GROUP_KEY, coordinator_keys=["any"])
        return [one.error_code for one in answer.coordinators] == [ErrorCode.none]

    wait_until(found, "the group coordinator is there")
    topics = [{"topic_id": None, "name": OFFSETS_TOPIC}]

    def loaded() -> bool:
        metadata = ask(broker.port, "Metadata", 12, topics=topics)
        (topic,) = metadata.topics
        own = {one.node_id for one in metadata.brokers if one.port == broker.port}
        led = [one.partition_index for one in topic.partitions if one.leader_id in own]
        probes = [_name_in(partition, len(topic.partitions)) for partition in led]
        answer = ask(broker.port, "DescribeGroups", 5, groups=probes)
        return bool(led) and all(group.error_code is ErrorCode.none for group in answer.groups)

    wait_until(loaded, "all groups are loaded")


def _name_in(partition: int, partitions: int) -> str:
    """A fresh name of a group whose offsets are in this one of the topic's partitions."""
    names = (fresh_name("probe") for _ in count())
    return next(name for name in names if partition_for(name, partitions) == partition)


def wait_topics_known(broker: RunningBroker, group: str, topics: Mapping[str, int]) -> None:
    """Return when the coordinator of a group has heard of topics, by their numbers of partitions: each partition of the
    coordinator is updated separately, and a target that it computes until then is without them."""
    partitions = int(DEFAULTS["offsets.topic.num.partitions"])
    probe = _name_in(partition_for(group, partitions), partitions)
    member: dict[str, Any] = {"group_id": probe, "member_id": "probe", "instance_id": None, "rack_id": None}

    def known() -> bool:
        answer = ask(
            broker.port,
            "ConsumerGroupHeartbeat",
            1,
            **member,
            member_epoch=0,
            rebalance_timeout=PROBE_MS,
            subscribed_topic_names=list(topics),
            subscribed_topic_regex=None,
            server_assignor=None,
            topic_partitions=[],
        )
        assigned = answer.assignment.topic_partitions if answer.assignment else ()
        return sum(len(one.partitions) for one in assigned) == sum(topics.values())

    wait_until(known, f"the coordinator of {group} knows {topics}")
    leaving = dict.fromkeys(
        ("subscribed_topic_names", "subscribed_topic_regex", "server_assignor", "topic_partitions")
    )
    ask(broker.port, "ConsumerGroupHeartbeat", 1, **member, member_epoch=-1, **leaving)
    ask(broker.port, "DeleteGroups", 2, groups_names=[probe])


@contextmanager
def running_broker(
    jars: Path,
    directory: Path,
    settings: Mapping[str, str] | None = None,
    *,
    port: int | None = None,
    options: Sequence[str] = (),
    classes: Path | None = None,
) -> Iterator[Broker]:
    """Run a broker with a coordinator; in the end it is killed. `port` is where the rig connects."""
    broker = Broker(jars, directory, settings, options=options, classes=classes)
    try:
        broker.start()
        broker.port = port or broker.port
        wait_for_coordinator(broker)
        yield broker
    finally:
        broker.crash()


DUMP_S = 60.0  # how long the JVM may take to write the archive, which it does at its end


def ensure_archive(jars: Path) -> None:
    """Archive the classes that a broker loads, next to the jars, unless that is done; takes six seconds. Two processes
    may do this at once. Where it cannot be done (a Java without such archives) brokers start as slowly as ever."""
    target = archive_of(jars)
    if target.is_file():
        return
    with tempfile.TemporaryDirectory(prefix=".archive-", dir=target.parent) as scratch:
        made = Path(scratch) / target.name
        broker = Broker(jars, Path(scratch), options=[f"-XX:ArchiveClassesAtExit={made}"])
        try:
            broker.start()
        except BrokerFailedError:
            return
        finally:
            status = broker.stop(kill_after_s=DUMP_S)
        was_killed = status is not None and status < 0
        if made.is_file() and not was_killed:
            os.replace(made, target)
