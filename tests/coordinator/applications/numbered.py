"""A producer of numbered records that knows what it wrote where."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from confluent_kafka import KafkaError, Message, Producer

from tests.kafka.broker import Broker
from tests.migration.end_to_end.journal import Partition

FLUSH_S = 60.0


class NumberedProducer:
    """Writes records whose keys name their partition and whose values count its records."""

    def __init__(self, broker: Broker) -> None:
        """Nothing is written yet."""
        # Idempotent: a retry is no second record. One request at a time: see SteadyProducer.
        self._producer = Producer(
            {"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "max.in.flight": 1}
        )
        self._next: Counter[Partition] = Counter()
        self._refused: list[KafkaError] = []
        self.written: Mapping[Partition, dict[int, str]] = defaultdict(dict)
        """The key and the value of every record, as a journal has them, by partition and offset."""

    def write(self, partitions: Sequence[Partition], count: int, first_at_ms: int = 0) -> None:
        """Write `count` records to each of `partitions`, and return when all are acknowledged. `first_at_ms` is the
        timestamp of the first ones, the next ones being a millisecond younger; 0 is now.

        Raises:
            AssertionError: one was refused, or not answered within a minute.
        """
        for number in range(count):
            for topic, partition in partitions:
                record = self._next[topic, partition]
                self._next[topic, partition] += 1
                self._producer.produce(
                    topic,
                    str(record),
                    f"{topic}-{partition}",
                    partition,
                    on_delivery=self._delivered,
                    timestamp=first_at_ms and first_at_ms + number,
                )
        assert not self._producer.flush(FLUSH_S), "records without an answer"
        assert not self._refused, self._refused

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._refused.append(error)
            return
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        key, value = message.key(), message.value()
        assert topic is not None
        assert partition is not None
        assert offset is not None
        assert isinstance(key, bytes)
        assert isinstance(value, bytes)
        self.written[topic, partition][offset] = f"{key.decode()}:{value.decode()}"
