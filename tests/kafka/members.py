"""Consumers in processes of their own, of every kind the tests need."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.kafka.broker import Broker
from tests.kafka.events import Event, EventLog, Partitions
from tests.kafka.process import end, kill

WAIT_S = 30.0
ROOT = Path(__file__).parents[2]

_numbers = itertools.count(1)


def fresh_name(prefix: str) -> str:
    """Return a name for a group or a topic that no other test of this broker uses."""
    return f"{prefix}-{os.getpid()}-{next(_numbers)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A running consumer.

    Attributes:
        name: the test's name for it, also its client id unless another was configured.
        stop: leave the group as a clean shutdown does, and wait for that.
        crash: end it without a word to the broker, and wait for that.
    """

    name: str
    log: EventLog
    stop: Callable[[], None]
    crash: Callable[[], None]

    def events(self) -> list[Event]:
        """Return its events so far, in order."""
        return self.log.of(self.name)

    def assignment(self) -> Partitions:
        """Return the partitions it holds now, as its client library says."""
        known = [event.assignment for event in self.events() if event.assignment is not None]
        return known[-1] if known else {}

    def member_id(self) -> str | None:
        """Return its id in the group, or None as long as it has none."""
        known = [event.member_id for event in self.events() if event.member_id]
        return known[-1] if known else None

    def wait_event(self, kind: str, timeout_s: float = WAIT_S) -> Event:
        """Return the first event of `kind`, waiting for it; TimeoutError when it does not come."""
        self.log.wait(
            lambda: any(event.kind == kind for event in self.events()), f"{self.name} {kind}", timeout_s
        )
        return next(event for event in self.events() if event.kind == kind)

    def wait_assignment(self, wanted: Partitions, timeout_s: float = WAIT_S) -> None:
        """Wait until it holds `wanted`; TimeoutError when that does not come."""
        self.log.wait(lambda: self.assignment() == wanted, f"{self.name} holds {wanted}", timeout_s)


class Members:
    """Starts consumers and ends those that are left."""

    def __init__(self) -> None:
        """Start with none."""
        self._processes: list[tuple[subprocess.Popen[str], EventLog]] = []

    def confluent(
        self, broker: Broker, group: str, topics: Sequence[str], name: str = "", **config: str | int
    ) -> Member:
        """Start a consumer of confluent-kafka in a process of its own.

        Args:
            topics: names; one that begins with `^` is a regex.
            name: also the client id; a fresh one when empty.
            config: librdkafka's settings, `_` for `.` in their names: `group_protocol="consumer"`,
                `partition_assignment_strategy="roundrobin"`, `group_instance_id="a"`, `client_rack="b"`.
        """
        name = name or fresh_name("confluent")
        settings = {
            "bootstrap.servers": broker.bootstrap,
            "group.id": group,
            "client.id": name,
            **dotted(config),
        }
        asked = {"member": name, "topics": list(topics), "config": settings}
        process, log = self._spawn([sys.executable, "-m", "tests.kafka.confluent_member", json.dumps(asked)])
        return Member(
            name=name, log=log, stop=lambda: _stop(process, log), crash=lambda: _crash(process, log)
        )

    def end(self) -> None:
        """Kill what still runs: a test that wants clean closes asks for them."""
        for process, log in self._processes:
            _crash(process, log)

    def _spawn(self, command: list[str]) -> tuple[subprocess.Popen[str], EventLog]:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
        )
        if process.stdout is None:
            raise ValueError("a pipe was asked for")
        log = EventLog(process.stdout)
        self._processes.append((process, log))
        return process, log


def dotted(config: Mapping[str, str | int]) -> dict[str, str | int]:
    """Return `config` with the names Kafka has: `group_protocol` is `group.protocol`."""
    return {key.replace("_", "."): value for key, value in config.items()}


def _stop(process: subprocess.Popen[str], log: EventLog) -> None:
    end(process)
    log.join()


def _crash(process: subprocess.Popen[str], log: EventLog) -> None:
    kill(process)
    log.join()
