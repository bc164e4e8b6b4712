"""Rates, retention and expiry of groups on a real broker, compared with a healthy twin."""

from collections.abc import Iterator
from functools import partial

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.cli.command import Kohort
from tests.cli.verbs.diagnose.scene import Scene
from tests.kafka.topics import delete_records
from tests.support.long import LONG

pytestmark = pytest.mark.kafka
HEALTHY = "healthy"


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
    findings = {word: scene.levels(rules) for word, rules in scene.findings(reported).items()}
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
