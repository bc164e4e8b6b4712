"""A consumer of confluent-kafka that runs until it is stopped: `python -m tests.kafka.confluent_member JSON`.
The argument is `{"member": NAME, "topics": [...], "config": {...}}`; a topic that begins with `^` is a regex. With
`"journal": PATH` every record, and every partition that comes or goes, is a line `AT_NS KIND TOPIC PARTITION OFFSET
KEY:VALUE` of that file, at the time of the machine's monotonic clock. `"listener"` and `"pollAgain"`: see
`java/Member.java`.
A line of JSON on stdin, `{"do": ACTION, ...}`, is what to do before the next poll: `subscribe` (to other `topics`),
`unsubscribe`, `assign` (`partitions` by topic), `pause` (stay outside poll for `ms`), `commit`, `hold` (say what is
held), `produce` (`records` to one `partition`, with a `compression`), `offsets_for_times` (of `partitions`, `at_ms`),
`stop`.
Each event is one line of JSON on stdout with `member` and `event`: `started` (it has subscribed); `assigned`,
`revoked`, `lost` (partitions of the listener's call; `assignment` is what is held after it); `holds`; and with a
`reason`: `error` (of the consumer), `thrown` (an exception in a call of it, with its name), `produced` (empty, or what
went wrong), `offsets` (in the order of the partitions), `answers` (how many the coordinator has given, as often as
`statistics.interval.ms` says); `stopped` (closed cleanly, after SIGTERM or the end of stdin)."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.kafka.reporter import Commands, Partition, Reporter, asked

POLL_S = 0.1
ANSWER_S = 60.0


class ListenerError(Exception):
    """What a listener throws whose script says so."""


class ConfluentMember:
    def __init__(
        self,
        config: dict[str, Any],
        reporter: Reporter,
        commands: Commands,
        listener: Mapping[str, Mapping[str, Any]] | None = None,
        polls_again: bool = False,
    ) -> None:
        self.reporter = reporter
        self.commands = commands
        self.listener = listener or {}
        self.polls_again = polls_again
        # Kept here: while it closes, librdkafka no longer answers its member id.
        self.member_id: str | None = None
        self.servers = config["bootstrap.servers"]
        self.consumer = Consumer({**config, "stats_cb": self.count_answers}, logger=None)
        # librdkafka refuses a list that mixes eager and cooperative assignors, so one name decides.
        self.incremental = (
            config.get("group.protocol") == "consumer"
            or config.get("partition.assignment.strategy") == "cooperative-sticky"
        )

    def run(self, topics: list[str]) -> None:
        if topics:
            self.subscribe(topics)
        self.reporter.say("started")
        while not self.commands.stop.is_set():
            self.attempt(self.consume)
        self.attempt(self.consumer.close)
        self.reporter.say("stopped")

    def attempt(self, call: Callable[[], object]) -> None:
        """Execute it, and continue after an exception where that is requested."""
        try:
            call()
        except (KafkaException, ListenerError) as error:
            if not self.polls_again:
                raise
            cause = error.args[0]
            self.reporter.say(
                "thrown",
                reason=f"{cause.name() if isinstance(cause, KafkaError) else type(error).__name__}: {cause}",
            )

    def consume(self) -> None:
        for action in self.commands.actions():
            self.attempt(partial(self.act, action))
        message = self.consumer.poll(POLL_S)
        error = message.error() if message is not None else None
        if error is not None and self.polls_again:
            self.reporter.say("thrown", reason=f"{error.name()}: {error.str()}")
        elif error is not None:
            self.reporter.say("error", reason=error.str())
        elif message is not None:
            self.reporter.consumed(
                str(message.topic()),
                int(message.partition() or 0),
                int(message.offset() or 0),
                message.key(),
                message.value(),
            )

    def act(self, action: Mapping[str, Any]) -> None:
        match action["do"]:
            case "subscribe":
                self.subscribe(action["topics"])
            case "unsubscribe":
                self.consumer.unsubscribe()
            case "assign":
                self.consumer.assign(_partitions(action["partitions"]))
            case "pause":
                time.sleep(action["ms"] / 1000)
            case "commit":
                self.commit()
            case "hold":
                self.reporter.held = _named(self.consumer.assignment())
                self.reporter.say_partitions("holds", self.reporter.held, self.member_id)
            case "produce":
                self.produce(action["topic"], action["partition"], action["compression"], action["records"])
            case "offsets_for_times":
                self.look_up(action["topic"], action["partitions"], action["at_ms"])
            case other:
                raise ValueError(other)

    def count_answers(self, statistics: str) -> None:
        brokers = json.loads(statistics)["brokers"]
        self.reporter.say("answers", reason=str(brokers.get("GroupCoordinator", {"rx": 0})["rx"]))

    def subscribe(self, topics: list[str]) -> None:
        """A listener with `revoked` and without `lost` is one that has no `on_lost`."""
        has_own_lost = "revoked" not in self.listener or "lost" in self.listener
        on_lost = {"on_lost": lambda _, partitions: self.given_up("lost", partitions)} if has_own_lost else {}
        self.consumer.subscribe(
            topics,
            on_assign=lambda _, partitions: self.assigned(partitions),
            on_revoke=lambda _, partitions: self.given_up("revoked", partitions),
            **on_lost,
        )

    def assigned(self, partitions: list[TopicPartition]) -> None:
        """Take over `partitions`, as the assignor's protocol wants it, and say so."""
        self.member_id = self.consumer.memberid()
        self.reporter.assigned(_named(partitions), self.member_id)
        take_over = self.consumer.incremental_assign if self.incremental else self.consumer.assign
        self.follow("assigned", lambda: take_over(partitions))

    def given_up(self, event: str, partitions: list[TopicPartition]) -> None:
        self.reporter.given_up(event, _named(partitions), self.member_id)
        consumer = self.consumer
        self.follow(
            event,
            lambda: consumer.incremental_unassign(partitions) if self.incremental else consumer.unassign(),
        )

    def produce(
        self, topic: str, partition: int, compression: str, records: Iterable[tuple[str, str]]
    ) -> None:
        errors: list[KafkaError] = []
        producer = Producer(
            {"bootstrap.servers": self.servers, "compression.type": compression, "linger.ms": 50}
        )
        for key, value in records:
            producer.produce(
                topic,
                value,
                key,
                partition,
                on_delivery=lambda error, _: errors.append(error) if error else None,
            )
        left = producer.flush(ANSWER_S)
        self.reporter.say("produced", reason=" ".join(map(str, errors)) or (f"{left} left" if left else ""))

    def look_up(self, topic: str, partitions: Iterable[int], at_ms: int) -> None:
        asked_for = [TopicPartition(topic, number, at_ms) for number in partitions]
        answers = self.consumer.offsets_for_times(asked_for, ANSWER_S)
        self.reporter.say("offsets", reason=" ".join(str(one.offset) for one in answers))

    def commit(self) -> None:
        """Commit what was consumed; librdkafka takes it for an error that nothing was, which Java does not."""
        try:
            self.consumer.commit(asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() != KafkaError._NO_OFFSET:
                raise

    def follow(self, method: str, finish: Callable[[], None]) -> None:
        """Do what the script of this method of the listener says, then `finish` with librdkafka, whatever came of it:
        last, as confluent-kafka does it by itself for an application that does not."""
        script = self.listener.get(method, {})
        try:
            if script.get("commits"):
                self.commit()
            time.sleep(script.get("takesMs", 0) / 1000)
            if script.get("unsubscribes"):
                self.consumer.unsubscribe()
            if script.get("throws"):
                raise ListenerError(f"the listener throws in {method}")
        finally:
            finish()


def _partitions(by_topic: Mapping[str, Iterable[int]]) -> list[TopicPartition]:
    return [TopicPartition(topic, number) for topic, numbers in by_topic.items() for number in numbers]


def _named(partitions: Iterable[TopicPartition]) -> set[Partition]:
    return {(one.topic, one.partition) for one in partitions}


def main() -> None:
    options, reporter, commands = asked()
    member = ConfluentMember(
        options["config"], reporter, commands, options.get("listener"), options.get("pollAgain", False)
    )
    try:
        member.run(options["topics"])
    except KafkaException as error:
        reporter.say("error", reason=str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
