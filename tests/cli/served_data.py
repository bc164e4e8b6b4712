"""`kohort serve --data` in a process of its own, and somebody who asks it over the wire."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from tests.conformance.cluster import Cluster
from tests.conformance.peer import Peer
from tests.kafka.ports import HOST
from tests.kafka.process import end, kill

T = TypeVar("T")

QUICK = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "offsets.topic.num.partitions": "5",
}


class Served:
    """One run. `stderr` is what it said, once it has ended."""

    def __init__(self, data: Path, *options: str, port: int = 0, **settings: str) -> None:
        """Start it and wait until it listens; settings have `_` for `.`."""
        words = {**QUICK, **{name.replace("_", "."): value for name, value in settings.items()}}
        config = [word for name, value in words.items() for word in ("--config", f"{name}={value}")]
        command = [sys.executable, "-m", "tests.conformance.serve", "--listen", f"{HOST}:{port}"]
        self._process = subprocess.Popen(
            [*command, "--data", str(data), *config, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.stderr = ""
        assert self._process.stdout is not None
        listening = self._process.stdout.readline()
        if not listening.startswith("Listening on "):
            raise AssertionError(f"it does not listen: {self.wait()}, {self.stderr}")
        self.port = int(listening.rpartition(":")[2])

    def kill(self) -> None:
        """SIGKILL."""
        kill(self._process)
        self._read()

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        status = end(self._process)
        self._read()
        return status

    def wait(self) -> int:
        """Wait until it ends on its own; the exit status."""
        status = self._process.wait(30)
        self._read()
        return status

    def ask(self, questions: Callable[[Cluster], Coroutine[Any, Any, T]]) -> T:
        """Put questions over a connection of their own."""

        async def run() -> T:
            cluster = Cluster(await Peer.connect(HOST, self.port))
            try:
                return await questions(cluster)
            finally:
                await cluster.close()

        return asyncio.run(asyncio.wait_for(run(), 60))

    def _read(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        if not self._process.stderr.closed:
            self.stderr = self._process.stderr.read()
            self._process.stderr.close()
            self._process.stdout.close()
