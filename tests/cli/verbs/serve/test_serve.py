"""`kohort serve`: killed under its clients and restarted with `--data`, it continues from what it had answered."""

import asyncio
import random
import signal
import socket
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from coordinator.store.loader import load
from tests.cli.command import Kohort
from tests.cli.served_data import Served, serving
from tests.conformance.cluster import Cluster
from tests.conformance.messages import encoded, request
from tests.conformance.peer import Closed, Peer
from tests.coordinator.store.small_disk import fill, small_disk
from tests.kafka.broker import Broker, BrokerFailedError
from tests.kafka.member import Member
from tests.kafka.members import Members
from tests.kafka.plugin import StartBroker
from tests.kafka.ports import HOST
from tests.kafka.wait import wait_until
from wire.errors import ErrorCode

POLICIES = ("always", "interval")
GROUPS = ("classic", "consumer", "simple", "regex")


async def commit(
    cluster: Cluster,
    group: str,
    offsets: Mapping[int, int],
    topic: str = "orders",
    version: int = 9,
    **who: Any,
) -> list[int]:
    """The error codes by partition."""
    partitions = [
        {"partition_index": partition, "committed_offset": offset, "committed_metadata": f"m{offset}"}
        for partition, offset in offsets.items()
    ]
    topics = [{"name": topic, "partitions": partitions}]
    answer = await cluster.ask("OffsetCommit", version, group_id=group, topics=topics, **who)
    return [int(one["error_code"]) for topic in answer["topics"] for one in topic["partitions"]]


async def heartbeat(cluster: Cluster, group: str, member: str, epoch: int, **fields: Any) -> dict[str, Any]:
    joining = {"rebalance_timeout": 60_000, "subscribed_topic_names": ["orders"], "topic_partitions": []}
    values = {"group_id": group, "member_id": member, "member_epoch": epoch, **({} if epoch else joining)}
    answer = await cluster.ask("ConsumerGroupHeartbeat", 1, **{**values, **fields})
    assert not answer["error_code"], answer
    return answer  # type: ignore[no-any-return]


async def join_classic(cluster: Cluster, group: str) -> tuple[str, int]:
    """A member alone in its group; its id and the generation."""
    joining = {
        "group_id": group, "session_timeout": 60_000, "rebalance_timeout": 60_000, "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b"\0\0\0\0\0\1\0\6orders\xff\xff\xff\xff"}],
    }  # fmt: skip
    first = await cluster.ask("JoinGroup", 5, member_id="", **joining)
    joined = await cluster.ask("JoinGroup", 5, member_id=first["member_id"], **joining)
    assert not joined["error_code"]
    member, generation = joined["member_id"], joined["generation_id"]
    assignment = [{"member_id": member, "assignment": b"\0\0 mine"}]
    synced = await cluster.ask(
        "SyncGroup", 3, group_id=group, generation_id=generation, member_id=member, assignments=assignment
    )
    assert not synced["error_code"]
    return member, generation


async def tell_a_story(cluster: Cluster) -> None:
    await cluster.ask("FindCoordinator", 3, key="classic")
    await cluster.create({"orders": 3, "late": 1, "gone": 2})
    assert await commit(cluster, "simple", {0: 5, 1: 6}) == [0, 0]
    assert await commit(cluster, "simple", {0: 7}) == [0]
    assert await commit(cluster, "simple", {0: 1}, "gone") == [0]
    member, generation = await join_classic(cluster, "classic")
    await commit(cluster, "classic", {2: 9}, member_id=member, generation_id_or_member_epoch=generation)
    first = await heartbeat(cluster, "consumer", "first", 0)
    await heartbeat(cluster, "consumer", "second", 0)
    await heartbeat(cluster, "consumer", "first", first["member_epoch"])
    await heartbeat(cluster, "regex", "only", 0, subscribed_topic_names=[], subscribed_topic_regex="^or.*")
    await cluster.grow({"late": 4})
    await cluster.drop(["gone"])
    assert await alter(cluster, "consumer") == 0


async def alter(cluster: Cluster, group: str) -> int:
    setting = {"name": "consumer.session.timeout.ms", "config_operation": 0, "value": "50000"}
    resource = {"resource_type": 32, "resource_name": group, "configs": [setting]}
    answer = await cluster.ask("IncrementalAlterConfigs", 1, resources=[resource], validate_only=False)
    return int(answer["responses"][0]["error_code"])


async def everything(cluster: Cluster) -> dict[str, Any]:
    listed = await cluster.ask("ListGroups", 5, states_filter=[], types_filter=[])
    asked = [{"group_id": group, "member_epoch": -1} for group in GROUPS]
    config = [{"resource_type": 32, "resource_name": "consumer"}]
    metadata = await cluster.ask("Metadata", 12, topics=None)
    return {
        "listed": sorted(listed["groups"], key=lambda one: str(one["group_id"])),
        "classic": await cluster.ask("DescribeGroups", 5, groups=["classic", "simple"]),
        "consumer": await cluster.ask("ConsumerGroupDescribe", 1, group_ids=["consumer", "regex"]),
        "offsets": await cluster.ask("OffsetFetch", 9, groups=asked, require_stable=True),
        "settings": await cluster.ask("DescribeConfigs", 4, resources=config),
        "topics": sorted(
            (one["name"], one["topic_id"], len(one["partitions"])) for one in metadata["topics"]
        ),
        "cluster": metadata["cluster_id"],
    }


def simple_offsets(served: Served) -> dict[str, list[int]]:
    """The committed offsets of the group "simple", by topic."""
    groups = {one["group_id"]: one["topics"] for one in served.ask(everything)["offsets"]["groups"]}
    return {
        topic["name"]: [one["committed_offset"] for one in topic["partitions"]] for topic in groups["simple"]
    }


@pytest.mark.parametrize("fsync", POLICIES)
def test_continues_after_a_kill(tmp_path: Path, fsync: str) -> None:
    with serving(tmp_path, "--fsync", fsync) as served:
        served.ask(tell_a_story)
        before = served.ask(everything)
    large = [name for name, _, partitions in before["topics"] if partitions > 2]
    assert large == ["__consumer_offsets", "late", "orders"]
    assert {one["group_id"] for one in before["listed"]} == set(GROUPS)
    for _ in range(2):
        with serving(tmp_path, "--fsync", fsync) as served:
            assert served.ask(everything) == before


def test_a_deletion_of_a_topic_is_finished(tmp_path: Path) -> None:
    with serving(tmp_path, "--topic", "orders:1", "--topic", "late:1") as served:
        served.ask(lambda cluster: commit(cluster, "simple", {0: 5}))
        served.ask(lambda cluster: commit(cluster, "simple", {0: 6}, "late"))
    (tmp_path / "orders-0").rename(tmp_path / f"orders-0.{'0' * 32}-delete")
    with serving(tmp_path) as served:
        assert simple_offsets(served) == {"late": [6]}
        wait_until(lambda: not list(tmp_path.glob("*-delete")), "its directory is removed")


def test_says_what_it_recovered(tmp_path: Path) -> None:
    with serving(tmp_path, "--topic", "orders:3") as served:
        served.ask(lambda cluster: commit(cluster, "simple", {0: 5, 1: 6}))
        assert served.stop() == 0
    assert served.stderr.splitlines() == [
        f"kohort: {tmp_path}: no groups in it yet; groups, offsets and topics are kept there from now on",
        "kohort: stopped",
    ]
    with serving(tmp_path, "--topic", "orders:3") as served:
        assert served.stop() == 0
    first, last = served.stderr.splitlines()
    assert first.startswith(f"kohort: {tmp_path}: recovered 1 group with 2 offsets from 2 records in ")
    assert "good order" not in first
    assert last == "kohort: stopped"
    segment = next(path for path in tmp_path.glob("__consumer_offsets-*/*.log") if path.stat().st_size)
    segment.write_bytes(segment.read_bytes() + b"torn")
    (tmp_path / ".kafka_cleanshutdown").unlink()
    with serving(tmp_path) as served:
        assert served.stop() == 0
    first, second, _ = served.stderr.splitlines()
    assert first.endswith("it was not shut down cleanly")
    assert str(segment) in second
    assert "the last 4 bytes were cut off" in second


def test_refuses_data_that_it_cannot_continue_from(tmp_path: Path, kohort: Kohort) -> None:
    with serving(tmp_path, "--topic", "orders:3") as served:
        served.ask(lambda cluster: commit(cluster, "simple", {0: 5, 1: 6}))

    segment = next(path for path in tmp_path.glob("__consumer_offsets-*/*.log") if path.stat().st_size)
    whole = segment.read_bytes()
    segment.write_bytes(whole[:70] + b"x" + whole[71:] + whole)
    kohort("serve --listen 127.0.0.1:0 --data", tmp_path).assert_refused(f"{segment}, byte 0", status=3)
    segment.write_bytes(whole)
    other = kohort("serve --listen 127.0.0.1:0 --data", tmp_path, "--topic", "orders:4")
    other.assert_said(2, "topic orders exists already with 3 partitions, not 4")


@pytest.mark.parametrize("fsync", POLICIES)
def test_every_commit_that_was_answered_is_there(tmp_path: Path, fsync: str) -> None:
    chance = random.Random(7)
    answered: dict[str, int] = {}
    for _ in range(3):
        small = ("--config=offsets.topic.segment.bytes=20000", "--config=log.cleaner.backoff.ms=5")
        with serving(tmp_path, "--fsync", fsync, "--topic", "orders:1", *small) as served:
            asyncio.run(_commit_until_killed(served, answered, 0.3 + chance.random() * 0.5))
        stored = load([tmp_path]).state.offsets
        commits = {group: offsets["orders", 0].offset for group, offsets in stored.items()}
        assert {commits[group] - offset for group, offset in answered.items()} <= {0, 1}
        answered = commits
    assert sum(answered.values()) > 60


async def _commit_until_killed(served: Served, answered: dict[str, int], seconds: float) -> None:
    async def client(group: str) -> None:
        cluster = Cluster(await Peer.connect(HOST, served.port))
        try:
            while True:
                offset = answered.get(group, 0) + 1
                assert await commit(cluster, group, {0: offset}) == [0]
                answered[group] = offset
        except Closed:
            pass
        finally:
            await cluster.close()

    clients = [asyncio.create_task(client(f"g{number}")) for number in range(20)]
    await asyncio.sleep(seconds)
    served.kill()
    await asyncio.gather(*clients)


@pytest.mark.parametrize("fsync", POLICIES)
def test_stops_when_the_disk_is_full_and_continues_when_there_is_room(tmp_path: Path, fsync: str) -> None:
    with small_disk(tmp_path / "disk", kilobytes=2_048) as disk:
        data = disk / "data"
        with serving(data, "--fsync", fsync, "--topic", "orders:1") as served:
            ballast = fill(disk, leave=40_000)
            acknowledged, refused = served.ask(_commit_until_refused)
            assert refused == ErrorCode.NOT_COORDINATOR
            assert acknowledged > 10
            assert served.wait() == 3
        assert "No space left on device. The server stops" in served.stderr
        assert "Traceback" not in served.stderr
        ballast.unlink()
        with serving(data) as served:
            assert simple_offsets(served) == {"orders": [acknowledged]}
            assert served.stop() == 0
        assert "cut off" not in served.stderr


async def _commit_until_refused(cluster: Cluster) -> tuple[int, int]:
    for offset in range(1, 100_000):
        (code,) = await commit(cluster, "simple", {0: offset})
        if code:
            return offset - 1, code
    raise AssertionError("there was room for everything")


def test_a_name_that_no_record_has_room_for(tmp_path: Path) -> None:
    longest = 32_767
    topics = [{"name": "orders", "partitions": [{"partition_index": 0, "committed_offset": 1}]}]
    content = encoded(request("OffsetCommit", 8, group_id="?" * longest, topics=topics), 1, None, "tests")

    async def commit_to_it(cluster: Cluster) -> bytes:
        reader, writer = await asyncio.open_connection(HOST, served.port)
        frame = content.replace(b"?" * longest, b"\xff" * longest)
        writer.write(len(frame).to_bytes(4) + frame)
        answer = await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
        writer.close()
        assert await commit(cluster, "simple", {0: 5}) == [0]
        return answer

    with serving(tmp_path, "--topic", "orders:1") as served:
        code = served.ask(commit_to_it)[-5:-3]
        assert int.from_bytes(code, signed=True) == ErrorCode.UNKNOWN_SERVER_ERROR
    with serving(tmp_path) as served:
        assert [one["group_id"] for one in served.ask(everything)["listed"]] == ["simple"]


def test_topics_and_settings_that_cannot_be_kept_are_refused(tmp_path: Path) -> None:
    async def on_a_full_disk(cluster: Cluster) -> list[int]:
        topic = {"name": "orders", "num_partitions": 100, "replication_factor": 1}
        made = await cluster.ask("CreateTopics", 7, topics=[topic], timeout=1_000)
        return [made["topics"][0]["error_code"], await alter(cluster, "g" * 9_000)]

    with small_disk(tmp_path / "disk") as disk, serving(disk / "data") as served:
        fill(disk, leave=5_000)
        assert served.ask(on_a_full_disk) == [ErrorCode.KAFKA_STORAGE_ERROR] * 2
        assert not list((disk / "data").glob("orders-*"))
        assert served.ask(everything)["topics"] == []


@pytest.mark.kafka
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_real_consumers_do_not_notice_a_kill(tmp_path: Path, members: Members, protocol: str) -> None:
    settings: dict[str, Any] = {"group_protocol": "consumer", "statistics_interval_ms": 200}
    if protocol == "classic":
        settings |= {"group_protocol": "classic", "partition_assignment_strategy": "cooperative-sticky"}
        settings |= {"session_timeout_ms": 45_000, "heartbeat_interval_ms": 500}
    often = [f"--config=group.consumer.{bound}heartbeat.interval.ms=500" for bound in ("", "min.")]
    with serving(tmp_path / "data", "--topic", "orders:4", *often) as served:
        broker = Broker(tmp_path, tmp_path)
        broker.port = served.port
        both = [members.confluent(broker, "live", ["orders"], name, **settings) for name in "ab"]
        wait_until(
            lambda: [sum(map(len, one.assignment().values())) for one in both] == [2, 2],
            "two partitions each",
        )
        describe = partial(_describe_live, protocol)
        wait_until(lambda: served.ask(describe)["group_state"] == "Stable", "the group is stable")
        before, events = served.ask(describe), [len(one.events()) for one in both]
        served.kill()
        with serving(tmp_path / "data", *often, port=served.port) as again:
            assert again.ask(describe) == before
            for back in [partial(_is_back, one, len(_answers(one))) for one in both]:
                wait_until(back, "heartbeats of both are answered")
            assert again.ask(describe) == before
            lost = [event for one, seen in zip(both, events, strict=True) for event in one.events()[seen:]]
            assert [event for event in lost if event.kind in ("revoked", "lost", "assigned")] == []


def _answers(member: Member) -> list[int]:
    """How many of the coordinator's answers it has counted, again and again."""
    return [int(event.reason or 0) for event in member.events() if event.kind == "answers"]


def _is_back(member: Member, known: int) -> bool:
    """Whether heartbeats were answered meanwhile: more than the first answer of a new connection, a list of APIs."""
    answers = _answers(member)[known:]
    return bool(answers) and answers[-1] > answers[0] + 3


async def _describe_live(protocol: str, cluster: Cluster) -> Any:
    if protocol == "classic":
        return (await cluster.ask("DescribeGroups", 5, groups=["live"]))["groups"][0]
    return (await cluster.ask("ConsumerGroupDescribe", 1, group_ids=["live"]))["groups"][0]


@pytest.mark.kafka
def test_a_broker_and_kohort_keep_each_other_out(
    tmp_path: Path, start_broker: StartBroker, kohort: Kohort
) -> None:
    broker = start_broker({})
    kohort("serve --listen 127.0.0.1:0 --data", broker.data).assert_said(3, "in use by another process")
    broker.stop()
    with serving(broker.data), pytest.raises(BrokerFailedError):
        broker.start()
    assert "Failed to acquire lock on file .lock" in broker.log.read_text()


# Without a directory.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stops_cleanly_with_clients_connected(number: signal.Signals) -> None:
    with serving(None, "--topic", "orders:3") as served, socket.create_connection((HOST, served.port)):
        assert served.stop(number) == 0
    assert served.stderr.splitlines() == [
        "kohort: records, groups, offsets and topics are in memory only, and are lost when this process exits",
        "kohort: stopped",
    ]


def test_a_signal_prints_the_state_in_a_line() -> None:
    with serving(None, "--topic", "orders:3") as served:

        def reported() -> dict[str, str]:
            line = served.state_line().strip()
            assert line.startswith("kohort: brokers=")
            return dict(word.split("=") for word in line.removeprefix("kohort: ").split())

        assert (
            reported().items() >= {"brokers": "1/1", "groups": "0", "offsets": "0", "partitions": "3"}.items()
        )

        async def ask(client: Cluster) -> None:
            before = reported()
            assert await commit(client, "g", {0: 7}) == [0]
            after = reported()
            assert (after["groups"], after["classic.Empty"], after["offsets"]) == ("1", "1", "1")
            assert int(after["requests"]) == int(before["requests"]) + 1
            assert after["connections"] == "1"

        served.ask(ask)
        assert served.stop() == 0
