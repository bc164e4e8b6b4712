"""A consumer of confluent-kafka that runs until told to stop: `python -m tests.kafka.confluent_member JSON`.

The argument is `{"member": NAME, "topics": [...], "config": {...}}`; a topic that begins with `^` is a regex,
as librdkafka has it. With `"journal": PATH` every record, and every partition that comes or goes, is a line
`AT_NS KIND TOPIC PARTITION OFFSET` of that file, at the time of the machine's monotonic clock.
With `"listener"` and `"pollAgain"` it does what `java/Member.java` says of them. A line of JSON on stdin,
`{"do": ACTION, ...}`, is what to do before the next poll: `subscribe` (to other `topics`), `pause` (stay outside
poll for `ms`), `commit`, `hold` (say what is held), `stop`.
Each event is one line of JSON on stdout with `member` and `event`:

- `started`: the consumer has subscribed.
- `assigned`, `revoked`, `lost`: the partitions of the listener's call; `assignment` is what is held after it.
- `holds`: what it holds, asked for by `hold`.
- `error`: something the consumer was told; `reason` is the text.
- `thrown`: an exception left a call of the consumer, and it goes on; `reason` is the text, with the error's name.
- `answers`: `reason` is how many the group's coordinator has given, as often as `statistics.interval.ms` says.
- `stopped`: closed cleanly, after SIGTERM or the end of stdin.
"""

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from queue import SimpleQueue
from types import FrameType
from typing import IO, Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

POLL_S = 0.1


Partition = tuple[str, int]


def by_topic(partitions: Iterable[Partition]) -> dict[str, list[int]]:
    """Return `partitions` as `{topic: [partition ascending]}`."""
    found: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        found.setdefault(topic, []).append(partition)
    return found


class ListenerError(Exception):
    """What a listener throws whose script says so."""


class ConfluentMember:
    """A consumer and the events it prints."""

    def __init__(
        self,
        name: str,
        config: dict[str, Any],
        journal: IO[str] | None = None,
        listener: Mapping[str, Mapping[str, Any]] | None = None,
        polls_again: bool = False,
    ) -> None:
        """Make the consumer; nothing is sent before `run`."""
        self.name = name
        self.journal = journal
        self.listener = listener or {}
        self.polls_again = polls_again
        self.stop = threading.Event()
        self.actions: SimpleQueue[dict[str, Any]] = SimpleQueue()
        # Kept here: while it closes, librdkafka no longer answers what it holds, nor its member id.
        self.held: set[Partition] = set()
        self.member_id: str | None = None
        self.consumer = Consumer({**config, "stats_cb": self.count_answers}, logger=None)
        # librdkafka refuses a list that mixes eager and cooperative assignors, so one name decides.
        self.incremental = (
            config.get("group.protocol") == "consumer"
            or config.get("partition.assignment.strategy") == "cooperative-sticky"
        )

    def run(self, topics: list[str]) -> None:
        """Consume `topics`, do what is asked meanwhile, until `stop` is set, then close cleanly."""
        self.subscribe(topics)
        self.say("started")
        while not self.stop.is_set():
            self.attempt(self.consume)
        self.attempt(self.consumer.close)
        self.say("stopped")

    def attempt(self, call: Callable[[], object]) -> None:
        """Do it, and go on after an exception where that is asked for."""
        try:
            call()
        except (KafkaException, ListenerError) as error:
            if not self.polls_again:
                raise
            cause = error.args[0]
            self.say(
                "thrown",
                reason=f"{cause.name() if isinstance(cause, KafkaError) else type(error).__name__}: {cause}",
            )

    def consume(self) -> None:
        """Do what is asked, then poll once."""
        while not self.actions.empty():
            self.act(self.actions.get())
        message = self.consumer.poll(POLL_S)
        error = message.error() if message is not None else None
        if error is not None and self.polls_again:
            self.say("thrown", reason=f"{error.name()}: {error.str()}")
        elif error is not None:
            self.say("error", reason=error.str())
        elif message is not None:
            self.write_down("record", (str(message.topic()), message.partition()), message.offset())

    def act(self, action: dict[str, Any]) -> None:
        """Do what a line of stdin asks for."""
        match action["do"]:
            case "subscribe":
                self.subscribe(action["topics"])
            case "pause":
                time.sleep(action["ms"] / 1000)
            case "commit":
                self.commit()
            case "hold":
                self.held = {(one.topic, one.partition) for one in self.consumer.assignment()}
                self.say_partitions("holds", self.held)
            case other:
                raise ValueError(other)

    def count_answers(self, statistics: str) -> None:
        """Say how often the coordinator has answered."""
        brokers = json.loads(statistics)["brokers"]
        self.say("answers", reason=str(brokers.get("GroupCoordinator", {"rx": 0})["rx"]))

    def subscribe(self, topics: list[str]) -> None:
        """Subscribe to `topics` instead of what was subscribed to before."""
        self.consumer.subscribe(
            topics,
            on_assign=lambda _, partitions: self.assigned(partitions),
            on_revoke=lambda _, partitions: self.given_up("revoked", partitions),
            on_lost=lambda _, partitions: self.given_up("lost", partitions),
        )

    def assigned(self, partitions: list[TopicPartition]) -> None:
        """Take over `partitions`, as the assignor's protocol wants it, and say so."""
        named = {(one.topic, one.partition) for one in partitions}
        for one in sorted(named):
            self.write_down("assigned", one)
        self.member_id = self.consumer.memberid()
        self.held |= named
        self.say_partitions("assigned", named)
        take_over = self.consumer.incremental_assign if self.incremental else self.consumer.assign
        self.follow("assigned", lambda: take_over(partitions))

    def given_up(self, event: str, partitions: list[TopicPartition]) -> None:
        """Let go of `partitions` and say so."""
        named = {(one.topic, one.partition) for one in partitions}
        # From here on nothing is consumed; with the last call others may have them, at once.
        for one in sorted(named):
            self.write_down(event, one)
        self.held -= named
        self.say_partitions(event, named)
        consumer = self.consumer
        self.follow(
            event,
            lambda: consumer.incremental_unassign(partitions) if self.incremental else consumer.unassign(),
        )

    def commit(self) -> None:
        """Commit what was consumed; librdkafka takes it for an error that nothing was, which Java does not."""
        try:
            self.consumer.commit(asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() != KafkaError._NO_OFFSET:
                raise

    def follow(self, method: str, finish: Callable[[], None]) -> None:
        """Do what the script of this method of the listener says, then `finish` with librdkafka, whatever came of it.

        Last, as confluent-kafka does it by itself for an application that does not: librdkafka goes on from there.
        """
        script = self.listener.get(method, {})
        try:
            if script.get("commits"):
                self.commit()
            time.sleep(script.get("takesMs", 0) / 1000)
            if script.get("throws"):
                raise ListenerError(f"the listener throws in {method}")
        finally:
            finish()

    def say_partitions(self, event: str, partitions: set[Partition]) -> None:
        """Print the event of a listener's call."""
        self.say(
            event,
            partitions=by_topic(partitions),
            assignment=by_topic(self.held),
            member_id=self.member_id,
        )

    def write_down(self, kind: str, partition: tuple[str, int | None], offset: int | None = None) -> None:
        """Add a line to the journal, if one is kept."""
        if self.journal is not None:
            where = f"{partition[0]} {partition[1]} {'-' if offset is None else offset}"
            self.journal.write(f"{time.monotonic_ns()} {kind} {where}\n")

    def say(self, event: str, **fields: object) -> None:
        """Print one event."""
        print(json.dumps({"member": self.name, "event": event, **fields}), flush=True)


def main() -> None:
    """Run the member that the first argument describes."""
    asked = json.loads(sys.argv[1])
    # A line at a time: what was consumed is known even of a member that is killed.
    journal = open(asked["journal"], "w", buffering=1) if asked.get("journal") else None  # noqa: SIM115
    member = ConfluentMember(
        asked["member"], asked["config"], journal, asked.get("listener"), asked.get("pollAgain", False)
    )

    def on_signal(number: int, frame: FrameType | None) -> None:
        member.stop.set()

    def listen() -> None:
        # At the end of its input the tests are gone, however they ended: so is the consumer.
        for line in sys.stdin:
            action = json.loads(line)
            if action["do"] == "stop":
                member.stop.set()
            else:
                member.actions.put(action)
        member.stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    threading.Thread(target=listen, daemon=True).start()
    try:
        member.run(asked["topics"])
    except KafkaException as error:
        member.say("error", reason=str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
