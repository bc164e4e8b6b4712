"""What a consumer's process says of itself and what it is asked, in lines of JSON (`confluent_member.py`): the same for
every library."""

import json
import signal
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from queue import Empty, SimpleQueue
from typing import IO, Any

Partition = tuple[str, int]


def by_topic(partitions: Iterable[Partition]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return topics


def text(content: bytes | str | None) -> str:
    return content.decode() if isinstance(content, bytes) else content or ""


def underscored(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name.replace(".", "_"): int(value) if str(value).isdigit() else value
        for name, value in config.items()
    }


class Reporter:
    """Prints the events of one consumer and keeps its journal, if one is wanted."""

    def __init__(self, name: str, journal: IO[str] | None = None) -> None:
        self.name = name
        self.held: set[Partition] = set()
        self._journal = journal

    def assigned(self, partitions: Iterable[Partition], member_id: str | None) -> None:
        named = set(partitions)
        self._write_down("assigned", named)
        self.held |= named
        self.say_partitions("assigned", named, member_id)

    def given_up(self, event: str, partitions: Iterable[Partition], member_id: str | None) -> None:
        named = set(partitions)
        # From here on nothing is consumed; with the last call others may have them, at once.
        self._write_down(event, named)
        self.held -= named
        self.say_partitions(event, named, member_id)

    def consumed(
        self, topic: str, partition: int, offset: int, key: bytes | str | None, value: bytes | str | None
    ) -> None:
        self._write(f"record {topic} {partition} {offset} {text(key)}:{text(value)}")

    def say(self, event: str, **fields: object) -> None:
        print(json.dumps({"member": self.name, "event": event, **fields}), flush=True)

    def say_partitions(self, event: str, partitions: Iterable[Partition], member_id: str | None) -> None:
        held = by_topic(self.held)
        self.say(event, partitions=by_topic(partitions), assignment=held, member_id=member_id)

    def _write_down(self, kind: str, partitions: Iterable[Partition]) -> None:
        for topic, partition in sorted(partitions):
            self._write(f"{kind} {topic} {partition} -")

    def _write(self, line: str) -> None:
        if self._journal is not None:
            self._journal.write(f"{time.monotonic_ns()} {line}\n")


class Commands:
    """What the tests want of this process: actions, until they want it to stop."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._actions: SimpleQueue[Mapping[str, Any]] = SimpleQueue()
        signal.signal(signal.SIGTERM, lambda *_: self.stop.set())
        threading.Thread(target=self._listen, daemon=True).start()

    def actions(self) -> Iterable[Mapping[str, Any]]:
        while True:
            try:
                yield self._actions.get_nowait()
            except Empty:
                return

    def _listen(self) -> None:
        # At the end of its input the tests are gone, however they ended: so is the consumer.
        for line in sys.stdin:
            action = json.loads(line)
            if action["do"] == "stop":
                self.stop.set()
            else:
                self._actions.put(action)
        self.stop.set()


def asked() -> tuple[dict[str, Any], Reporter, Commands]:
    options = json.loads(sys.argv[1])
    # A line at a time: what was consumed is known even of a member that is killed.
    journal = open(options["journal"], "w", buffering=1) if options.get("journal") else None  # noqa: SIM115
    return options, Reporter(options["member"], journal), Commands()
