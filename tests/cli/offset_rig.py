"""Topics with records at known times, groups with committed offsets, and Kafka's own tool next to ours."""

import csv
import io
import itertools
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._resource import ResourceType

from tests.cli.command import Answer, Kohort, Word
from tests.kafka.broker import RunningBroker
from tests.kafka.members import fresh_name
from tests.kafka.tool_host import CONSUMER_GROUPS, Completed, ToolHost
from tests.kafka.topics import create_topics, delete_records, set_config
from tests.kafka.wait import wait_until
from tests.support.terminals import Shown, on_terminal

Place = tuple[str, int]
FIRST_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z: the time of every topic's first record."""
STEP_MS = 60_000
"""From a record to the next one of its partition."""


class OffsetRig:
    """A broker, our command and Kafka's tool."""

    def __init__(self, *, broker: RunningBroker, kohort: Kohort, tools: ToolHost) -> None:
        self.broker, self.kohort, self.tools = broker, kohort, tools
        # Kept: the futures of a client that is gone are never done.
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})

    def topic(
        self, records: Sequence[int], *, deleted: Mapping[int, int] | None = None, name: str = ""
    ) -> str:
        """A topic with a number of records in each partition, without those before the offsets of `deleted`."""
        name = name or fresh_name("orders")
        create_topics(self.broker, {name: len(records)})
        # The records are old: the broker would drop them some 30 s after its start.
        set_config(self.broker, ResourceType.TOPIC, name, {"retention.ms": "-1"})
        producer = Producer({"bootstrap.servers": self.broker.bootstrap, "log_level": 0})
        for partition, count in enumerate(records):
            for number in range(count):
                producer.produce(
                    name, b"", partition=partition, timestamp=FIRST_MS + number * STEP_MS, on_delivery=_raise
                )
        assert producer.flush(30) == 0
        if deleted:
            delete_records(self.broker, {(name, number): offset for number, offset in deleted.items()})
        return name

    def group(self, offsets: Mapping[Place, int], name: str | None = None) -> str:
        group = name or fresh_name("payments")
        if offsets:
            places = [TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()]
            request = [ConsumerGroupTopicPartitions(group, places)]
            for future in self.admin.alter_consumer_group_offsets(request).values():
                assert all(part.error is None for part in future.result().topic_partitions)
        return group

    def committed(self, group: str) -> dict[Place, int]:
        (future,) = self.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
        return {(part.topic, part.partition): part.offset for part in future.result().topic_partitions}

    def tool(self, *args: str) -> Completed:
        return self.tools.run(CONSUMER_GROUPS, "--bootstrap-server", self.broker.bootstrap, *args)

    def ours(self, *args: Word, output: str = "json") -> Answer:
        return self.kohort.quick(*args, "-b", self.broker.bootstrap, "--output", output)

    def asked(
        self, line: str, *, answer: str = "yes\n", meanwhile: Callable[[], object] = lambda: None
    ) -> Shown:
        """Our command on the broker, run on a terminal with its output in a pipe; its question is answered."""
        command = [self.kohort.executable, *shlex.split(line), "-b", self.broker.bootstrap]
        pipe = subprocess.PIPE
        return on_terminal(command, self.kohort.env, answers=[answer], meanwhile=meanwhile, stdout=pipe)

    def reported(self, *args: str) -> dict[tuple[str, str, int], int]:
        """What the tool's `--reset-offsets --export` would set, by group, topic and partition."""
        groups = [value for option, value in itertools.pairwise(args) if option == "--group"]
        done = self.tool("--reset-offsets", "--export", "--dry-run", *args)
        rows = [row for row in csv.reader(io.StringIO(done.stdout)) if len(row) in (3, 4)]
        assert rows, done.stdout + done.stderr
        named = [row if len(row) == 4 else [groups[0], *row] for row in rows]
        return {(group, topic, int(number)): int(offset) for group, topic, number, offset in named}

    @contextmanager
    def consumer(self, group: str) -> Iterator[Consumer]:
        """A consumer of this process that may `join`, and leaves after the block."""
        settings = {
            "bootstrap.servers": self.broker.bootstrap,
            "group.id": group,
            "enable.auto.commit": False,
        }
        with closing(Consumer(settings)) as consumer:
            yield consumer

    @contextmanager
    def joined(self, group: str, topic: str) -> Iterator[str]:
        """The id of a member of this process that has joined, and leaves after the block."""
        with self.consumer(group) as consumer:
            join(consumer, topic)
            yield consumer.memberid()


def join(consumer: Consumer, topic: str) -> None:
    consumer.subscribe([topic])

    def assigned() -> bool:
        consumer.poll(0.1)
        return bool(consumer.assignment())

    wait_until(assigned, "an assignment", every_s=0)


def after(answer: Answer) -> dict[tuple[str, str, int], int]:
    """The new offsets of a document, by group, topic and partition."""
    return {
        (group["group"], row["topic"], row["partition"]): row["after"]
        for group in answer.document["groups"]
        for row in group["offsets"]
    }


def _raise(error: object, _message: object) -> None:
    assert error is None, error
