"""A child process that prints events and ends with the tests."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.kafka.events import EventLog
from tests.kafka.process import end, kill
from tests.kafka.wait import PATIENCE_S

ROOT = Path(__file__).parents[2]


class Child:
    """A process whose stdout is a stream of events and whose end of stdin means to close."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
        )
        if self.process.stdout is None:
            raise ValueError("a pipe was asked for")
        self.log = EventLog(self.process.stdout)

    def send(self, line: str) -> None:
        if self.process.stdin is None:
            raise ValueError("a pipe was asked for")
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def stop(self, name: str) -> None:
        """Ask it to terminate once member `name` has started, and wait until it has, everything it said read."""
        self.log.wait(lambda: bool(self.log.of(name)), f"{name} has started", PATIENCE_S)
        status = end(self.process)
        self.log.join()
        if status != 0:
            raise ChildProcessError(f"{name} ended with status {status}: {self.log.tail()}")

    def crash(self) -> None:
        kill(self.process)
        self.log.join()
