"""A producer that writes steadily and knows what it wrote."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping

from confluent_kafka import KafkaError, Message, Producer

from tests.kafka.broker import Broker
from tests.migration.end_to_end.journal import Partition

EVERY_S = 0.05
"""Each partition gets a record so often: twenty a second."""
FLUSH_S = 20.0


class SteadyProducer:
    """A thread that writes a record to every partition again and again, until it is stopped."""

    def __init__(self, broker: Broker, topics: Mapping[str, int]) -> None:
        """Write to `topics`, each with so many partitions; nothing is written before `start`."""
        # Idempotent: a retry is no second record.
        self._producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True})
        self._partitions = [(name, number) for name, count in topics.items() for number in range(count)]
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._written: dict[Partition, list[int]] = defaultdict(list)
        self._refused: list[str] = []

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> Mapping[Partition, list[int]]:
        """Write no more; return the offset of every record that the broker has acknowledged.

        Raises:
            AssertionError: the broker did not acknowledge a record.
        """
        self._stopping.set()
        self._thread.join()
        assert not self._producer.flush(FLUSH_S), "records without an answer"
        assert not self._refused, self._refused
        return self._written

    def _run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            for topic, partition in self._partitions:
                self._producer.produce(topic, b"", partition=partition, on_delivery=self._delivered)
            self._producer.poll(0)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        if error is not None or topic is None or partition is None or offset is None:
            self._refused.append(str(error))
            return
        self._written[topic, partition].append(offset)
