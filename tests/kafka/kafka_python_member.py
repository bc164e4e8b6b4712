"""A consumer of kafka-python that runs until told to stop: `python -m tests.kafka.kafka_python_member JSON`.

The argument, the journal and the events are those of `confluent_member.py`, as far as kafka-python has them.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor

from tests.kafka.reporter import Reporter, asked, underscored

POLL_MS = 100
ASSIGNORS = {"range": RangePartitionAssignor, "cooperative-sticky": CooperativeStickyAssignor}


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    """Reports what its consumer is given and what it gives up."""

    def __init__(self, consumer: KafkaConsumer, reporter: Reporter) -> None:
        self.consumer, self.reporter = consumer, reporter

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self.reporter.assigned(assigned, self._member_id())

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        # It is called again for the same partitions where a rebalance begins anew before it has ended.
        self.reporter.given_up("revoked", self.reporter.held & set(revoked), self._member_id())

    def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        self.reporter.given_up("lost", lost, None)

    def _member_id(self) -> str:
        return str(self.consumer.group_metadata().member_id)


def main() -> None:
    """Run the member that the first argument describes."""
    wanted, reporter, wishes = asked()
    config = underscored(wanted["config"])
    assignor = ASSIGNORS[config.pop("partition_assignment_strategy", "range")]
    consumer = KafkaConsumer(**config, partition_assignment_strategy=(assignor,))
    (topic, *others) = wanted["topics"]
    listener = Listener(consumer, reporter)
    if topic.startswith("^"):
        consumer.subscribe(pattern=topic, listener=listener)
    else:
        consumer.subscribe(topics=[topic, *others], listener=listener)
    reporter.say("started")
    while not wishes.stop.is_set():
        for action in wishes.actions():
            _act(action, consumer, config["bootstrap_servers"], reporter)
        _consume(consumer, reporter)
    consumer.close()
    reporter.say("stopped")


def _consume(consumer: KafkaConsumer, reporter: Reporter) -> None:
    for records in consumer.poll(timeout_ms=POLL_MS).values():
        for one in records:
            reporter.consumed(one.topic, one.partition, one.offset, one.key, one.value)


def _act(action: Mapping[str, Any], consumer: KafkaConsumer, servers: str, reporter: Reporter) -> None:
    match action["do"]:
        case "pause":
            time.sleep(action["ms"] / 1000)
        case "produce":
            compression = action["compression"]
            producer = KafkaProducer(
                bootstrap_servers=servers,
                compression_type=None if compression == "none" else compression,
                linger_ms=50,
                acks="all",
            )
            sent = [
                producer.send(action["topic"], value.encode(), key.encode(), partition=action["partition"])
                for key, value in action["records"]
            ]
            for one in sent:
                one.get()
            producer.close()
            reporter.say("produced", reason="")
        case "offsets_for_times":
            wanted = {TopicPartition(action["topic"], one): action["at_ms"] for one in action["partitions"]}
            found = consumer.offsets_for_times(wanted)
            offsets = [-1 if found[one] is None else found[one].offset for one in wanted]
            reporter.say("offsets", reason=" ".join(map(str, offsets)))
        case other:
            raise ValueError(other)


if __name__ == "__main__":
    main()
