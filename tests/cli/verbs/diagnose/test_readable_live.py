"""What consumers can read on a real broker: aborted, deleted and unsubscribed records, and open transactions."""

import time
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin._resource import ResourceType

from tests.cli.command import Kohort
from tests.cli.verbs.diagnose.scene import Scene
from tests.kafka.broker import Broker
from tests.kafka.topics import delete_records, delete_topic, set_config
from tests.kafka.wait import wait_until

pytestmark = pytest.mark.kafka
COMMITTED = {"isolation.level": "read_committed"}


def begun(scene: Scene, word: str) -> Producer:
    producer = Producer({"bootstrap.servers": scene.broker.bootstrap, "transactional.id": scene.name(word)})
    producer.init_transactions(30)
    producer.begin_transaction()
    return producer


def put(producer: Producer, topic: str, count: int = 1, **more: Any) -> None:
    for _ in range(count):
        producer.produce(topic, b"", partition=0, **more)
    assert producer.flush(30) == 0


def committed(consumer: Consumer, topic: str, offset: int) -> None:
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)


def stable_end(consumer: Consumer, topic: str) -> int:
    return consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)[1]


def test_only_what_can_be_read_is_judged(scene: Scene, broker: Broker, kohort: Kohort) -> None:
    # Ten records, five aborted ones and their marker; a read_committed member that has committed the ten.
    aborts = scene.topic("aborts")
    producer = begun(scene, "aborter")
    put(producer, aborts, 5)
    producer.abort_transaction(30)
    member = scene.member("aborted", aborts, **COMMITTED)
    wait_until(lambda: stable_end(member, aborts) == 16, "the marker is written")
    committed(member, aborts, 10)
    scene.commit("aborted-alone", aborts, 10)
    # Three hundred records of which 250 are deleted.
    long = scene.topic("long", records=300)
    delete_records(broker, {(long, 0): 250})
    scene.commit("lost", long, 100)
    # All records of a topic are deleted.
    empty = scene.topic("empty")
    delete_records(broker, {(empty, 0): 10})
    scene.commit("all-deleted", empty, 10)
    # A group that has moved to another topic.
    old, new = scene.topic("old"), scene.topic("new")
    scene.commit("moved", old, 2)
    committed(scene.member("moved", new), new, 10)
    # A topic that was created again, and a member that commits one of its partitions only.
    gone, two = scene.topic("gone", records=5), scene.topic("two", 2)
    delete_topic(broker, gone)
    scene.topic("gone", records=2)
    scene.commit("recreated", gone, 5)
    committed(scene.member("half", two), two, 10)
    # An open transaction in which records come, and one with offsets of a group.
    held = scene.topic("held")
    till = begun(scene, "till")
    put(till, held)
    committed(scene.member("held", held, **COMMITTED), held, 10)
    scene.again_and_again(lambda: put(scene.producer, held), 1.0)
    read = scene.topic("read")
    eos = begun(scene, "eos")
    starts = scene.member("pending", read, **COMMITTED)
    eos.send_offsets_to_transaction([TopicPartition(read, 0, 7)], starts.consumer_group_metadata(), 30)
    scene.commit("reset", read, 3)
    again = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": scene.name("reset")})
    never = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": scene.name("never")})
    for consumer in (again, never):
        eos.send_offsets_to_transaction([TopicPartition(read, 0, 7)], consumer.consumer_group_metadata(), 30)
    # A marker is the last record.
    marked = begun(scene, "marked")
    marks = scene.topic("marks", records=0)
    put(marked, marks, 5)
    marked.commit_transaction(30)
    committed(scene.member("marked", marks, **COMMITTED), marks, 5)
    # records of 1970, of tomorrow, and without a wrong time.
    times = {}
    now_ms = time.time_ns() // 1_000_000
    for word, ms in (("seconds", now_ms // 1000), ("ahead", now_ms + 1_800_000), ("fine", now_ms - 60_000)):
        times[word] = scene.topic(word, records=0)
        set_config(broker, ResourceType.TOPIC, times[word], {"retention.ms": "-1"})  # else 1970 is deleted
        put(scene.producer, times[word], 19, timestamp=ms)
        scene.commit(word, times[word], 0)

    address = ("-b", broker.bootstrap, "--output", "json")
    reported = kohort(f"diagnose --match {scene.prefix} --for 6s --commit-interval 1s", *address)
    findings = scene.findings(reported)
    assert {word: scene.levels(rules) for word, rules in findings.items() if word not in times} == {
        "aborted": {"aborted-records": "note"},
        "aborted-alone": {"aborted-records": "note"},
        "lost": {"records-lost": "warning", "stopped": "error"},
        "all-deleted": {},
        "marked": {},
        "moved": {"left-over-offsets": "note"},
        "recreated": {"beyond-end": "error"},
        "half": {"never-committed": "warning"},
        "held": {"open-transaction": "warning"},
        "pending": {"pending-offsets": "warning"},
        "reset": {"pending-offsets": "warning", "stopped": "error"},
        "never": {},  # no request shows which partitions of it are pending
    }
    assert findings["aborted"]["aborted-records"]["evidence"]["aborted"] == 5
    assert findings["lost"]["records-lost"]["evidence"]["records_lost"] == 150
    assert findings["lost"]["stopped"]["evidence"]["lag"] == 50
    assert findings["moved"]["left-over-offsets"]["evidence"] == {"partitions": [f"{old}-0"], "lag": 8}
    assert findings["held"]["open-transaction"]["evidence"]["produced"] >= 3
    evidence = findings["pending"]["pending-offsets"]["evidence"]
    assert (evidence["partitions"], evidence["transactional_id"]) == ([f"{read}-0"], scene.name("eos"))
    assert "abort --topic __consumer_offsets" in findings["pending"]["pending-offsets"]["remedy"]

    described = kohort("describe", "--match", scene.prefix, "--lag-time", "--totals", *address)
    rows = {
        (group["group"].removeprefix(f"{scene.prefix}-"), row["topic"].removeprefix(f"{scene.prefix}-")): row
        for group in described.document["groups"]
        for row in group["offsets"]
    }
    assert (rows["aborted", "aborts"]["lag"], rows["aborted", "aborts"]["lag_ms"]) == (6, 0)
    assert rows["lost", "long"]["lag"] == 200
    assert rows["pending", "read"]["pending"] is True
    assert rows["lost", "long"]["pending"] is None
    assert 60_000 <= rows["fine", "fine"]["lag_ms"] < 180_000
    for word, why in (("seconds", "before Kafka existed"), ("ahead", "in the future, by 29 min")):
        assert rows[word, word]["lag_ms"] is None
        assert why in rows[word, word]["lag_ms_remark"]
        assert why in described.stderr
    assert f"open transaction of the producer {scene.name('eos')}" in described.stderr
    (moved,) = (group for group in described.document["groups"] if group["group"] == scene.name("moved"))
    assert [moved["totals"][name] for name in ("lag", "lag_unsubscribed", "max_lag_ms")] == [8, 8, 0]

    text = kohort("exporter", "--once", "--match", scene.prefix, "-b", broker.bootstrap).stdout
    figures = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    for word, expected in {
        "aborted": {"lag_records": 6, "lag_seconds": 0, "unread_records": 0},
        "lost": {
            "lag_records": 200,
            "lost_records": 150,
            "unread_records": 50,
            "offsets_pending_partitions": 0,
        },
        "moved": {"lag_records": 8, "lag_unsubscribed_records": 8, "lag_seconds": 0, "unread_records": 0},
        "pending": {"offsets_pending_partitions": 1},
    }.items():
        of_group = f'{{group="{scene.name(word)}"}}'
        assert {name: float(figures[f"kohort_group_{name}{of_group}"]) for name in expected} == expected, word
    assert f'kohort_group_lag_seconds{{group="{scene.name("ahead")}"}}' not in figures

    # Nothing was committed before in this group: the reset names the partition.
    preview = kohort("offsets", "reset", scene.name("never"), "--topic", read, "--to-latest", *address)
    assert preview.document["groups"][0]["offsets"][0]["remark"] == "pending in an open transaction"
    # A reset over pending offsets is done, says so, and wins over them.
    reset = f"offsets reset {scene.name('reset')} --topic {read} --to-earliest --execute --yes"
    changed = kohort(reset, *address).succeeded()
    assert f"open transaction of the producer {scene.name('eos')}" in changed.stderr
    (change,) = changed.document["groups"][0]["offsets"]
    assert (change["remark"], change["after"]) == ("pending in an open transaction", 0)
    eos.commit_transaction(30)
    wait_until(lambda: "pending" not in kohort("describe", scene.name("reset"), *address).stderr, "its end")
    (offset,) = again.committed([TopicPartition(read, 0)], timeout=30)
    assert offset.offset == 0
    again.close()
    never.close()
    till.abort_transaction(30)
