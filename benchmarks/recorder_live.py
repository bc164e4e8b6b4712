"""`kohort record` of a real broker that takes 20,000 commits/s: `python -m benchmarks.recorder_live [MINUTES]`.

5,000 groups without members commit 20 partitions each, in turn. Prints the recorder's processor time and memory by the
minute, how far it is behind, and how long `kohort why` takes, alone and while it records."""

import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.exporter import memory_mib
from benchmarks.timing import plain_environment
from tests.kafka.broker import Broker
from tests.kafka.commits import QUICK_COORDINATOR, commit_request, send_commits
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.jars import fetch
from tests.kafka.ports import HOST
from tests.kafka.topics import create_topics

GROUPS, PARTITIONS, PER_SECOND = 5_000, 20, 20_000
SLICES = 20  # requests are sent this often a second


class Load:
    """Commits at a steady rate, without reading the answers: only their bytes are taken."""

    def __init__(self, broker: Broker, requests: Sequence[bytes]) -> None:
        self._requests, self._stop = requests, threading.Event()
        self._connection = socket.create_connection((HOST, broker.port))
        self.sent = 0
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    def _send(self) -> None:
        each, started = PER_SECOND // PARTITIONS // SLICES, time.monotonic()
        turn = 0
        while not self._stop.is_set():
            first = turn * each % len(self._requests)
            self._connection.sendall(b"".join(self._requests[first : first + each]))
            turn, self.sent = turn + 1, self.sent + each * PARTITIONS
            time.sleep(max(0.0, started + turn / SLICES - time.monotonic()))

    def _receive(self) -> None:
        while not self._stop.is_set() and self._connection.recv(1 << 20):
            pass

    def stop(self) -> None:
        self._stop.set()
        self._threads[0].join()
        self._connection.close()


def main(minutes: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        kohort = plain_environment(Path(directory) / "venv") / "kohort"
        broker = Broker(fetch(), Path(directory) / "broker", QUICK_COORDINATOR)
        try:
            broker.start()
            wait_for_coordinator(broker)
            create_topics(broker, {"orders": PARTITIONS})
            requests = [
                commit_request(f"group-{number}", "orders", range(number, number + PARTITIONS))
                for number in range(GROUPS)
            ]
            send_commits(broker, requests)
            measure(kohort, broker, requests, minutes, Path(directory) / "journal.db")
        finally:
            broker.stop()


def measure(kohort: Path, broker: Broker, requests: Sequence[bytes], minutes: int, file: Path) -> None:
    why = [str(kohort), "why", "group-7", "--journal", str(file)]
    recorder = subprocess.Popen(
        [str(kohort), "record", "-b", broker.bootstrap, "--journal", str(file)], stdout=subprocess.DEVNULL
    )
    load = Load(broker, requests)
    try:
        print("MINUTE  OF-A-CORE  MEMORY-MIB  PEAK-MIB  COMMITS/S  WHY-S")
        time.sleep(10)
        for minute in range(1, minutes + 1):
            cpu_s, sent, begun = processor_s(recorder.pid), load.sent, time.monotonic()
            time.sleep(55)
            passed_s = time.monotonic() - begun
            used, rate = (processor_s(recorder.pid) - cpu_s) / passed_s, (load.sent - sent) / passed_s
            memory, peak = (memory_mib(recorder.pid, name) for name in ("VmRSS", "VmHWM"))
            row = f"{minute:6}  {used:9.1%}  {memory:10,.0f}  {peak:8,.0f}  {rate:9,.0f}  {timed(why):5.2f}"
            print(row, flush=True)
    finally:
        load.stop()
        time.sleep(10)
        recorder.terminate()
        recorder.wait(60)
    with sqlite3.connect(file) as database:
        (behind,) = database.execute("SELECT sum(next_offset) FROM positions").fetchone()
    print(f"{load.sent:,} commits sent, {behind:,} records read")
    print(f"kohort why alone: {timed(why):.2f} s")


def processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(command: Sequence[str]) -> float:
    begun = time.monotonic()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begun


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
