"""A producer that writes steadily and knows what it wrote."""

import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from tests.kafka.broker import Broker
from tests.kafka.wait import wait_until
from tests.migration.end_to_end.journal import Partition

EVERY_S = 0.05  # Each partition gets a record so often: twenty a second
FLUSH_S = 20.0
ANSWER_S = 10.0


class SteadyProducer:
    """A thread that writes a record to every partition again and again, until it is stopped."""

    def __init__(self, broker: Broker, topics: Mapping[str, int], every_s: float = EVERY_S) -> None:
        self._every_s = every_s
        silent = {
            "bootstrap.servers": broker.bootstrap,
            "log_level": 0,
        }  # Brokers are killed, and end before it
        # Idempotent: a retry is no second record. One request at a time: a new topic may show its leader before
        # that hosts it. It refuses the first batch then and takes the second, which is in flight, as the first of
        # a producer that it does not know; librdkafka 2.16 reads from that second success that the first batch is
        # in the log too ("implicitly acked"), and a record is gone.
        self._producer = Producer({**silent, "enable.idempotence": True, "max.in.flight": 1})
        self._partitions = [(name, number) for name, count in topics.items() for number in range(count)]
        self._watermarks = Consumer({**silent, "group.id": "absent"})
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._written: Counter[Partition] = Counter()
        self._refused: list[str] = []

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> Mapping[Partition, range]:
        """Write no more; return the offsets of the records of every partition. Raises: AssertionError: the broker
        did not acknowledge a record, or has others than were written."""
        self._stopping.set()
        self._thread.join()
        assert not self._producer.flush(FLUSH_S), "records without an answer"
        assert not self._refused, self._refused
        ranges: dict[Partition, range] = {}

        def all_there() -> bool:
            ranges.update({partition: range(*self._offsets(partition)) for partition in self._partitions})
            return {partition: len(offsets) for partition, offsets in ranges.items()} == dict(self._written)

        # A wrong count is a finding, and no wait that may run out once: it is not tried again.
        with suppress(TimeoutError):
            wait_until(all_there, "the logs end where the last record was acknowledged")
        kept = {partition: len(offsets) for partition, offsets in ranges.items()}
        if kept != dict(self._written):
            raise AssertionError(f"acknowledged are {dict(self._written)}, in the logs {ranges}")
        return ranges

    def _offsets(self, partition: Partition) -> tuple[int, int]:
        topic, number = partition
        return self._watermarks.get_watermark_offsets(TopicPartition(topic, number), ANSWER_S)

    def _run(self) -> None:
        while not self._stopping.wait(self._every_s):
            for topic, partition in self._partitions:
                self._producer.produce(topic, b"", partition=partition, on_delivery=self._delivered)
            self._producer.poll(0)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        # Counted: where an acknowledgment was lost and the record sent again, the answer has no offset.
        if error is not None:
            self._refused.append(str(error))
            return
        self._written[message.topic() or "", message.partition() or 0] += 1
