"""Reading a log of 1,200,000 offset commits, compared with Kafka: `python -m benchmarks.storage [DIRECTORY]`.

1,000 groups commit 100 partitions 12 times, so that 100,000 records are current. A real broker writes the log, five
partitions of 17.6 MiB, and loads it when it restarts; its server log shows the milliseconds for each partition. Our
times are for whole processes, including their start, in an environment without the dev extra; Java runs with the
options of Kafka's scripts. Figures are medians of the rounds, in which broker and Kohort alternate. In brackets: the
processor time, which other work on the machine affects less; the broker's processor time for loading is unknown.

The log is kept in DIRECTORY, if given, for the next run.
"""

import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.timing import plain_environment
from tests.kafka.broker import Broker
from tests.kafka.commits import commit_request, send_commits
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.jars import fetch
from tests.kafka.process import end
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until

ROUNDS = 5
PARTITIONS = 5
TOPIC = "orders"
GROUPS = 1000
TOPIC_PARTITIONS = 100
COMMITS = 12
KAFKA_OPTIONS = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)
"""KAFKA_JVM_PERFORMANCE_OPTS of kafka-run-class.sh."""
LOADED = re.compile(
    r"Finished loading of metadata from __consumer_offsets-\d+ with epoch \d+ in (?P<ms>\d+)ms "
    r"where (?P<waited_ms>\d+)ms was spent in the scheduler\. Loaded (?P<records>\d+) records"
)
LOAD = "import sys, pathlib; from coordinator.store.loader import load; load([pathlib.Path(sys.argv[1])])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The measurement of one process. `cpu_s` None: unknown."""

    wall_s: float
    cpu_s: float | None
    peak_mib: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Repeated measurements of the same process."""

    runs: tuple[Run, ...]

    @property
    def wall_s(self) -> float:
        return statistics.median(run.wall_s for run in self.runs)

    @property
    def peak_mib(self) -> float:
        return max(run.peak_mib for run in self.runs)

    def __str__(self) -> str:
        cpu = [run.cpu_s for run in self.runs if run.cpu_s is not None]
        spent = f"({statistics.median(cpu) * 1000:.0f})" if cpu else ""
        return f"{self.wall_s * 1000:>6.0f} ms {spent:>7} {self.peak_mib:>5.0f}"


def main() -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch) / "broker"
        broker = Broker(fetch(), directory)
        if not broker.data.exists():
            _write(broker)
        python = plain_environment(Path(scratch) / "venv") / "python"
        print(f"{platform.machine()}, Python {platform.python_version()}")
        print(f"{'what':<48} {'Kohort':>17} {'MiB':>5} {'Kafka':>17} {'MiB':>5} {'ratio':>6} {'bound':>6}")
        _loading(broker, python)
        _list(broker, python)
        _dump(broker, python)


def _write(broker: Broker) -> None:
    try:
        broker.start()
        wait_for_coordinator(broker)
        create_topics(broker, {TOPIC: TOPIC_PARTITIONS})
        offsets = range(1_000_000, 1_000_000 + TOPIC_PARTITIONS)
        requests = [commit_request(f"group-{number:04}", TOPIC, offsets) for number in range(GROUPS)]
        send_commits(broker, requests, times=COMMITS)
    finally:
        broker.stop()


def _loading(broker: Broker, python: Path) -> None:
    ours, theirs, records = [], [], 0
    for _ in range(ROUNDS):
        loaded, records = _broker_loads(broker)
        theirs.append(loaded)
        ours.append(_run([str(python), "-c", LOAD, str(broker.data)]))
    _row(f"{records:,} records / the broker loads them", Runs(runs=tuple(ours)), Runs(runs=tuple(theirs)), 2)


def _list(broker: Broker, python: Path) -> None:
    command = [str(python.parent / "kohort"), "list", "--log-dir", str(broker.data)]
    runs = Runs(runs=tuple(_run(command) for _ in range(ROUNDS)))
    print(f"{'kohort list --log-dir':<48} {runs} {'':>23} {'':>6} {'3 s':>6}")


def _dump(broker: Broker, python: Path) -> None:
    file = broker.data / "__consumer_offsets-0" / f"{0:020d}.log"
    tool = [*_java(broker, 256), "org.apache.kafka.tools.DumpLogSegments"]
    tool += ["--offsets-decoder", "--files", str(file)]
    dump = [str(python.parent / "kohort"), "log", "dump", "--output", "ndjson", str(file)]
    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs.append(_run(tool))
        ours.append(_run(dump))
    ours_runs, their_runs = Runs(runs=tuple(ours)), Runs(runs=tuple(theirs))
    _row("kohort log dump, one partition / kafka-dump-log", ours_runs, their_runs, 1 / 3)


def _row(what: str, ours: Runs, theirs: Runs, bound: float) -> None:
    print(f"{what:<48} {ours} {theirs} {ours.wall_s / theirs.wall_s:>6.2f} {bound:>6.2f}")


def _broker_loads(broker: Broker) -> tuple[Run, int]:
    """Start the broker and wait until it has loaded; returns the time in its log, and the number of records."""
    command = [*_java(broker, 1024), "kafka.Kafka", str(broker.directory / "server.properties")]
    with broker.log.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=broker.directory)
    try:
        wait_until(lambda: len(_loaded(broker)) == PARTITIONS, "the broker has loaded", timeout_s=60)
        peak_mib = _peak_mib(process.pid)
    finally:
        end(process)
    loaded = _loaded(broker)
    ms = sum(int(each["ms"]) - int(each["waited_ms"]) for each in loaded)
    return Run(wall_s=ms / 1000, cpu_s=None, peak_mib=peak_mib), sum(int(each["records"]) for each in loaded)


def _loaded(broker: Broker) -> list[re.Match[str]]:
    return list(LOADED.finditer(broker.log.read_text(errors="replace")))


def _java(broker: Broker, heap_mib: int) -> list[str]:
    return ["java", f"-Xmx{heap_mib}m", *KAFKA_OPTIONS, "-cp", str(broker.jars / "*")]


def _peak_mib(pid: int) -> float:
    """The peak memory of a running process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]


def _run(command: Sequence[str]) -> Run:
    """Run a command without its output. SystemExit: the command failed."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return Run(wall_s=wall_s, cpu_s=usage.ru_utime + usage.ru_stime, peak_mib=usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
