"""Kinds of groups, sick and healthy, of real consumers at known rates, for the table of verdicts."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from tests.cli.verbs.diagnose.scene import Scene

AGED_S = 540  # how old the oldest record of a backlog is


@dataclass(slots=True, kw_only=True)
class Flow:
    """A topic with a producer, and a consumer that commits as if it had read at a rate."""

    produced: Sequence[float]  # records per second into each partition
    read: Sequence[float]  # records per second and partition that the consumer can read; at most all
    commit_s: float = 5.0
    backlog: Sequence[int] = ()  # records per partition at the start, spread over the last `AGED_S`
    burst_s: float = 0.0  # if set, records are produced only once in this time
    pause_s: float = 0.0  # how long the consumer reads nothing, every 40 seconds
    first_commit_s: float = 0.0  # before, the offsets of an earlier member hold
    settings: Mapping[str, Any] = field(default_factory=dict)  # More settings of the consumer

    def start(self, scene: Scene, word: str) -> None:
        partitions = len(self.produced)
        topic = scene.topic(word, partitions, records=0)
        ends = list(self.backlog or [0] * partitions)
        now_ms = time.time_ns() // 1_000_000
        for number, records in enumerate(ends):
            for position in range(records):
                age_ms = AGED_S * 1000 * (records - position) // records
                scene.producer.produce(topic, b"", partition=number, timestamp=now_ms - age_ms)
                if not position % 1000:
                    scene.producer.poll(0)
        assert scene.producer.flush(60) == 0
        if self.first_commit_s:
            scene.commit(word, topic, *[0] * partitions)
        consumer = scene.member(word, topic, **self.settings)
        begun = time.monotonic()
        written = [0.0] * partitions
        at = [0.0] * partitions
        read_s = committed_s = begun

        def produce() -> None:
            passed_s = time.monotonic() - begun
            if self.burst_s:
                passed_s -= passed_s % self.burst_s
            for number, rate in enumerate(self.produced):
                while written[number] < int(rate * passed_s):
                    scene.producer.produce(topic, b"", partition=number)
                    written[number] += 1
            scene.producer.poll(0)

        def read() -> None:
            nonlocal read_s, committed_s
            now_s = time.monotonic()
            paused = (now_s - begun) % 40 < self.pause_s
            for number, rate in enumerate([0.0] * partitions if paused else self.read):
                end = ends[number] + written[number]
                at[number] = min(at[number] + rate * (now_s - read_s), end)
            read_s = now_s
            if now_s - committed_s >= self.commit_s:
                committed_s += self.commit_s
                _commit(consumer, topic, map(int, at))

        if self.first_commit_s:
            committed_s += self.first_commit_s - self.commit_s
        else:
            _commit(consumer, topic, [0] * partitions)
        scene.again_and_again(produce, 0.1)
        scene.again_and_again(read, 0.1)


def _commit(consumer: Consumer, topic: str, offsets: Iterable[int]) -> None:
    places = [TopicPartition(topic, number, offset) for number, offset in enumerate(offsets)]
    consumer.commit(offsets=places, asynchronous=False)


def _stalled(scene: Scene, word: str) -> None:
    """It has committed for a while, and then no more."""
    flow = Flow(produced=[5, 5], read=[5, 5])
    flow.start(scene, word)
    begun = time.monotonic()

    def stop() -> None:
        if time.monotonic() - begun > 30:
            flow.commit_s = inf

    scene.again_and_again(stop, 1)


def _stopped(scene: Scene, word: str) -> None:
    topic = scene.topic(word, records=10)
    scene.commit(word, topic, 4)


def _restarting(scene: Scene, word: str) -> None:
    """Its process starts again and again, and fails at the same record."""
    topic = scene.topic(word, records=10)
    scene.commit(word, topic, 4)

    def run() -> None:
        consumer = Consumer(scene.settings(word))
        consumer.subscribe([topic])
        for _ in range(40):
            consumer.poll(0.1)
        consumer.close()

    scene.again_and_again(run, 1)


def _rewound(scene: Scene, word: str) -> None:
    """Two consumers without membership commit the same partition."""
    topic = scene.topic(word, records=2000)
    offsets = (offset for position in count() for offset in (position + 1000, position))
    scene.again_and_again(lambda: scene.commit(word, topic, next(offsets)), 2.6)


def _unread(scene: Scene, word: str) -> None:
    """A consumer that reads and commits nothing, from its first start on."""
    scene.member(word, scene.topic(word, records=10))


def _survivor(scene: Scene, word: str) -> None:
    """It has taken over two partitions, and reads one after the other."""
    Flow(produced=[5, 5], read=[50, 0], backlog=[30_000, 2_000]).start(scene, word)


def _static(scene: Scene, word: str) -> None:
    """Static members, one of which restarts every now and then."""
    settings = {"group.instance.id": "one", "enable.auto.commit": True}
    topic = scene.topic(word, 2)
    scene.commit(word, topic, 10, 10)
    scene.again_and_again(lambda: scene.produce(topic, 2), 0.5)
    scene.member(word, topic, **{**settings, "group.instance.id": "two"})

    def run() -> None:
        consumer = Consumer({**scene.settings(word), **settings})
        consumer.subscribe([topic])
        until = time.monotonic() + 25
        while time.monotonic() < until and not scene.ended.is_set():
            consumer.poll(0.2)
        consumer.close()

    scene.again_and_again(run, 1)
    other = scene.consumers[-1]
    scene.again_and_again(lambda: other.poll(0.1), 0.05)


def _joining(scene: Scene, word: str) -> None:
    """Members join one after the other, with cooperative rebalances."""
    settings = {"partition.assignment.strategy": "cooperative-sticky", "enable.auto.commit": True}
    topic = scene.topic(word, 6)
    scene.commit(word, topic, *[10] * 6)
    scene.again_and_again(lambda: scene.produce(topic, 6), 0.5)
    members: list[Consumer] = []

    def join() -> None:
        if len(members) < 4:
            consumer = Consumer({**scene.settings(word), **settings})
            consumer.subscribe([topic])
            members.append(consumer)
            scene.consumers.append(consumer)

    def poll() -> None:
        for member in members:
            member.poll(0.02)

    join()
    scene.again_and_again(poll, 0.02)
    scene.again_and_again(join, 4)


def _grown(scene: Scene, word: str) -> None:
    """Its topic has just got partitions, which its members do not know yet."""
    topic = scene.topic(word, 2)
    scene.commit(word, topic, 10, 10)
    consumer = scene.member(word, topic, **{"enable.auto.commit": True})
    scene.again_and_again(lambda: scene.produce(topic, 2), 0.5)
    scene.again_and_again(lambda: consumer.poll(0.1), 0.05)
    admin = AdminClient({"bootstrap.servers": scene.broker.bootstrap})
    for future in admin.create_partitions([NewPartitions(topic, 4)]).values():
        future.result()


STEADY = [20.0, 20.0]
LIVE: Mapping[str, Callable[[Scene, str], None]] = {
    "slow": Flow(produced=[20], read=[10], backlog=[10_845]).start,
    "slow-since-now": Flow(produced=[20], read=[10]).start,
    "slow-slightly": Flow(produced=[20], read=[16], backlog=[10_800]).start,
    "slow-lately": Flow(produced=[20], read=[16], backlog=[9_000]).start,
    "slow-batches": Flow(produced=[20], read=[10], commit_s=30, backlog=[9_000]).start,
    "slow-bursts": Flow(produced=[20], read=[10], burst_s=20, backlog=[9_000]).start,
    "hot": Flow(produced=[40, 5, 5], read=[10, 20, 20], backlog=[9_000, 0, 0]).start,
    "slow-partition": Flow(produced=[10, 10], read=[20, 4], backlog=[0, 3_000]).start,
    "stalled": _stalled,
    "poisoned": Flow(produced=[5, 5], read=[20, 0], backlog=[0, 10]).start,
    "restarting": _restarting,
    "without-commits": _unread,
    "stopped": _stopped,
    "two-readers": _rewound,
    "survivor": _survivor,
    "steady": Flow(produced=STEADY, read=[100, 100]).start,
    "commits-each-second": Flow(produced=STEADY, read=[100, 100], commit_s=1).start,
    "commits-30s": Flow(produced=STEADY, read=[100, 100], commit_s=30).start,
    "commits-60s": Flow(produced=STEADY, read=[100, 100], commit_s=60).start,
    "bursts": Flow(produced=[100, 100], read=[300, 300], burst_s=15).start,
    "long-bursts": Flow(produced=[50], read=[80], burst_s=40).start,
    "same-rate": Flow(produced=[10], read=[10], backlog=[200]).start,
    "late-on-purpose": Flow(produced=[20], read=[20], backlog=[10_800]).start,
    "catching-up": Flow(produced=[20], read=[200], backlog=[60_000]).start,
    "quiet": Flow(produced=[0.15], read=[20]).start,
    "uneven": Flow(produced=[50, 1, 1], read=[100, 100, 100], commit_s=30).start,
    "paused": Flow(produced=STEADY, read=[100, 100], pause_s=8).start,
    "static": _static,
    "started": Flow(produced=STEADY, read=[300, 300], backlog=[10_800, 10_800], first_commit_s=7).start,
    "slow-start": Flow(produced=[20], read=[100], backlog=[10_800], commit_s=30, first_commit_s=25).start,
    "joining": _joining,
    "grown": _grown,
}
