"""Records through `kohort serve` and a real broker of Kafka 4.3.1: `python -m benchmarks.records [COUNT]`.

One confluent-kafka producer writes a million records of 100 bytes to a topic of four partitions, and one consumer reads
them; both servers run the whole time, and measurements alternate. With `--data` responses wait for the disk, which a
broker's responses do not.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.serving import SETTINGS, TOPIC, create_topic, kafka
from tests.conformance.servers import kohort_process
from tests.kafka.ports import HOST

COUNT = 1_000_000
VALUE = b"x" * 100
USED = 4
"""The number of partitions that are written."""
ROUNDS = 3
AT_ONCE = 10_000
TARGET = 50_000
WAIT_S = 30


def produced(port: int, count: int) -> float:
    """Records written per second."""
    producer = Producer(
        {
            "bootstrap.servers": f"{HOST}:{port}",
            "linger.ms": 5,
            "queue.buffering.max.messages": 500_000,
            "acks": "all",
        }
    )
    failed: list[object] = []

    def delivered(error: object, _: object) -> None:
        if error is not None:
            failed.append(error)

    producer.list_topics(TOPIC, timeout=WAIT_S)
    began = time.perf_counter()
    for number in range(count):
        while True:
            try:
                producer.produce(TOPIC, VALUE, partition=number % USED, on_delivery=delivered)
                break
            except BufferError:
                producer.poll(0.01)
        if not number % 1_000:
            producer.poll(0)
    if producer.flush(WAIT_S) or failed:
        raise SystemExit(f"not all records were written: {failed[:1]}")
    return count / (time.perf_counter() - began)


def fetched(port: int, count: int) -> float:
    """Records read per second, the last `count` of them."""
    consumer = Consumer(
        {"bootstrap.servers": f"{HOST}:{port}", "group.id": "bench", "enable.auto.commit": False}
    )
    places = []
    for number in range(USED):
        _, high = consumer.get_watermark_offsets(TopicPartition(TOPIC, number), timeout=WAIT_S)
        places.append(TopicPartition(TOPIC, number, high - count // USED))
    consumer.assign(places)
    left = count
    began = time.perf_counter()
    while left:
        messages = consumer.consume(min(AT_ONCE, left), WAIT_S)
        if not messages or any(message.error() for message in messages):
            raise SystemExit(f"{left} records were not read")
        left -= len(messages)
    seconds = time.perf_counter() - began
    consumer.close()
    return count / seconds


def compare(name: str, measure: Callable[[int, int], float], ports: Sequence[int], count: int) -> None:
    """Print the rates of each server, and the ratio of the first to the last."""
    rounds = [[measure(port, count) for port in ports] for _ in range(ROUNDS)]
    medians = [statistics.median(column) for column in zip(*rounds, strict=True)]
    words = " ".join(f"{each:12,.0f}" for each in medians)
    verdict = "" if medians[0] >= TARGET else f"  below {TARGET:,}"
    print(f"{name:24} {words} {medians[0] / medians[-1]:8.2f}{verdict}", flush=True)


def main() -> None:
    """Print a table, records per second."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    with tempfile.TemporaryDirectory(prefix="kohort-bench-") as scratch:
        base = Path(scratch)
        (base / "kafka").mkdir()
        with (
            kafka(base / "kafka") as (theirs, _),
            kohort_process(base / "memory.log", SETTINGS) as (memory, _),
            kohort_process(base / "disk.log", SETTINGS, "--data", str(base / "data")) as (disk, _),
        ):
            create_topic(memory)
            create_topic(disk)
            print(f"{count:,} records of 100 bytes:   in memory       --data    Kafka 4.3.1    ratio")
            for name, measure in (("written a second", produced), ("read a second", fetched)):
                compare(name, measure, (memory, disk, theirs), count)


if __name__ == "__main__":
    main()
