"""`kohort exporter` over 5,000 groups × 20 partitions of a real broker: `python -m benchmarks.exporter [MINUTES]`.

The groups are classic ones that only commit, each with different offsets, on a topic of 20 × 1,000 records, so that
every group lags and the timestamps of 20,000 records are looked up. A scrape is the whole HTTP response that
Prometheus gets. With MINUTES, the exporter then polls every 30 seconds and is scraped every 15 while groups commit,
and its memory is measured.
"""

import gzip
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Producer

from benchmarks.timing import plain_environment
from tests.kafka.broker import Broker
from tests.kafka.commits import QUICK_COORDINATOR, commit_request, send_commits
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.jars import fetch
from tests.kafka.topics import create_topics

GROUPS, PARTITIONS, RECORDS = 5_000, 20, 1_000
TOPIC = "orders"
SCRAPES = 9
EVERY_S = 15.0
BOUNDS = {"poll s": 5.0, "scrape s": 1.0, "MiB": 300.0}
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def main() -> None:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    with tempfile.TemporaryDirectory() as directory:
        kohort = plain_environment(Path(directory) / "venv") / "kohort"
        broker = Broker(fetch(), Path(directory) / "broker", QUICK_COORDINATOR)
        try:
            broker.start()
            wait_for_coordinator(broker)
            create_topics(broker, {TOPIC: PARTITIONS})
            produce(broker)
            commit(broker, range(GROUPS), 0)
            for per in ("topic", "partition"):
                measure(kohort, broker, per, minutes if per == "partition" else 0.0)
        finally:
            broker.stop()


def produce(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(RECORDS * PARTITIONS):
        producer.produce(TOPIC, value=str(number).encode(), partition=number % PARTITIONS)
        if number % 10_000 == 0:
            producer.flush(60)
    producer.flush(60)


def commit(broker: Broker, groups: Sequence[int], turn: int) -> None:
    """Commit offsets that differ between groups, and grow from turn to turn."""
    requests = [
        commit_request(
            f"group-{number:04}",
            TOPIC,
            [
                (number * 7 + partition * 13) % (RECORDS // 2) + turn % (RECORDS // 2)
                for partition in range(PARTITIONS)
            ],
        )
        for number in groups
    ]
    send_commits(broker, requests)


def measure(kohort: Path, broker: Broker, per: str, minutes: float) -> None:
    command = [str(kohort), "exporter", "--listen", "127.0.0.1:0", "-b", broker.bootstrap, "--per", per]
    command += ["--max-series", "1000000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        polls, processor = wait_polls(url, 3)
        scrapes = [scrape(url) for _ in range(SCRAPES)]
        seconds = [each[0] for each in scrapes]
        plain = [scrape(url, "identity")[0] for _ in range(SCRAPES)]
        body = scrapes[-1][1]
        print(f"--per {per}: {figure(body, 'kohort_series'):,.0f} samples, {len(body) / 2**20:.1f} MiB")
        show("poll s", polls, f"{processor:.2f} s of a processor each")
        show("scrape s", seconds, "gzip")
        show("scrape s", plain, "identity")
        show("MiB", [memory_mib(process.pid, "VmHWM")], "peak after three polls")
        if minutes:
            watch(process.pid, url, broker, minutes)
    finally:
        process.terminate()
        process.wait(30)


def watch(pid: int, url: str, broker: Broker, minutes: float) -> None:
    """Print the memory during each third of the time: constant if the last is at most 5 % above the first."""
    seen: list[float] = []
    polls: list[float] = []
    until, turn = time.monotonic() + minutes * 60, 0
    while time.monotonic() < until:
        turn += 1
        commit(broker, range(turn % 10, GROUPS, 10), turn)
        _, body = scrape(url)
        polls.append(figure(body, "kohort_last_poll_duration_seconds"))
        seen.append(memory_mib(pid, "VmRSS"))
        time.sleep(EVERY_S)
    third = max(1, len(seen) // 3)
    parts = [seen[:third], seen[third : 2 * third], seen[2 * third :]]
    print(f"  {minutes:g} minutes, {len(seen)} scrapes; resident MiB, median and most, by thirds: "
          + ", ".join(f"{statistics.median(part):.0f} ({max(part):.0f})" for part in parts))  # fmt: skip
    show("poll s", polls, "all of them")
    show("MiB", [memory_mib(pid, "VmHWM")], "peak")


def wait_polls(url: str, count: int) -> tuple[list[float], float]:
    """The durations of the first polls, and the processor time from the first to the last of them."""
    durations: list[float] = []
    used: list[float] = []
    while len(durations) < count:
        time.sleep(1)
        _, body = scrape(url)
        if figure(body, "kohort_polls_total") > len(durations):
            durations.append(figure(body, "kohort_last_poll_duration_seconds"))
            used.append(figure(body, "process_cpu_seconds_total"))
    return durations, (used[-1] - used[0]) / (count - 1)


def scrape(url: str, encoding: str = "gzip") -> tuple[float, bytes]:
    """Seconds until the whole response has arrived, and the response."""
    request = urllib.request.Request(url, headers={"Accept": OPENMETRICS, "Accept-Encoding": encoding})
    begun = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        body = answer.read()
    took = time.perf_counter() - begun
    return took, gzip.decompress(body) if encoding == "gzip" else body


def figure(body: bytes, name: str) -> float:
    found = re.search(rf"^{name} (\S+)$".encode(), body[-20_000:], re.M)
    return float(found[1]) if found else 0.0


def memory_mib(pid: int, field: str) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{field}:\s+(\d+) kB$", text, re.M)
    assert found is not None
    return int(found[1]) / 1024


def show(what: str, values: Sequence[float], note: str = "") -> None:
    """Print a figure; its median must be within bounds, as on a shared machine the maximum depends on other work."""
    median, worst, bound = statistics.median(values), max(values), BOUNDS[what]
    verdict = "kept" if median <= bound else "BROKEN"
    print(
        f"  {what:<9} {median:>8.2f} (most {worst:.2f}) {bound:>6g} {verdict:>7}  {note}",
        flush=True,
    )


if __name__ == "__main__":
    main()
