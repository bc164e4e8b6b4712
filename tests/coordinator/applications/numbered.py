"""A producer of numbered records that knows what it wrote where."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from confluent_kafka import KafkaError, Message, Producer

from tests.kafka.broker import Broker
from tests.migration.end_to_end.journal import Partition

FLUSH_S = 60.0


class NumberedProducer:
    """Writes records whose keys name their partition and whose values count its records."""

    def __init__(self, broker: Broker) -> None:
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
        timestamp of the first ones, the next ones being a millisecond younger; 0 is now."""
        for number in range(count):
            for topic, partition in partitions:
                record = self._next[topic, partition]
                self._next[topic, partition] += 1
                at_ms = first_at_ms and first_at_ms + number
                fields = (str(record), f"{topic}-{partition}", partition)
                self._producer.produce(topic, *fields, on_delivery=self._delivered, timestamp=at_ms)
        assert not self._producer.flush(FLUSH_S), "records without an answer"
        assert not self._refused, self._refused

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._refused.append(error)
            return
        place = message.topic() or "", message.partition() or 0
        key, value = message.key() or b"", message.value() or b""
        self.written[place][message.offset() or 0] = f"{key.decode()}:{value.decode()}"
