"""Groups of the newer types on the broker that all tests share, for the tools that only these have."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from confluent_kafka import Producer

from groups.described import committed_offsets
from groups.model import each_commit
from tests.cli.dropin.changing import ChangeScene
from tests.kafka.broker import Broker
from tests.kafka.groups import describe, wait_group
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from wire.client.cluster import KafkaClient
from wire.client.connection import Connection
from wire.client.groups import delete_groups
from wire.client.offsets import (
    NewOffset,
    alter_share_group_offsets,
    commit_offsets,
    fetch_offsets,
    fetch_share_offsets,
)
from wire.client.security import ConnectionSettings
from wire.client.steps import Deadline, Replies
from wire.errors import outcome
from wire.messages.schemas.streams_groups import STREAMS_GROUP_HEARTBEAT

PARTITIONS, RECORDS = 3, 4


@contextmanager
def modern_groups(broker: Broker, jars: Path, host: JavaHost, scratch: Path) -> Iterator[Mapping[str, str]]:
    """`sharing` and `counting` have a member, `shared` has only offsets, `absent` none, `rested` a topology
    and offsets, `app` offsets; `orders` is a topic."""
    names = {
        name: fresh_name(name)
        for name in ("sharing", "counting", "shared", "absent", "orders", "rested", "app")
    }
    create_topics(broker, {names["orders"]: PARTITIONS})
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(RECORDS * PARTITIONS):
        producer.produce(names["orders"], value=b"", partition=number % PARTITIONS)
    producer.flush(30)
    members = Members(host, jars, scratch)
    try:
        members.share(broker, names["sharing"], [names["orders"]])
        members.streams(broker, names["counting"], [names["orders"]], commit_interval_ms=200)
        with share_scene(broker, names) as scene:
            scene.lay()
        for name in ("sharing", "counting"):
            wait_until(partial(_all_assigned, broker, names[name]), f"{name} owns every partition")
            wait_group(broker, names[name], members=1, state="Stable")
        wait_until(partial(_all_read, broker, names["counting"]), "every record is committed")
        yield names
    finally:
        members.end()


def _all_assigned(broker: Broker, group: str) -> bool:
    """Before, a Stable group may get another epoch."""
    view = describe(broker, group)
    parts = [numbers for member in view.members for numbers in member.assignment.values()] if view else []
    return parts == [[*range(PARTITIONS)]]


def _all_read(broker: Broker, group: str) -> bool:
    with KafkaClient(ConnectionSettings(bootstrap_servers=(broker.bootstrap,))) as client:
        offsets, _ = committed_offsets(fetch_offsets(client, [group]).found[group])
    return [commit.offset for _, commit in each_commit(offsets)] == [RECORDS] * PARTITIONS


@contextmanager
def share_scene(broker: Broker, names: Mapping[str, str]) -> Iterator[ChangeScene]:
    """The share groups that can be changed: `shared` is at the first record of each partition, `absent` is not
    there."""
    with KafkaClient(ConnectionSettings(bootstrap_servers=(broker.bootstrap,))) as client:
        groups = [names["shared"], names["absent"]]

        def lay() -> None:
            delete_groups(client, groups)
            starts = {(names["orders"], number): 0 for number in range(PARTITIONS)}
            altered = alter_share_group_offsets(client, {names["shared"]: starts})
            assert not any(altered.found[names["shared"]].values())

        yield ChangeScene(names=names, lay=lay, state=lambda: fetch_share_offsets(client, groups))


@contextmanager
def streams_scene(
    broker: Broker, names: Mapping[str, str], group: str, *, joined: bool
) -> Iterator[ChangeScene]:
    """A group that can be changed: it is at the second record of each partition and has an internal topic; a streams
    group if a member had `joined`."""
    orders, changelog = names["orders"], f"{group}-store-changelog"
    with KafkaClient(ConnectionSettings(bootstrap_servers=(broker.bootstrap,))) as client:

        def lay() -> None:
            delete_groups(client, [group])
            if changelog not in client.metadata().topics:
                create_topics(broker, {changelog: PARTITIONS})
            for epoch in (0, -1) if joined else ():
                wait_until(partial(streams_heartbeat, client, group, orders, epoch), "the member is answered")
            commits = {(orders, number): NewOffset(offset=1) for number in range(PARTITIONS)}
            assert not any(commit_offsets(client, {group: commits}).found[group].values())

        def state() -> object:
            create_topics(
                broker, {fresh_name("last"): 1}
            )  # a broker shows what happened to topics in its order
            offsets, _ = committed_offsets(fetch_offsets(client, [group]).found[group])
            places = {key: commit.offset for key, commit in each_commit(offsets)}
            return places, changelog in client.metadata().topics, describe(broker, group) is not None

        yield ChangeScene(names={**names, "changelog": changelog}, lay=lay, state=state)


def streams_heartbeat(client: KafkaClient, group: str, topic: str, epoch: int) -> bool:
    """Whether the group's one member has joined (0) or left (-1)."""
    request = {
        "group_id": group, "member_id": "member", "member_epoch": epoch, "endpoint_information_epoch": 0,
        "rebalance_timeout_ms": 60_000 if epoch == 0 else -1,
        "process_id": "process", "active_tasks": [], "standby_tasks": [], "warmup_tasks": [],
        "topology": None if epoch else {
            "epoch": 0,
            "subtopologies": [{
                "subtopology_id": "0", "source_topics": [topic], "source_topic_regex": [],
                "state_changelog_topics": [{
                    "name": f"{group}-store-changelog", "partitions": 0, "replication_factor": 1, "topic_configs": [],
                }],
                "repartition_sink_topics": [], "repartition_source_topics": [], "copartition_groups": [],
            }],
        },
    }  # fmt: skip

    def ask(broker: Connection, groups: Sequence[str], deadline: Deadline) -> Replies[str, bool]:
        (answer,) = yield from broker.ask(STREAMS_GROUP_HEARTBEAT, [request], deadline)
        return {groups[0]: outcome(answer) or True}

    answers = client.ask_coordinators([group], ask)
    return group in answers.found
