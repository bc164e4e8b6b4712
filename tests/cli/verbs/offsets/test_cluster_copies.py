"""`kohort offsets clone` to another cluster: proofs by records that were copied with other offsets, on real brokers."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.cli.command import Answer, Word
from tests.cli.offset_rig import FIRST_MS, OffsetRig, join
from tests.cli.served_data import Served
from tests.kafka.members import fresh_name
from tests.kafka.plugin import StartBroker
from tests.kafka.wait import wait_until
from tests.support.long import LONG
from wire.client.cluster import KafkaClient
from wire.client.record_windows import record_windows
from wire.client.records_around import RecordsRequest
from wire.client.security import ConnectionSettings

Place = tuple[str, int]


@dataclass(frozen=True, kw_only=True)
class Written:
    """A record to be written; the headers are given."""

    value: str | None
    time_ms: int = FIRST_MS
    key: str | None = None
    headers: Sequence[tuple[str, bytes]] = ()


def write(bootstrap: str, topic: str, records: Sequence[Written], partition: int = 0) -> None:
    """Append records one batch after the other, in order."""
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": 0})
    for record in records:
        producer.produce(
            topic, record.value, record.key, partition=partition, timestamp=record.time_ms,
            headers=list(record.headers),
        )  # fmt: skip
    assert producer.flush(30) == 0


def make(bootstrap: str, sizes: Mapping[str, int], **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    settings = {"retention.ms": "-1", **{name.replace("_", "."): value for name, value in config.items()}}
    topics = [NewTopic(name, count, 1, config=settings) for name, count in sizes.items()]
    for future in admin.create_topics(topics).values():
        future.result()


def orders(count: int, *, per_ms: int = 1, first: int = 0) -> list[Written]:
    return [
        Written(
            value=f"order {number}",
            key=f"customer {number % 7}",
            time_ms=FIRST_MS + number // per_ms,
            headers=[("n", b"%d" % number)],
        )
        for number in range(first, first + count)
    ]


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Two clusters, or one with the copies under other names, and our command between them."""

    rig: OffsetRig
    target: str  # Bootstrap servers

    def pair(self, partitions: int = 1, **config: str) -> tuple[str, str]:
        """A topic and its copy, both empty, by name."""
        topic = fresh_name("orders")
        make(self.rig.broker.bootstrap, {topic: partitions}, **config)
        make(self.target, {f"copy.{topic}": partitions}, **config)
        return topic, f"copy.{topic}"

    def clone(self, group: str, *more: Word, output: str = "json", to: str = "") -> Answer:
        return self.rig.ours(
            "offsets", "clone", group, to or f"{group}-copy", "--to-bootstrap-server", self.target,
            "--topic-prefix", "copy.", *more, output=output,
        )  # fmt: skip


def rows(answer: Answer) -> dict[int, dict[str, Any]]:
    """By partition."""
    (group,) = answer.document["groups"]
    return {row["partition"]: row for row in group["offsets"]}


def facts(answer: Answer) -> dict[int, tuple[str, int]]:
    return {number: (row["proof"], row["after"]) for number, row in rows(answer).items()}


@pytest.fixture
def here(rig: OffsetRig) -> Copies:
    """Give copies on the same broker."""
    return Copies(rig=rig, target=rig.broker.bootstrap)


def test_what_a_copy_proves_and_what_not(here: Copies) -> None:
    topic, copy = here.pair(partitions=10)
    there = here.rig.broker.bootstrap
    noise = [Written(value="older", time_ms=FIRST_MS - 1000 + number) for number in range(5)]
    same_time = orders(300, per_ms=300)
    other = [Written(value=f"other {number}", time_ms=FIRST_MS + number) for number in range(20)]
    traced = [replace(order, headers=[*order.headers, ("via", b"dc1")]) for order in orders(20)]
    alike = [Written(value="ping") for _ in range(100)]
    logs: list[tuple[list[Written], list[Written], int, str, int]] = [
        (orders(20), [*noise, *orders(20)], 7, "proved", 12),  # 0: shifted
        (same_time, [*noise, *same_time], 222, "proved", 227),  # 1: one time for all
        (orders(20), [*noise, *orders(20)], 20, "proved", 25),  # 2: all read
        (orders(20), orders(15), 18, "target is behind", 15),
        (orders(20), orders(17, first=3), 1, "records missing", 0),  # 4: the copy begins later
        (orders(20), other, 9, "same time only", 9),
        (orders(20), [], 4, "target empty", 0),
        ([], [], 0, "proved", 0),
        (orders(20), traced, 11, "proved", 11),  # 8: a copier leaves its mark
        (alike, alike, 50, "several match", 16),
    ]
    for number, (source, target, *_) in enumerate(logs):
        write(there, topic, source, number)
        write(there, copy, target, number)
    group = here.rig.group({(topic, number): offset for number, (*_, offset, _, _) in enumerate(logs)})
    answer = here.clone(group)
    expected = {number: (proof, after) for number, (*_, proof, after) in enumerate(logs)}
    assert facts(answer) == expected
    details = rows(answer)
    assert details[0]["source_time"] == FIRST_MS + 7
    assert (details[0]["source_topic"], details[0]["topic"], details[0]["records"]) == (topic, copy, 20)
    assert [details[number]["twice"] for number in range(6)] == [0, 0, 0, 3, 0, None]
    assert [details[number]["skipped"] for number in range(6)] == [0, 0, 0, 0, 2, None]
    answer.assert_said(4, "not proved (same time only)", "--unproved")
    # Nothing of the group is set while a partition is not proved.
    assert here.clone(group, "--execute", "--yes").status == 4
    assert here.rig.committed(f"{group}-copy") == {}
    some = here.clone(group, "--topic", f"{topic}:0,1,2,7,8", "--execute", "--yes").succeeded()
    assert facts(some) == {number: expected[number] for number in (0, 1, 2, 7, 8)}
    assert here.rig.committed(f"{group}-copy") == {(copy, n): expected[n][1] for n in (0, 1, 2, 7, 8)}
    here.clone(group, "--unproved", "--execute", "--yes").succeeded()
    assert here.rig.committed(f"{group}-copy") == {(copy, n): after for n, (_, after) in expected.items()}
    # The search ends at its limit.
    assert facts(here.clone(group, "--topic", f"{topic}:1", "--search", "100"))[1][0] != "proved"
    table = here.clone(group, "--topic", f"{topic}:0", output="table").succeeded().stdout
    for word in ("2026-01-01T00:00:00.007Z", "proved", "SOURCE-TOPIC"):
        assert word in table


def test_logs_that_lost_their_beginning(here: Copies) -> None:
    topic, copy = here.pair(partitions=3)
    there = here.rig.broker.bootstrap
    for number in range(3):
        write(there, topic, orders(40), number)
        write(there, copy, orders(40), number)
    places = [TopicPartition(topic, 0, 12), TopicPartition(copy, 1, 12), TopicPartition(copy, 2, 30)]
    for future in here.rig.admin.delete_records(places).values():
        future.result()
    group = here.rig.group({(topic, 0): 5, (topic, 1): 12, (topic, 2): 28})
    answer = here.clone(group)
    assert facts(answer) == {0: ("proved", 12), 1: ("proved", 12), 2: ("records missing", 30)}
    assert rows(answer)[0]["remark"] == "7 unread records are no longer in the source"
    assert rows(answer)[2]["skipped"] == 2


def test_transactions_on_one_side_leave_gaps(here: Copies) -> None:
    topic, copy = here.pair()
    there = here.rig.broker.bootstrap
    producer = Producer({"bootstrap.servers": there, "transactional.id": topic, "log_level": 0})
    producer.init_transactions(30)
    kept: list[Written] = []
    for part in range(6):
        records = orders(5, first=5 * part)
        producer.begin_transaction()
        for record in records:
            producer.produce(topic, record.value, record.key, partition=0, timestamp=record.time_ms,
                             headers=list(record.headers))  # fmt: skip
        if part % 2:
            producer.flush(30)
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
            kept += records
    write(there, copy, kept)
    # Each transaction is six offsets long; 12 is the first record of the third, 11 the mark of the second.
    for offset, after in ((12, 5), (11, 5), (14, 7), (6, 5)):
        group = here.rig.group({(topic, 0): offset})
        answer = here.clone(group)
        assert facts(answer) == {0: ("proved", after)}, (offset, answer)
    # An open transaction in the target, after marks, whose times are the broker's own.
    back, opened = here.pair()
    write(there, back, orders(60))
    for part in range(2):
        producer.begin_transaction()
        for record in orders(20 + 20 * part, first=20 * part):
            producer.produce(opened, record.value, record.key, partition=0, timestamp=record.time_ms,
                             headers=list(record.headers))  # fmt: skip
        producer.flush(30)
        if not part:
            producer.commit_transaction(30)
    group = here.rig.group({(back, 0): 60})
    assert facts(here.clone(group)) == {0: ("proved", 61)}
    producer.abort_transaction(30)


def test_what_is_refused_before_records_are_read(here: Copies, tmp_path: Path) -> None:
    topic, copy = here.pair()
    bootstrap = here.rig.broker.bootstrap
    make(bootstrap, {f"more.{topic}": 2})
    write(bootstrap, topic, orders(5))
    write(bootstrap, copy, orders(5))
    group = here.rig.group({(topic, 0): 2})

    def said(*words: Word) -> Answer:
        return here.rig.ours("offsets", "clone", group, "t", *words)

    at = ["--to-bootstrap-server", bootstrap]
    counts = said(*at, "--topic-prefix", "more.")
    counts.assert_said(4, "1 partitions in the source and 2 in the target", f"more.{topic}")
    missing = said(*at, "--topic-prefix", "no.")
    missing.assert_said(3, f"no.{topic} in the target: no such topic")
    said(*at, "--map", "x").assert_refused("SOURCE=TARGET")
    said(*at, "--map", "a=b", "--map", "a=c").assert_refused("two topics")
    said("--unproved").assert_refused("--unproved is for another cluster")
    said("--to-context", "nowhere").assert_refused("nowhere")
    said("--to-context", "nowhere", *at).assert_refused("give one")
    same = here.rig.ours("offsets", "clone", group, group, *at)
    same.assert_refused("the same cluster")
    saved = tmp_path / "snapshot.yaml"
    here.rig.kohort.quick("snapshot", group, "-b", bootstrap, "--file", str(saved)).succeeded()
    offline = here.rig.kohort.quick("offsets clone", group, "t", "--snapshot", str(saved), *at)
    offline.assert_refused("no records to compare")
    beyond = here.rig.group({(topic, 0): 99})
    here.clone(beyond).assert_said(3, "beyond the end of the source's log, 5")
    with here.rig.consumer(f"{group}-copy") as consumer:
        join(consumer, copy)
        here.clone(group).assert_said(4, "1 active member")


def test_a_served_cluster_as_target_with_a_protected_context(rig: OffsetRig, tmp_path: Path) -> None:
    served = Served(None, "--topic", "payments:2")
    try:
        source = fresh_name("payments")
        make(rig.broker.bootstrap, {source: 2})
        write(rig.broker.bootstrap, source, orders(30), 1)
        write(served.bootstrap, "payments", [Written(value="first", time_ms=FIRST_MS - 1), *orders(30)], 1)
        group = rig.group({(source, 0): 0, (source, 1): 9})
        config = tmp_path / "config.yaml"
        config.write_text(
            f"kohort: 1\ncontexts:\n  dr: {{bootstrap_server: '{served.bootstrap}', protected: true}}\n"
        )
        words = ["offsets", "clone", group, group, "-b", rig.broker.bootstrap, "--to-context", "dr"]
        words += ["--map", f"{source}=payments", "--output", "json"]
        env = {"KOHORT_CONFIG": str(config)}
        shown = rig.kohort.quick(*words, **env).succeeded()
        assert facts(shown) == {0: ("proved", 0), 1: ("proved", 10)}
        assert "the target is the context dr" in shown.stderr
        rig.kohort.quick(*words, "--execute", "--yes", **env).assert_refused("dr is protected")
        rig.kohort.quick(*words, "--execute", "--confirm", "dr", **env).succeeded()
        listed = rig.kohort.quick("offsets", "export", group, "-b", served.bootstrap).succeeded()
        assert listed.stdout == "payments,0,0\npayments,1,10\n\n"
    finally:
        served.kill()


@LONG
@pytest.mark.kafka
def test_two_brokers_and_a_compacted_copy(rig: OffsetRig, start_broker: StartBroker) -> None:
    two = Copies(rig=rig, target=start_broker({"log.cleaner.backoff.ms": "100"}).bootstrap)
    topic = fresh_name("orders")
    copy, count, keys = f"copy.{topic}", 2000, 300
    make(rig.broker.bootstrap, {topic: 1})
    compacted = {"segment_bytes": "1048576", "min_cleanable_dirty_ratio": "0.01"}
    make(two.target, {copy: 1}, cleanup_policy="compact", segment_ms="500", **compacted)
    records = [
        Written(
            value=f"order {number}", key=f"customer {number * number % keys}", time_ms=FIRST_MS + number // 9
        )
        for number in range(count)
    ]
    write(rig.broker.bootstrap, topic, records)
    write(two.target, copy, [Written(value="old", key="old"), *records])
    numbers = {hashlib.sha256(f"order {number}".encode()).digest(): number for number in range(count)}

    def kept() -> Mapping[int, int]:
        """The number of the order at each offset of the copy."""
        with KafkaClient(ConnectionSettings(bootstrap_servers=(two.target,))) as client:
            request = RecordsRequest(offset=0, before=0, after=count + 1)
            (window,) = record_windows(client, {(copy, 0): request}).found.values()
        return {item.offset: numbers[item.value or b""] for item in window.after if item.value in numbers}

    def is_compacted() -> bool:
        # What is appended later rolls the segment.
        write(two.target, copy, [Written(value="old", key="old", time_ms=time.time_ns() // 1_000_000)])
        return len(kept()) < count // 2

    wait_until(is_compacted, "the copy is compacted", timeout_s=120, every_s=1)
    reported: set[str] = set()
    for offset in range(3, count, 97):
        answer = two.clone(rig.group({(topic, 0): offset}))
        verdict, after = facts(answer)[0]
        reported.add(verdict)
        before = [number for position, number in kept().items() if position < after]
        assert max(before, default=-1) < offset, (offset, verdict)
        if verdict == "proved":
            assert min(number for position, number in kept().items() if position >= after) >= offset
    assert "proved" in reported
