"""A consumer of kafka-python that runs until it is stopped, with the argument, journal and events of
`confluent_member.py`."""

import os
import signal
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.coordinator.assignors.abstract import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor

from tests.kafka.reporter import Reporter, asked, underscored

ACTIONS_S = 0.1


class ByLoad(RangePartitionAssignor):  # type: ignore[misc]
    """The assignor `by-load` of docs/custom-assignors.md, as a user of kafka-python writes it."""

    name = "by-load"
    load = "0"

    @classmethod
    def metadata(cls, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        return ConsumerProtocolSubscription(cls.version, sorted(topics), cls.load.encode())

    @classmethod
    def assign(cls, cluster: Any, members: Iterable[Any]) -> dict[str, ConsumerProtocolAssignment]:
        loads = {one.member_id: int(one.metadata.user_data) for one in members}
        dealt: dict[str, dict[str, list[int]]] = {member: {} for member in loads}
        for topic in sorted({topic for one in members for topic in one.metadata.topics}):
            subscribers = [one.member_id for one in members if topic in one.metadata.topics]
            for number in sorted(cluster.partitions_for_topic(topic) or ()):
                least = min(subscribers, key=lambda member: (loads[member], member))
                dealt[least].setdefault(topic, []).append(number)
                loads[least] += 1
        return {
            member: ConsumerProtocolAssignment(cls.version, sorted(topics.items()), b"")
            for member, topics in dealt.items()
        }


ASSIGNORS = {
    "range": RangePartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
    "by-load": ByLoad,
}


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, consumer: KafkaConsumer, reporter: Reporter) -> None:
        self.consumer, self.reporter = consumer, reporter

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self.reporter.assigned(assigned, self._member_id())

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        # It is called again for the same partitions where a rebalance restarts before it has ended.
        self.reporter.given_up("revoked", self.reporter.held & set(revoked), self._member_id())

    def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        self.reporter.given_up("lost", lost, None)

    def _member_id(self) -> str:
        return str(self.consumer.group_metadata().member_id)


class Stopping(Exception):
    """What SIGTERM raises."""


def main() -> None:
    """It waits for records without end: 3.0.12 drops the answer to a join, for good, where the timeout of a poll ends
    before it comes. So actions are for another thread, and a signal ends the wait."""
    options, reporter, commands = asked()
    config = underscored(options["config"])
    ByLoad.load = str(config.pop("load", "0"))
    assignor = ASSIGNORS[config.pop("partition_assignment_strategy", "range")]
    consumer = KafkaConsumer(**config, partition_assignment_strategy=(assignor,))
    (topic, *others) = options["topics"]
    listener = Listener(consumer, reporter)
    if topic.startswith("^"):
        consumer.subscribe(pattern=topic, listener=listener)
    else:
        consumer.subscribe(topics=[topic, *others], listener=listener)
    reporter.say("started")

    def act() -> None:
        while not commands.stop.wait(ACTIONS_S):
            for action in commands.actions():
                _act(action, config["bootstrap_servers"], reporter)
        os.kill(os.getpid(), signal.SIGTERM)

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise Stopping

    threading.Thread(target=act, daemon=True).start()
    with suppress(Stopping):
        signal.signal(signal.SIGTERM, stop)
        for one in consumer:
            reporter.consumed(one.topic, one.partition, one.offset, one.key, one.value)
    consumer.close()
    reporter.say("stopped")


def _act(action: Mapping[str, Any], servers: str, reporter: Reporter) -> None:
    match action["do"]:
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
            times = {TopicPartition(action["topic"], one): action["at_ms"] for one in action["partitions"]}
            consumer = KafkaConsumer(bootstrap_servers=servers)
            answers = consumer.offsets_for_times(times)
            consumer.close()
            offsets = [-1 if answers[one] is None else answers[one].offset for one in times]
            reporter.say("offsets", reason=" ".join(map(str, offsets)))
        case other:
            raise ValueError(other)


if __name__ == "__main__":
    main()
