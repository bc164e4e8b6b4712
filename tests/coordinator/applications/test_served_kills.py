"""SIGKILL of `kohort serve --data` under load: producers and consumers continue, and nothing acknowledged is lost. Two
rounds here; `make served-kills` plays a hundred (`KOHORT_SERVED_KILLS`). The clients live through all of them: the
server restarts on its port each time, and continues from its directory."""

import os
import random
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from tests.conformance.servers import Embedded, kohort_process
from tests.kafka.broker import Broker
from tests.kafka.ports import HOST, free_ports
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.support.long import cases

ROUNDS = cases("KOHORT_SERVED_KILLS", 2, many=100)
TOPIC = "orders"
PARTITIONS = 4
GROUPS = frozenset({"consumer", "classic"})
LONGEST_S = 1.0  # From the moment that all clients are served again to the next kill, at most
EVERY_S = 0.01  # Each partition gets a record so often
COMMIT_S = 0.05
ANSWER_S = 20.0
QUICKLY: dict[str, Any] = {"reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 100, "log_level": 0}


class Load:
    """A producer with `acks=all`, idempotent, that numbers the records of each partition."""

    def __init__(self, bootstrap: str) -> None:
        self.acknowledged: Counter[int] = Counter()
        self.refused: list[str] = []
        self.sent = 0
        often = {"message.timeout.ms": 0, "retry.backoff.ms": 50, "linger.ms": 5}
        settings = {"bootstrap.servers": bootstrap, "enable.idempotence": True, **often}
        self._producer = Producer({**settings, **QUICKLY})

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(EVERY_S):
            for partition in range(PARTITIONS):
                self._producer.produce(
                    TOPIC, str(self.sent), partition=partition, on_delivery=self._delivered
                )
            self.sent += 1
            self._producer.poll(0)
        self._producer.flush(ANSWER_S)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.refused.append(str(error))
        else:
            self.acknowledged[message.partition() or 0] += 1


class Worker:
    """A consumer that commits what it has consumed, and knows what of that was acknowledged."""

    def __init__(self, bootstrap: str, group: str, settings: dict[str, str]) -> None:
        self.group = group
        self.consumed: dict[int, set[int]] = defaultdict(set)
        self.committed: Counter[int] = Counter()
        self.commits = 0
        self._reached: dict[int, int] = {}
        at = {"bootstrap.servers": bootstrap, "group.id": group, "topic.metadata.refresh.interval.ms": 500}
        reading = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
        self._consumer = Consumer({**at, **reading, **settings, **QUICKLY})

    def run(self, stop: threading.Event) -> None:
        self._consumer.subscribe([TOPIC], on_revoke=lambda *_: self._reached.clear())
        due = time.monotonic()
        while not stop.is_set():
            message = self._consumer.poll(COMMIT_S)
            if message is not None and message.error() is None:
                partition, offset = message.partition() or 0, message.offset() or 0
                self.consumed[partition].add(offset)
                self._reached[partition] = offset + 1
            if time.monotonic() > due:
                # While the server is gone it is refused; what it is then sure of is what it was sure of before.
                with suppress(KafkaException):
                    self._commit()
                due = time.monotonic() + COMMIT_S
        self._consumer.close()

    def _commit(self) -> None:
        offsets = [TopicPartition(TOPIC, partition, offset) for partition, offset in self._reached.items()]
        if not offsets:
            return
        for one in self._consumer.commit(offsets=offsets, asynchronous=False):
            if one.error is None:
                self.committed[one.partition] = max(self.committed[one.partition], one.offset)
        self.commits += 1


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    chance = random.Random(ROUNDS)
    bootstrap = f"{HOST}:{port}"
    load = Load(bootstrap)
    workers = [
        *(Worker(bootstrap, "consumer", {"group.protocol": "consumer"}) for _ in range(2)),
        Worker(bootstrap, "classic", {"session.timeout.ms": "6000", "heartbeat.interval.ms": "500"}),
    ]
    loads, works = threading.Event(), threading.Event()
    runs = [(load.run, loads), *((one.run, works) for one in workers)]
    threads = [threading.Thread(target=run, args=(stop,)) for run, stop in runs]
    sure: dict[str, Counter[int]] = {}

    try:
        for number in range(ROUNDS):
            killed = False
            with suppress(ChildProcessError), _served(tmp_path, port) as (server, pid):
                if number == 0:
                    create_topics(server, {TOPIC: PARTITIONS})
                    for thread in threads:
                        thread.start()
                _check_commits(bootstrap, sure)
                _wait_served(load, workers)
                time.sleep(chance.uniform(0, LONGEST_S))
                os.kill(pid, signal.SIGKILL)
                killed = True
            assert killed, (tmp_path / "serve.log").read_text()
            sure = {group: _most(workers, group) for group in GROUPS}
        with _served(tmp_path, port):
            _check_commits(bootstrap, sure)
            _wait_served(load, workers)

            loads.set()
            threads[0].join()
            assert not load.refused, load.refused[:10]
            assert load.acknowledged == dict.fromkeys(range(PARTITIONS), load.sent)
            for group in GROUPS:
                wait_until(partial(_has_all, workers, group, load.sent), f"{group} has consumed all")
            works.set()
            for thread in threads:
                thread.join()
            values = _values(bootstrap, load.sent)
            for partition in range(PARTITIONS):
                assert values[partition] == list(map(str, range(load.sent))), f"partition {partition}"
    finally:
        loads.set()
        works.set()


def _most(workers: Iterable[Worker], group: str) -> Counter[int]:
    counts: Counter[int] = Counter()
    for one in workers:
        if one.group == group:
            counts |= one.committed
    return counts


def _has_all(workers: Iterable[Worker], group: str, count: int) -> bool:
    members = [one for one in workers if one.group == group]
    consumed = [set().union(*(one.consumed[number] for one in members)) for number in range(PARTITIONS)]
    return consumed == [set(range(count))] * PARTITIONS


def _check_commits(bootstrap: str, sure: Mapping[str, Counter[int]]) -> None:
    """The server that has started has every offset whose commit its predecessor acknowledged."""
    for group, offsets in sure.items():
        kept = _committed(bootstrap, group)
        assert all(kept[partition] >= offset for partition, offset in offsets.items()), (group, offsets, kept)


@contextmanager
def _served(directory: Path, port: int) -> Iterator[tuple[Broker, int]]:
    """The server on its port, continuing from its directory, and its process."""
    options = ("--data", str(directory / "data"), "--listen", f"{HOST}:{port}")
    with kohort_process(directory / "serve.log", {}, *options) as (_, pid):
        yield Embedded(port, directory), pid


def _wait_served(load: Load, workers: list[Worker]) -> None:
    """Wait until there is an acknowledged record that was not there before, and a commit of every group."""
    records, commits = sum(load.acknowledged.values()), [one.commits for one in workers]

    def served() -> bool:
        groups = {one.group for one, before in zip(workers, commits, strict=True) if one.commits > before}
        return sum(load.acknowledged.values()) > records and groups == GROUPS

    wait_until(served, lambda: f"clients continue: {load.acknowledged}", every_s=0.01)


def _committed(bootstrap: str, group: str) -> dict[int, int]:
    with Consumer({"bootstrap.servers": bootstrap, "group.id": group, **QUICKLY}) as consumer:
        partitions = [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
        return {one.partition: one.offset for one in consumer.committed(partitions, ANSWER_S)}


def _values(bootstrap: str, count: int) -> dict[int, list[str]]:
    values: dict[int, list[str]] = defaultdict(list)
    settings = {"bootstrap.servers": bootstrap, "group.id": "reader", "enable.partition.eof": True}
    left = set(range(PARTITIONS))
    with Consumer({**settings, **QUICKLY}) as consumer:
        consumer.assign([TopicPartition(TOPIC, number, OFFSET_BEGINNING) for number in left])

        def all_read() -> bool:
            for message in consumer.consume(10_000, 0.2):
                error = message.error()
                if error is None:
                    values[message.partition() or 0].append((message.value() or b"").decode())
                elif error.code() == KafkaError._PARTITION_EOF:
                    left.discard(message.partition() or 0)
            return not left

        wait_until(all_read, lambda: f"{count} records of each partition are read")
    return values
