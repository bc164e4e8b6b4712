"""The two servers of each profile: a real broker, and `kohort serve` with the same settings."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.conformance.play import Server
from tests.conformance.script import load
from tests.kafka.broker import Broker
from tests.kafka.ports import HOST
from tests.kafka.process import end
from tests.kafka.settings import DEFAULTS
from tests.kafka.wait import wait_until

LISTENING = "Listening on "
START_TIMEOUT_S = 150.0


@contextmanager
def real_brokers(jars: Path, scratch: Path) -> Iterator[Mapping[str, Server]]:
    """One broker per profile, started side by side."""
    profiles: Mapping[str, Mapping[str, str]] = load("profiles.yaml")
    brokers = {}
    for name, settings in profiles.items():
        directory = scratch / name
        directory.mkdir()
        brokers[name] = Broker(jars, directory, settings)
    with ExitStack() as stack:
        for broker in brokers.values():
            stack.callback(broker.stop)
        with ThreadPoolExecutor() as pool:
            list(pool.map(Broker.start, brokers.values()))
        yield {name: Server(name="Kafka", host=HOST, port=one.port) for name, one in brokers.items()}


@contextmanager
def kohort_servers(scratch: Path, *options: str) -> Iterator[Mapping[str, Server]]:
    """One `kohort serve` per profile."""
    profiles: Mapping[str, Mapping[str, str]] = load("profiles.yaml")
    with ExitStack() as stack:
        yield {
            name: Server(
                name="Kohort",
                host=HOST,
                port=stack.enter_context(kohort_serve(scratch / f"{name}.log", settings, *options)),
            )
            for name, settings in profiles.items()
        }


class Embedded(Broker):
    """`kohort serve`, to be pointed at as the rig's members point at a broker."""

    def __init__(self, port: int, directory: Path) -> None:
        super().__init__(directory, directory)
        self.port = port


@contextmanager
def kohort_serve(log: Path, settings: Mapping[str, str], *options: str) -> Iterator[int]:
    """Run `kohort serve` with the rig's settings and `settings`, give its port, and see that it ends cleanly."""
    with kohort_process(log, settings, *options) as (port, _):
        yield port


@contextmanager
def kohort_process(log: Path, settings: Mapping[str, str], *options: str) -> Iterator[tuple[int, int]]:
    """As `kohort_serve`; gives the id of the process too."""
    command = [sys.executable, "-m", "tests.conformance.serve", "--listen", f"{HOST}:0", *options]
    for name, value in {**DEFAULTS, **settings}.items():
        command += ["--config", f"{name}={value}"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        port = wait_until(lambda: _port(process, log), "kohort serve listens", timeout_s=START_TIMEOUT_S)
        yield port, process.pid
    finally:
        status = end(process)
    if status != 0:
        raise ChildProcessError(f"kohort serve ended with status {status}: {log.read_text()[-4000:]}")


def _port(process: subprocess.Popen[bytes], log: Path) -> int | None:
    text = log.read_text()
    if process.poll() is not None:
        raise ChildProcessError(f"kohort serve has ended: {text}")
    lines = [line for line in text.splitlines() if line.startswith(LISTENING)]
    return int(lines[0].rpartition(":")[2]) if lines else None
