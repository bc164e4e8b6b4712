"""From segments to a history's tables, compared with `kafka-dump-log --offsets-decoder`: `make bench-pipeline`.

The log is as busy groups write it (`benchmarks.offsets_log`), with five partitions and the metadata log of a real
broker that has its topic. Each run of the history is a separate process; its wall time is from the list of files to
the published tables, without Spark's start. "One core" is strict: all processes are pinned to it, otherwise the JVM
would compile and collect garbage on the other. The dump tool reads the first partition in one process; its start,
measured on an empty file, is subtracted too. Compared runs alternate, and the fastest counts. In brackets: the
processor time of the processes that exist at the end. Memory is the peak of one Python worker, and of the JVM.

    even, two cores      5 equal partitions                         at least 500,000 records/s, 5 × the dump tool
    even, one core       the same                                   1 → 2 cores near 2
    a quarter of it      a fourth of the rounds
    skewed               one partition has 90 % of the records      at most 1.5 × the even one
    huge                 one segment of 3 GB without an index       the same memory
    small                10,000 records, the whole command          within 3 s: it does not start Spark
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import UUID

from benchmarks.offsets_log import TOPIC, TOPIC_PARTITIONS, write_partition
from coordinator.store.partition_files import read_topic_id
from pipeline.history import Logs, run_history
from pipeline.session import SessionSettings, session
from tests.kafka.broker import Broker
from tests.kafka.jars import fetch
from tests.kafka.topics import create_topics
from wire.log.segments import segment_name

PARTITIONS = 5
GROUPS = 200
ROUNDS = 2000
"""Rounds per even partition; with 20 offsets per group and round, this gives 8 million records, 0.7 GB."""
HUGE_BYTES = 3 << 30
SMALL_RECORDS = 10_000
LEAST_PER_SECOND, LEAST_RATIO, LEAST_GAIN, MOST_SKEW, MOST_SMALL_S = 500_000, 5.0, 1.8, 1.5, 3.0
TURNS = 3
"""Turns of compared runs; the fastest counts, because other work on the machine only makes runs slower."""
_TICKS = os.sysconf("SC_CLK_TCK")
_POLL_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the history."""

    records: int
    wall_s: float
    cpu_s: float
    worker_mib: float
    jvm_mib: float
    start_s: float
    """The time of Spark's start."""


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--huge-bytes", type=int, default=HUGE_BYTES)
    parser.add_argument("--run", nargs=3, metavar=("CORES", "LOG_DIR", "OUT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(asdict(measure(int(options.run[0]), options.run[1], options.run[2]))))
        return
    print(f"{platform.machine()}, Python {platform.python_version()}, {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory(prefix="kohort-bench-") as directory:
        _all(Path(directory), options.rounds, options.huge_bytes)


def _all(scratch: Path, rounds: int, huge_bytes: int) -> None:
    jars = fetch()
    cluster = _cluster(jars, scratch / "broker")
    even = _log(cluster, scratch / "even", [rounds] * PARTITIONS)
    print(
        f"{'what':<28} {'records':>11} {'wall':>9} {'(cpu)':>10} {'records/s':>10} {'worker':>8} {'JVM':>8}"
    )
    turns = [
        (
            _child(2, even, scratch),
            _child(1, even, scratch),
            _dump(jars, even / "__consumer_offsets-0", scratch),
        )
        for _ in range(TURNS)
    ]
    two = _report("even, two cores", _fastest(turn[0] for turn in turns))
    one = _report("even, one core", _fastest(turn[1] for turn in turns))
    dumped, dump_s = min((turn[2] for turn in turns), key=lambda dump: dump[1])
    print(f"{'kafka-dump-log':<28} {dumped:>11,} {dump_s:>7.1f} s {'':>10} {dumped / dump_s:>10,.0f}")
    for turn in turns:
        print(
            f"    in turns: {turn[0].wall_s:.1f} s, {turn[1].wall_s:.1f} s; the dump tool {turn[2][1]:.1f} s"
        )
    shutil.rmtree(even)
    quarter = _log(cluster, scratch / "quarter", [rounds // 4] * PARTITIONS)
    _report("a quarter of it", _child(2, quarter, scratch))
    shutil.rmtree(quarter)
    most = rounds * PARTITIONS * 9 // 10
    rest = (rounds * PARTITIONS - most) // (PARTITIONS - 1)
    # Without indexes: they cannot address more than 2 GiB.
    log = _log(cluster, scratch / "skewed", [most] + [rest] * 4, indexed=False)
    skewed = _report("skewed", _child(2, log, scratch))
    shutil.rmtree(scratch / "skewed")
    huge = _log(cluster, scratch / "huge", [_rounds_of(huge_bytes)], indexed=False)
    _report(f"one file of {huge_bytes / (1 << 30):.1f} GiB", _child(2, huge, scratch))
    shutil.rmtree(huge)
    groups = SMALL_RECORDS // (PARTITIONS * TOPIC_PARTITIONS)
    small = _log(cluster, scratch / "small", [1] * PARTITIONS, groups=groups)
    command = [str(Path(sys.executable).with_name("kohort")), "fleet", "history", "--log-dir", str(small)]
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    small_s = time.perf_counter() - started
    rate = two.records / two.wall_s
    _bound("records/s on two cores", rate, LEAST_PER_SECOND, at_least=True)
    _bound("× the dump tool", rate / (dumped / dump_s), LEAST_RATIO, at_least=True)
    _bound("× one core", one.wall_s / two.wall_s, LEAST_GAIN, at_least=True)
    _bound(
        "skewed / even",
        (skewed.wall_s / skewed.records) / (two.wall_s / two.records),
        MOST_SKEW,
        at_least=False,
    )
    _bound("s for a small log, start to end", small_s, MOST_SMALL_S, at_least=False)


def _fastest(runs: Iterable[Run]) -> Run:
    return min(runs, key=lambda run: run.wall_s)


def _bound(what: str, found: float, bound: float, *, at_least: bool) -> None:
    kept = found >= bound if at_least else found <= bound
    print(
        f"{what:<34} {found:>12,.2f}  {'at least' if at_least else 'at most'} {bound:,.1f}{'' if kept else '  MISSED'}"
    )


def _report(what: str, run: Run) -> Run:
    print(
        f"{what:<28} {run.records:>11,} {run.wall_s:>7.1f} s ({run.cpu_s:>6.1f} s) {run.records / run.wall_s:>10,.0f} "
        f"{run.worker_mib:>4.0f} MiB {run.jvm_mib:>4.0f} MiB",
        flush=True,
    )
    return run


def _cluster(jars: Path, directory: Path) -> Path:
    """The log directory of a broker that has the topic and an empty `__consumer_offsets`."""
    broker = Broker(jars, directory)
    try:
        broker.start()
        create_topics(broker, {TOPIC: TOPIC_PARTITIONS})
    finally:
        broker.stop()
    return broker.data


def _log(
    cluster: Path, log_dir: Path, rounds: list[int], *, groups: int = GROUPS, indexed: bool = True
) -> Path:
    """A log directory with `rounds` rounds in each partition."""
    shutil.copytree(cluster, log_dir, ignore=shutil.ignore_patterns("__consumer_offsets-*"))
    topic_id = read_topic_id(log_dir / f"{TOPIC}-0") or UUID(int=1)
    for partition, count in enumerate(rounds):
        write_partition(log_dir, partition, topic_id, groups=groups, rounds=count, indexed=indexed)
    os.sync()  # otherwise pending writes would happen during the measurement
    return log_dir


def _rounds_of(size: int) -> int:
    """The number of rounds for a size in bytes: a commit has 90."""
    return size // (90 * GROUPS * TOPIC_PARTITIONS)


def _child(cores: int, log_dir: Path, scratch: Path) -> Run:
    out = scratch / "out"
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "benchmarks.pipeline", "--run", str(cores), str(log_dir), str(out)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    shutil.rmtree(out)
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def measure(cores: int, log_dir: str, out: str) -> Run:
    """Run the history once, in this process and its children, on `cores` processors."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    started = time.perf_counter()
    size = sum(file.stat().st_size for file in Path(log_dir).rglob("__consumer_offsets-*/*.log"))
    with session(SessionSettings(master=f"local[{cores}]", input_bytes=size)) as spark:
        # The first task of a worker imports modules, which later tasks reuse.
        spark.range(cores, numPartitions=cores).mapInArrow(lambda batches: batches, "id long").count()
        start_s = time.perf_counter() - started
        with _Watched() as watch:
            cpu_s, began = _cpu_s(), time.perf_counter()
            run = run_history(spark, Logs(paths=(log_dir,)), out)
            wall_s, cpu_s = time.perf_counter() - began, _cpu_s() - cpu_s
    return Run(
        records=run.added,
        wall_s=wall_s,
        cpu_s=cpu_s,
        worker_mib=watch.worker_mib,
        jvm_mib=watch.jvm_mib,
        start_s=start_s,
    )


class _Watched:
    """A context manager that polls the memory of the workers and the JVM."""

    worker_mib = jvm_mib = 0.0

    def __enter__(self) -> _Watched:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stopping.wait(_POLL_S):
            for pid in _tree(os.getpid()):
                name, peak_mib = _peak(pid)
                if name.startswith("java"):
                    self.jvm_mib = max(self.jvm_mib, peak_mib)
                elif name.startswith("python") and pid != os.getpid():
                    self.worker_mib = max(self.worker_mib, peak_mib)


def _peak(pid: int) -> tuple[str, float]:
    """The name of a process, and its peak memory in MiB."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return "", 0.0
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    return status.split("\n", 1)[0].partition("\t")[2], int(peak[1]) / 1024 if peak else 0.0


def _cpu_s() -> float:
    """Processor time of this process and all its descendants, exited ones included."""
    return sum(_spent(pid) for pid in _tree(os.getpid()))


def _spent(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS


def _tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return
    for child in children:
        yield from _tree(child)


def _dump(jars: Path, directory: Path, scratch: Path) -> tuple[int, float]:
    """The number of records that the dump tool prints for a partition, and its seconds without its start."""
    empty = scratch / segment_name(0)
    empty.write_bytes(b"")
    _, start_s = _dump_file(jars, empty)
    records, wall_s = _dump_file(jars, directory / segment_name(0))
    return records, wall_s - start_s


def _dump_file(jars: Path, file: Path) -> tuple[int, float]:
    command = ["java", "-Xmx256m", "-server", "-XX:+UseG1GC", "-cp", str(jars / "*")]
    command += ["org.apache.kafka.tools.DumpLogSegments", "--offsets-decoder", "--files", str(file)]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        if process.stdout is None:
            raise ValueError("a pipe was asked for")
        records = sum(line.startswith(b"| offset:") for line in process.stdout)
    if process.returncode:
        raise SystemExit(f"the dump tool ended with {process.returncode}")
    return records, time.perf_counter() - started


if __name__ == "__main__":
    main()
