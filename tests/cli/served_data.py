"""`kohort serve` in a separate process, and a client over the wire."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.conformance.cluster import Cluster
from tests.conformance.peer import Peer
from tests.kafka.ports import HOST

T = TypeVar("T")

QUICK = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "offsets.topic.num.partitions": "5",
}


class Served:
    """One run. `stderr` is what it said, once it has ended."""

    def __init__(self, data: Path | None, *options: str, port: int = 0, **settings: str) -> None:
        """Start it and wait until it listens; settings have `_` for `.`. Without `data` nothing is kept."""
        words = {**QUICK, **{name.replace("_", "."): value for name, value in settings.items()}}
        config = [word for name, value in words.items() for word in ("--config", f"{name}={value}")]
        command = [sys.executable, "-m", "tests.conformance.serve", "--listen", f"{HOST}:{port}"]
        self._process = subprocess.Popen(
            [*command, *(("--data", str(data)) if data else ()), *config, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.stderr = ""
        assert self._process.stdout is not None
        listening = self._process.stdout.readline()
        if not listening.startswith("Listening on "):
            raise AssertionError(f"it does not listen: {self.wait()}, {self.stderr}")
        self.bootstrap = listening.removeprefix("Listening on ").strip()
        self.ports = [int(place.rpartition(":")[2]) for place in self.bootstrap.split(",")]
        """Of all brokers."""
        self.port = self.ports[0]

    def kill(self) -> None:
        """SIGKILL, unless it has ended."""
        self._process.kill()
        self.wait()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send it a signal; the exit status."""
        self._process.send_signal(number)
        return self.wait()

    def state_line(self) -> str:
        """What it says when it is sent SIGUSR1; what it said before is lost."""
        self._process.send_signal(signal.SIGUSR1)
        assert self._process.stderr is not None
        return next(line for line in self._process.stderr if "brokers=" in line)

    def wait(self) -> int:
        """Wait until it ends on its own, with nothing more on stdout; the exit status."""
        if self._process.stderr is not None and not self._process.stderr.closed:
            printed, self.stderr = self._process.communicate(timeout=30)
            assert printed == ""
        return self._process.wait(30)

    def ask(self, questions: Callable[[Cluster], Coroutine[Any, Any, T]]) -> T:
        """Send requests over a separate connection."""

        async def run() -> T:
            cluster = Cluster(await Peer.connect(HOST, self.port))
            try:
                return await questions(cluster)
            finally:
                await cluster.close()

        return asyncio.run(asyncio.wait_for(run(), 60))


@contextmanager
def serving(data: Path | None, *options: str, port: int = 0, **settings: str) -> Iterator[Served]:
    """A run that ends with the test."""
    served = Served(data, *options, port=port, **settings)
    try:
        yield served
    finally:
        served.kill()
