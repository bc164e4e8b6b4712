"""Problems with offsets and lag of groups on a real broker, each compared with a healthy twin, in one observation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.cli.command import Kohort
from tests.cli.verbs.diagnose.scene import Scene
from tests.kafka.topics import delete_records, delete_topic
from tests.support.long import LONG

pytestmark = pytest.mark.kafka
HEALTHY = "healthy"


def test_each_finding_and_its_healthy_twin(scene: Scene, kohort: Kohort) -> None:
    orders = scene.topic("orders", 2)
    scene.again_and_again(partial(scene.produce, orders, 2))

    # A member that reads and commits all the time, one that has ceased to, one that is slow and commits one partition
    # only, and one that cannot get past a record.
    reads, still, half, poisoned = (
        scene.member(word, orders) for word in (HEALTHY, "stalled", "half", "poisoned")
    )

    def read_on() -> None:
        reads.consume(1000, 0.1)
        reads.commit(
            offsets=[*reads.position([TopicPartition(orders, index) for index in (0, 1)])], asynchronous=False
        )

    scene.again_and_again(read_on)
    still.commit(offsets=[TopicPartition(orders, index, 3) for index in (0, 1)], asynchronous=False)
    half.commit(offsets=[TopicPartition(orders, 0, 3)], asynchronous=False)
    slow = iter(range(4, 10_000))
    scene.again_and_again(
        lambda: half.commit(offsets=[TopicPartition(orders, 0, next(slow))], asynchronous=False), 1.0
    )

    poisoned.commit(offsets=[TopicPartition(orders, 1, 3)], asynchronous=False)
    scene.again_and_again(partial(_commit_end, poisoned, TopicPartition(orders, 0)))

    # An open transaction.
    paid = scene.topic("paid", records=3)
    till = Producer({"bootstrap.servers": scene.broker.bootstrap, "transactional.id": scene.name("till")})
    till.init_transactions(30)
    till.begin_transaction()
    till.produce(paid, b"")
    till.flush(30)
    waits = scene.member("waits", paid, **{"isolation.level": "read_committed"})
    waits.commit(offsets=[TopicPartition(paid, 0, 3)], asynchronous=False)

    # groups without members: one that has read everything, and four that have not, each in its own way.
    done = scene.topic("done")
    scene.commit("done", done, 10)
    scene.commit("stopped", done, 4)
    scene.commit("lost", done, 1)
    # The broker deletes what was committed to a topic that is deleted; consumers that run on commit it again.
    gone = scene.topic("gone", records=5)
    delete_topic(scene.broker, gone)
    scene.topic("gone", records=2)
    scene.commit("recreated", gone, 5)
    delete_records(scene.broker, {(done, 0): 3})

    long = scene.topic("long", records=400)
    rewound = iter(range(400, 0, -1))
    scene.commit("rewound", long, next(rewound))
    scene.again_and_again(lambda: scene.commit("rewound", long, next(rewound)), 1.0)

    reported = kohort(
        "diagnose", "--match", scene.prefix, "--for", "4s", "--commit-interval", "1s", "--transaction-time", "1s",
        "-b", scene.broker.bootstrap, "--output", "json",
    )  # fmt: skip
    assert reported.status == 1, reported
    findings = {
        group["group"].removeprefix(f"{scene.prefix}-"): {
            finding["rule"]: finding for finding in group["findings"] if finding["level"] != "note"
        }
        for group in reported.document["groups"]
    }
    assert {group: sorted(rules) for group, rules in findings.items()} == {
        HEALTHY: [],
        "done": [],
        "half": ["falling-behind", "never-committed"],
        "lost": ["records-lost", "stopped"],
        "poisoned": ["stalled-partition"],
        "recreated": ["beyond-end"],
        "rewound": ["rewound"],
        "stalled": ["stalled-member"],
        "stopped": ["stopped"],
        "waits": ["open-transaction"],
    }
    assert findings["stalled"]["stalled-member"]["evidence"]["partitions"] == [f"{orders}-0", f"{orders}-1"]
    assert findings["waits"]["open-transaction"]["evidence"]["transactional_id"] == scene.name("till")
    assert findings["lost"]["records-lost"]["evidence"]["records_lost"] == 2
    assert findings["recreated"]["beyond-end"]["evidence"] == {
        "partitions": [f"{gone}-0"],
        "above_the_end_by": 3,
    }
    assert findings["poisoned"]["stalled-partition"]["evidence"]["offset"] == 3
    till.abort_transaction(30)


@LONG
def test_rates_retention_and_expiry(scene: Scene, kohort: Kohort) -> None:
    quiet = scene.topic("quiet")
    idle = scene.member(HEALTHY, quiet)
    idle.commit(offsets=[TopicPartition(quiet, 0, 10)], asynchronous=False)
    scene.commit("expires", quiet, 10)

    # Lag that shrinks, in one partition only, and records that are deleted faster than they are read.
    shrinks, hot, kept = (scene.topic(word, 3, records=5000) for word in ("shrinks", "hot", "kept"))
    for word, topic, step, others in (
        ("shrinks", shrinks, 20, (0, 0)),
        ("hot", hot, 1, (5000, 5000)),
        ("overtaken", kept, 1, (5000, 5000)),
    ):
        consumer = scene.member(word, topic)
        places = [TopicPartition(topic, number, offset) for number, offset in enumerate((1000, *others))]
        consumer.commit(offsets=places, asynchronous=False)
        scene.again_and_again(partial(_step, consumer, topic, iter(range(1000, 5000, step))))
    starts = iter(range(0, 1000, 10))
    scene.again_and_again(lambda: delete_records(scene.broker, {(kept, 0): next(starts)}), 0.5)
    scene.again_and_again(partial(scene.produce, kept, 1), 0.05)

    left = scene.member("left", quiet)
    left.commit(offsets=[TopicPartition(quiet, 0, 10), TopicPartition(hot, 0, 4990)], asynchronous=False)

    reported = kohort(
        "diagnose", "--match", scene.prefix, "--for", "4s", "--catch-up", "10s", "--expires-within", "8d",
        "-b", scene.broker.bootstrap, "--output", "json",
    )  # fmt: skip
    findings = {
        group["group"].removeprefix(f"{scene.prefix}-"): {
            finding["rule"]: finding["level"] for finding in group["findings"]
        }
        for group in reported.document["groups"]
    }
    assert findings[HEALTHY] == {}
    assert findings["expires"] == {"offsets-expiring": "warning"}
    assert findings["left"] == {"left-over-offsets": "note"}
    assert findings["shrinks"]["slow-catch-up"] == "warning"
    assert "hot-partition" not in findings["shrinks"]
    assert findings["hot"] == {"hot-partition": "warning", "slow-catch-up": "warning"}
    assert findings["overtaken"]["overtaken"] == "error"
    assert reported.status == 1


def _step(consumer: Consumer, topic: str, offsets: Iterator[int]) -> None:
    consumer.commit(offsets=[TopicPartition(topic, 0, next(offsets))], asynchronous=False)


def _commit_end(consumer: Consumer, partition: TopicPartition) -> None:
    _, end = consumer.get_watermark_offsets(partition, timeout=30)
    consumer.commit(offsets=[TopicPartition(partition.topic, partition.partition, end)], asynchronous=False)
