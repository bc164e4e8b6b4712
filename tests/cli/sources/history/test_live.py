"""Histories of groups from a live cluster: the same as from its log directory."""

import time
from collections.abc import Sequence
from random import Random

import pytest
from confluent_kafka.admin._acl import AclOperation
from confluent_kafka.admin._resource import ResourceType

from cli.errors import CommandError
from cli.sources.history import live
from cli.sources.history.live import HistoryRefused, LogRange, read_live_history
from cli.sources.history.logs import read_log_history
from cli.sources.history.read import GroupHistoryRead, HistoryReading
from cli.sources.wire_source import WireSource
from coordinator.store.history_log import GroupChoice, PartitionLog
from coordinator.store.partition_files import OFFSETS_TOPIC
from groups.history.course import Course
from groups.history.departures import NOTHING
from groups.history.events import Place
from tests.cli.offset_rig import OffsetRig
from tests.cli.sources.live_source import admin_only, live_source
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.members import Members, fresh_name
from tests.kafka.plugin import StartBroker
from tests.kafka.topics import fresh_topic
from tests.kafka.wait import wait_until
from tests.migration.raw_group import RawGroup
from tests.support.authorizer import OPEN_AUTHORIZER, allow
from tests.support.long import LONG, cases
from tests.wire.log.random_records import damaged, record_of_few
from wire.client.security import ConnectionSettings
from wire.log.batch_writer import encode_batch

EVER = 1 << 62
CASES = cases("KOHORT_FUZZ_CASES", 10_000, many=1_000_000)


def read(broker: Broker, *groups: str, since_ms: int = 0) -> GroupHistoryRead:
    with live_source(broker) as source:
        return read_live_history(source, groups, since_ms=since_ms)


def plain(course: Course) -> tuple[object, ...]:
    """The course without what depends on when it is read."""
    commits: dict[Place, list[list[int]]] = {
        place: [column.tolist() for column in course.commits.between(place, 0, EVER)]
        for place in course.commits.places
    }
    return course.rebalances, course.holdings, course.members, commits


def owners(course: Course) -> dict[Place, str | None]:
    return {holding.place: holding.member for holding in course.holdings if holding.until is None}


@pytest.mark.kafka
def test_a_cluster_and_its_log_directory_have_the_same_history(
    kafka_broker: Broker, kafka_rig: OffsetRig, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, consumer = fresh_topic(kafka_broker, 3), fresh_name("consumer")
    first = members.confluent(kafka_broker, consumer, [topic], group_protocol="consumer")
    first.wait_assignment({topic: [0, 1, 2]})
    members.confluent(kafka_broker, consumer, [topic], group_protocol="consumer")
    wait_group(kafka_broker, consumer, members=2)
    classic = RawGroup(broker=kafka_broker)
    classic.grow(2)
    committed = kafka_rig.group({(topic, 0): 0, (topic, 1): 0}, fresh_name("committed"))
    groups = (consumer, classic.id, committed)
    logs = read_log_history([kafka_broker.data], groups, since_ms=0)
    assert len(logs.courses[consumer].rebalances) >= 2
    assert [row.epoch for row in logs.courses[classic.id].rebalances] == [1, 2]
    assert len(list(logs.courses[committed].commits.places)) == 2
    whole = read(kafka_broker, *groups)
    assert whole.problems == ()
    assert [plain(whole.courses[name]) for name in groups] == [plain(logs.courses[name]) for name in groups]
    # From now on there is nothing: who owns what was written before, and is read backward in small windows.
    monkeypatch.setattr(live, "_FIRST_WINDOW", 2)
    monkeypatch.setattr(live, "LOOK_BACK_MS", 0)
    now_ms = int(time.time() * 1000) + 1
    empty = read(kafka_broker, *groups, since_ms=now_ms)
    assert empty.problems == ()
    assert [owners(empty.courses[name]) for name in groups] == [owners(logs.courses[name]) for name in groups]
    assert len(owners(logs.courses[consumer])) == 3
    assert {course.complete_since for course in empty.courses.values()} == {now_ms * 1000}


@pytest.mark.parametrize(
    "who",
    [pytest.param("User:ANONYMOUS", id="describe", marks=LONG), pytest.param("User:else", id="nothing")],
)
def test_a_missing_right_is_named(start_broker: StartBroker, who: str) -> None:
    broker = start_broker(OPEN_AUTHORIZER)
    group = RawGroup(broker=broker)
    group.grow(1)
    allow(broker, ResourceType.TOPIC, OFFSETS_TOPIC, AclOperation.DESCRIBE, who)

    def refused() -> str | None:
        try:
            read(broker, group.id)
        except HistoryRefused as error:
            return str(error)
        return None

    message = wait_until(refused, "the denial holds")
    assert "needs READ and DESCRIBE on the topic __consumer_offsets" in message


def test_a_login_of_librdkafka_alone_is_refused(kafka_broker: Broker) -> None:
    with admin_only(kafka_broker) as source, pytest.raises(CommandError, match="own client"):
        read_live_history(source, ["g"], since_ms=0)


def test_any_bytes_of_a_leader_are_read_to_their_end_or_named() -> None:
    rng = Random(13)
    damages = 0
    for case in range(CASES // 100):
        batches = [encode_batch([record_of_few(rng)] * 3, base_offset=3 * n, timestamp=n) for n in range(4)]
        data = damaged(rng, b"".join(batches)) if case % 4 else b"".join(batches)
        part = LogRange(number=0, position=0, end=12, log=PartitionLog(GroupChoice((), lambda _: True)))
        for _ in range(20):
            if part.is_done:
                break
            # A leader returns the batch of an offset, however damaged, and what is after it.
            begin = sum(map(len, batches[: part.position // 3]))
            part.read(part.take(data[begin:]))
        assert part.is_done
        part.log.groups()
        damages += bool(part.damage or part.failure)
    assert damages > CASES // 500


@pytest.mark.parametrize("seed", range(8))
def test_what_was_read_backward_has_the_same_gaps(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, batches, offset = Random(seed), list[tuple[int, bytes]](), 0
    for number in range(30):
        offset += rng.choice([0, 0, 0, 5])
        batches.append(
            (offset + 1, encode_batch([record_of_few(rng)] * 2, base_offset=offset, timestamp=number))
        )
        offset += 2

    def read_all(_: object, ranges: Sequence[LogRange], __: HistoryReading) -> None:
        for one in ranges:
            one.read(one.take(b"".join(data for last, data in batches if last >= one.position)))

    monkeypatch.setattr(live, "_FIRST_WINDOW", 3)
    monkeypatch.setattr(live._LiveHistory, "_read_all", read_all)
    choice, reading = GroupChoice((), lambda _: True), HistoryReading(source="here", since=0)
    whole = LogRange(number=0, position=0, end=offset, log=PartitionLog(choice))
    begin = rng.choice(batches)[0] - 1
    part = LogRange(number=0, position=begin, end=offset, log=PartitionLog(choice, begin))
    history = live._LiveHistory(WireSource(ConnectionSettings(bootstrap_servers=("localhost:1",))), NOTHING)
    read_all(None, [whole, part], reading)
    earlier = history._before(part, 0, begin, choice, [], {}, 1 << 30, reading)
    assert part.log.gap_times.tolist() == whole.log.gap_times.tolist()
    records = {name: [*log.records] for name, log in earlier.items()}
    for name, log in part.log.groups().items():
        records.setdefault(name, []).extend(log.records)
    assert records == {
        name: log.records for name, log in whole.log.groups().items() if log.records or name in records
    }
