"""Groups of a real broker in which something is wrong, or nothing: consumers that live, producers that continue."""

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.cli.command import Answer
from tests.kafka.broker import Broker
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until


@dataclass
class Scene:
    broker: Broker
    prefix: str
    stack: ExitStack
    producer: Producer = field(init=False)
    consumers: list[Consumer] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.producer = Producer({"bootstrap.servers": self.broker.bootstrap})

    def name(self, word: str) -> str:
        return f"{self.prefix}-{word}"

    def topic(self, word: str, partitions: int = 1, records: int = 10) -> str:
        """A topic with this many records in each partition."""
        name = self.name(word)
        create_topics(self.broker, {name: partitions})
        for _ in range(records):
            self.produce(name, partitions)
        assert self.producer.flush(30) == 0
        return name

    def produce(self, topic: str, partitions: int) -> None:
        for number in range(partitions):
            self.producer.produce(topic, b"", partition=number)

    def commit(self, word: str, topic: str, *offsets: int) -> None:
        """As a group without members."""
        consumer = Consumer(self.settings(word))
        places = [TopicPartition(topic, number, offset) for number, offset in enumerate(offsets)]
        consumer.commit(offsets=places, asynchronous=False)
        consumer.close()

    def member(self, word: str, topic: str, **settings: Any) -> Consumer:
        """A consumer that has its partitions and has read nothing."""
        consumer = Consumer({**self.settings(word), **settings})
        self.consumers.append(consumer)
        consumer.subscribe([topic])
        wait_until(lambda: consumer.poll(0.1) or consumer.assignment(), f"{word} has partitions")
        return consumer

    def again_and_again(self, act: Callable[[], object], every_s: float = 0.2) -> None:
        """In a thread, until the scene ends."""

        def run() -> None:
            while not self.ended.wait(every_s):
                act()

        (thread := threading.Thread(target=run, daemon=True)).start()
        self.stack.callback(thread.join, 30)
        self.stack.callback(self.ended.set)

    def findings(self, reported: Answer) -> dict[str, dict[str, dict[str, Any]]]:
        """By word and rule."""
        found = {group["group"]: group["findings"] for group in reported.document["groups"]}
        start = f"{self.prefix}-"
        return {name.removeprefix(start): {one["rule"]: one for one in by} for name, by in found.items()}

    @staticmethod
    def levels(findings: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
        return {rule: finding["level"] for rule, finding in findings.items()}

    def settings(self, word: str) -> dict[str, Any]:
        return {
            "bootstrap.servers": self.broker.bootstrap,
            "group.id": self.name(word),
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
        }
