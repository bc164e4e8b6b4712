"""A group of librdkafka consumers in this process, and a restart command that has them restarted."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from confluent_kafka import Consumer

from tests.kafka.broker import RunningBroker
from tests.kafka.wait import wait_until

HOOK = """#!/bin/sh
[ "$KOHORT_CLIENT_ID" = "$(cat "$0.fails")" ] && { echo "the password is hunter2"; exit 7; }
cp "$KOHORT_CONFIG" "$0.lines"
printf '%s %s %s\\n' "$KOHORT_ACTION" "$KOHORT_CLIENT_ID" "$KOHORT_REMOVE" >"$0.asked.new"
mv "$0.asked.new" "$0.asked"
while [ -e "$0.asked" ]; do sleep 0.05; done
"""


@dataclass(slots=True, kw_only=True)
class RestartedGroup:
    """`restarted`: the members on which the command has acted, in order; the one of `fail` fails."""

    broker: RunningBroker
    group: str
    topic: str
    hook: Path
    restarted: list[str] = field(default_factory=list)
    consumers: dict[str, Consumer] = field(default_factory=dict)

    def fail(self, name: str) -> None:
        self.hook.with_name(f"{self.hook.name}.fails").write_text(name)

    def start(self, name: str, changed: Mapping[str, str], removed: tuple[str, ...] = ()) -> None:
        config = {
            "bootstrap.servers": self.broker.bootstrap,
            "group.id": self.group,
            "client.id": name,
            "partition.assignment.strategy": "range",
            "heartbeat.interval.ms": "200",
            "session.timeout.ms": "6000",
            "auto.offset.reset": "earliest",
            "log_level": "0",
        }
        kept = {key: value for key, value in config.items() if key not in removed}
        self.consumers[name] = consumer = Consumer({**kept, **changed})
        consumer.subscribe([self.topic])

    def run(self, ends: Event) -> None:
        asked = self.hook.with_name(f"{self.hook.name}.asked")
        while not ends.is_set():
            for consumer in self.consumers.values():
                consumer.poll(0.02)
            if asked.exists():
                action, name, removed = asked.read_text().rstrip("\n").split(" ")
                lines = self.hook.with_name(f"{self.hook.name}.lines").read_text().splitlines()
                settings = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
                if action != "start":
                    self.consumers.pop(name).close()
                if action != "stop":
                    self.start(name, settings, tuple(removed.split(",")))
                self.restarted.append(name)
                asked.unlink()
        for consumer in self.consumers.values():
            consumer.close()

    def owns_all(self, partitions: int) -> bool:
        return sum(len(consumer.assignment()) for consumer in self.consumers.values()) == partitions


@contextmanager
def restarted_group(
    broker: RunningBroker, directory: Path, group: str, topic: str, partitions: int
) -> Iterator[RestartedGroup]:
    """With two members, which own all partitions of the topic."""
    hook = directory / "restart"
    hook.write_text(HOOK)
    hook.chmod(0o755)
    members = RestartedGroup(broker=broker, group=group, topic=topic, hook=hook)
    members.fail("")
    for name in ("a", "b"):
        members.start(name, {})
    ends = Event()
    thread = Thread(target=members.run, args=(ends,))
    thread.start()
    try:
        wait_until(
            lambda: all(
                len(consumer.assignment()) == partitions // 2 for consumer in members.consumers.values()
            ),
            "both members own partitions",
        )
        yield members
    finally:
        ends.set()
        thread.join()
