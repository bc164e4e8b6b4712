"""`kohort serve` in a separate process, and a client over the wire."""

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.conformance.cluster import Cluster
from tests.conformance.peer import Peer
from tests.kafka.ports import HOST
from tests.kafka.wait import wait_until
from tests.support.forked import Process

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
        installed = Path(sys.executable).with_name("kohort")
        command: list[str | Path] = [installed, "serve", "--listen", f"{HOST}:{port}"]
        printed, stdout = os.pipe()
        with ExitStack() as files:
            self._printed = files.enter_context(open(printed, encoding="utf-8"))
            self._stderr = files.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
            self._files = files.pop_all()
        with open(stdout, "w") as output:
            self._process = Process(
                [*command, *(("--data", data) if data else ()), *config, *options],
                env=os.environ, stdout=output, stderr=self._stderr,
            )  # fmt: skip
        self.stderr = ""
        listening = self._printed.readline()
        if not listening.startswith("Listening on "):
            raise AssertionError(f"it does not listen: {self.wait()}, {self.stderr}")
        self._bootstrap = listening.removeprefix("Listening on ").strip()
        self.ports = [int(address.rpartition(":")[2]) for address in self._bootstrap.split(",")]
        """Of all brokers."""
        self.port = self.ports[0]

    @property
    def bootstrap(self) -> str:
        return self._bootstrap

    def check_alive(self) -> None:
        assert self._process.poll() is None, self._said()

    def kill(self) -> None:
        self._process.kill()
        self.wait()

    def freeze(self) -> None:
        """Have it answer nothing from now on."""
        self._process.send_signal(signal.SIGSTOP)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self._process.send_signal(number)
        return self.wait()

    def state_line(self) -> str:
        said = len(self._said())
        self._process.send_signal(signal.SIGUSR1)
        wait_until(lambda: "brokers=" in self._said()[said:] and self._said().endswith("\n"), "its state")
        return next(line for line in self._said()[said:].splitlines() if "brokers=" in line)

    def wait(self) -> int:
        """Wait until it ends on its own, with nothing more on stdout; the exit status."""
        status = self._process.wait(30)
        if not self._printed.closed:
            self.stderr = self._said()
            with self._files:
                assert self._printed.read() == ""
        return status

    def _said(self) -> str:
        # The process writes at the position that it shares with this file.
        return os.pread(self._stderr.fileno(), 1 << 24, 0).decode()

    def ask(self, questions: Callable[[Cluster], Coroutine[Any, Any, T]]) -> T:

        async def run() -> T:
            cluster = Cluster(await Peer.connect(HOST, self.port))
            try:
                return await questions(cluster)
            finally:
                await cluster.close()

        return asyncio.run(asyncio.wait_for(run(), 60))


@contextmanager
def serving(data: Path | None, *options: str, port: int = 0, **settings: str) -> Iterator[Served]:
    served = Served(data, *options, port=port, **settings)
    try:
        yield served
    finally:
        served.kill()
