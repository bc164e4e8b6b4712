"""A consumer of aiokafka that runs until it is stopped, with the argument, journal and events of
`confluent_member.py`."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

from tests.kafka.reporter import Reporter, asked, underscored

POLL_MS = 100


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, consumer: AIOKafkaConsumer, reporter: Reporter) -> None:
        self.consumer, self.reporter = consumer, reporter

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self.reporter.assigned(assigned, self._member_id())

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self.reporter.given_up("revoked", revoked, self._member_id())

    def _member_id(self) -> str:
        # It has no public name.
        return str(self.consumer._coordinator.member_id)


async def main() -> None:
    options, reporter, commands = asked()
    config = underscored(options["config"])
    consumer = AIOKafkaConsumer(**config, partition_assignment_strategy=(RangePartitionAssignor,))
    (topic, *others) = options["topics"]
    listener = Listener(consumer, reporter)
    if topic.startswith("^"):
        consumer.subscribe(pattern=topic, listener=listener)
    else:
        consumer.subscribe(topics=[topic, *others], listener=listener)
    await consumer.start()
    reporter.say("started")
    while not commands.stop.is_set():
        for action in commands.actions():
            await _act(action, consumer, config["bootstrap_servers"], reporter)
        for records in (await consumer.getmany(timeout_ms=POLL_MS)).values():
            for one in records:
                reporter.consumed(one.topic, one.partition, one.offset, one.key, one.value)
    await consumer.stop()
    # Its listener hears nothing of that.
    reporter.given_up("revoked", reporter.held, None)
    reporter.say("stopped")


async def _act(
    action: Mapping[str, Any], consumer: AIOKafkaConsumer, servers: str, reporter: Reporter
) -> None:
    match action["do"]:
        case "pause":
            await asyncio.sleep(action["ms"] / 1000)
        case "produce":
            compression = action["compression"]
            async with AIOKafkaProducer(
                bootstrap_servers=servers,
                compression_type=None if compression == "none" else compression,
                linger_ms=50,
                acks="all",
            ) as producer:
                sent = [
                    await producer.send(
                        action["topic"], value.encode(), key.encode(), partition=action["partition"]
                    )
                    for key, value in action["records"]
                ]
                await asyncio.gather(*sent)
            reporter.say("produced", reason="")
        case "offsets_for_times":
            times = {TopicPartition(action["topic"], one): action["at_ms"] for one in action["partitions"]}
            answers = await consumer.offsets_for_times(times)
            offsets = [-1 if answers[one] is None else answers[one].offset for one in times]
            reporter.say("offsets", reason=" ".join(map(str, offsets)))
        case other:
            raise ValueError(other)


if __name__ == "__main__":
    asyncio.run(main())
