"""`kohort top` on 1,000 groups of a real broker, and on a snapshot of 5,000: `python -m benchmarks.top [keys]`.

The installed command runs on a pseudo-terminal. First screen: from the start of the process until the terminal shows
groups, and until it shows their lag. Key to repaint: from a key until the last byte of the table has arrived.
Settled: processor time of the process while no key is pressed. Memory: an hour of polls at the default interval,
without the pauses between them, by a clock that is set forward.
"""

import fcntl
import json
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyte
from confluent_kafka import Producer

from cli.options import SelectionOptions, SourceOptions
from cli.selection import ReusableSource
from cli.verbs.top.choice import GroupsToShow
from cli.verbs.top.poller import Poller
from cli.verbs.top.sight import Focus
from tests.cli.verbs.top.driving import many_groups
from tests.kafka.broker import Broker
from tests.kafka.commits import QUICK_COORDINATOR, commit_request, send_commits
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.jars import fetch
from tests.kafka.topics import create_topics

GROUPS, PARTITIONS, RECORDS = 1_000, 4, 1_000
MANY = 5_000
COLUMNS, LINES = 120, 40
TOPIC = "orders"
STARTS, KEYS = 5, 25
REST_S = 60.0
FRAME_S = 0.008  # Parts of a frame arrive within this time
QUIET_S = 0.04  # No frame follows after this time
EVERY_MS = 2_000  # The default interval
POLLS = 3_600_000 // EVERY_MS  # Of an hour
BOUNDS = {"first screen s": 1.5, "with lag s": 1.5, "key ms": 50.0, "processor %": 5.0, "grown MiB": 20.0}
KEY_BYTES = {
    "down": b"\x1b[B",
    "page down": b"\x1b[6~",
    "sort": b"s",
    "turn": b"S",
    "filter": b"4",
}


class Terminal:
    """The command on a terminal, and what that shows."""

    def __init__(self, *words: str) -> None:
        self._controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        kohort = Path(sys.executable).with_name("kohort")
        environment = {**os.environ, "TERM": "xterm-256color"}
        self.began_s = time.perf_counter()
        self.process = subprocess.Popen(
            [kohort, "top", *words], stdin=terminal, stdout=terminal, stderr=terminal, env=environment
        )
        os.close(terminal)

    @property
    def text(self) -> str:
        return "\n".join(self._screen.display)

    def read(self, longest_s: float) -> bool:
        """Take what arrives; whether anything did."""
        if not select.select([self._controller], [], [], longest_s)[0]:
            return False
        self._stream.feed(os.read(self._controller, 1 << 20))
        return True

    def seconds_until(self, holds: Callable[[str], object]) -> float:
        """From the start until something is true of the screen."""
        while not holds(self.text):
            self.read(60)
        return time.perf_counter() - self.began_s

    def seconds_of(self, key: bytes) -> tuple[float, float]:
        """From a key until the last byte of the first frame, which has the table, and of the last one, which has the
        lines below it."""
        while self.read(QUIET_S):
            pass
        began_s = first_s = last_s = time.perf_counter()
        os.write(self._controller, key)
        while self.read(1.0 if last_s == began_s else QUIET_S):
            now_s = time.perf_counter()
            if first_s == began_s or now_s - first_s < FRAME_S:
                first_s = now_s
            last_s = now_s
        return first_s - began_s, last_s - began_s

    def rest(self, seconds: float) -> float:
        """The share of a core, in percent, that it takes while no key is pressed."""
        used_s, began_s = processor_s(self.process.pid), time.monotonic()
        while (left_s := began_s + seconds - time.monotonic()) > 0:
            self.read(left_s)
        return 100 * (processor_s(self.process.pid) - used_s) / (time.monotonic() - began_s)

    def quit(self) -> None:
        os.write(self._controller, b"q")
        while self.process.poll() is None:
            try:
                self.read(0.1)
            except OSError:
                break
        self.process.wait(30)
        os.close(self._controller)


def main() -> None:
    if sys.argv[1:2] == ["polls"]:
        poll_for_an_hour(sys.argv[2])
        return
    if sys.argv[1:2] == ["keys"]:
        with tempfile.TemporaryDirectory() as directory:
            measure_keys(Path(directory))
        return
    with tempfile.TemporaryDirectory() as directory:
        broker = Broker(fetch(), Path(directory) / "broker", QUICK_COORDINATOR)
        try:
            broker.start()
            fill(broker)
            print(
                f"{GROUPS:,} groups × {PARTITIONS} partitions of a broker, load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
            measure_starts(broker)
            measure_rest(broker)
            subprocess.run([sys.executable, "-m", "benchmarks.top", "polls", broker.bootstrap], check=True)
        finally:
            broker.stop()
        measure_keys(Path(directory))


def fill(broker: Broker) -> None:
    """Records, and groups that lag."""
    wait_for_coordinator(broker)
    create_topics(broker, {TOPIC: PARTITIONS})
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(RECORDS * PARTITIONS):
        producer.produce(TOPIC, value=str(number).encode(), partition=number % PARTITIONS)
    producer.flush(60)
    offsets = [[(number * 7 + one) % (RECORDS // 2) for one in range(PARTITIONS)] for number in range(GROUPS)]
    send_commits(
        broker, [commit_request(f"group-{number:04}", TOPIC, listed) for number, listed in enumerate(offsets)]
    )


def measure_starts(broker: Broker) -> None:
    listed, complete = [], []
    for _ in range(STARTS):
        top = Terminal("-b", broker.bootstrap)
        listed.append(top.seconds_until(lambda text: "group-0000" in text))
        complete.append(top.seconds_until(lambda text: re.search(r"group-0000 .* [34][0-9]{3} ", text)))
        top.quit()
    show("first screen s", listed, "the list")
    show("with lag s", complete, "with the lag of the groups on screen")


def measure_rest(broker: Broker) -> None:
    top = Terminal("-b", broker.bootstrap)
    top.seconds_until(lambda text: "group-0000" in text and "still to be read" not in text)
    top.rest(20)  # Until each group has been read twice, and has a verdict
    show(
        "processor %",
        [top.rest(REST_S)],
        f"of a core, for {REST_S:g} s, all groups on screen or read once a minute",
    )
    top.quit()


def measure_keys(directory: Path) -> None:
    groups, topics = many_groups(MANY)
    file = directory / "groups.json"
    file.write_text(json.dumps({"kohort": 1, "topics": topics, "groups": groups}))
    print(f"{MANY:,} groups of a snapshot, load {os.getloadavg()[0]:.1f}", flush=True)
    top = Terminal("--snapshot", str(file))
    top.seconds_until(lambda text: "group-0000" in text and "still to be read" not in text)
    top.rest(3)
    for name, key in KEY_BYTES.items():
        used_s = processor_s(top.process.pid)
        if name == "filter":
            top.seconds_of(b"/")
            times = [top.seconds_of(one) for _ in range(KEYS // 2) for one in (key, b"\x7f")]
        else:
            times = [top.seconds_of(key) for _ in range(KEYS)]
        used_ms = 1000 * (processor_s(top.process.pid) - used_s) / len(times)
        below_ms = 1000 * statistics.median(last_s for _, last_s in times)
        note = f"{name}; with the lines below {below_ms:.0f} ms; {used_ms:.0f} ms of a processor"
        show("key ms", [1000 * first_s for first_s, _ in times], note)
        if name == "filter":
            top.seconds_of(b"\x1b")
    top.rest(1)
    show("processor %", [top.rest(REST_S / 3)], "of a core, settled")
    print(f"  memory: {memory_mib(top.process.pid):.0f} MiB")
    top.quit()


class HastyPoller(Poller):
    """Polls one after the other; its clock is set forward by the interval."""

    polls, at_ms = 0, time.time_ns() // 1_000_000

    def _rest_s(self, *_: object) -> float:
        HastyPoller.polls += 1
        HastyPoller.at_ms += EVERY_MS
        return 0.0


def poll_for_an_hour(bootstrap: str) -> None:
    """Print the memory of this process during an hour of polls."""
    sizes: list[float] = []
    options = SourceOptions(bootstrap_server=bootstrap)
    opened, choice = ReusableSource(options), GroupsToShow(SelectionOptions())
    poller = HastyPoller(opened, EVERY_MS / 1000, lambda _: None, lambda: HastyPoller.at_ms, choice)
    poller.focus(Focus(visible=tuple(f"group-{number:04}" for number in range(LINES))))
    began_s = time.process_time()
    poller.start()
    while HastyPoller.polls < POLLS and poller.error is None:
        time.sleep(0.05)
        if HastyPoller.polls >= (len(sizes) + 1) * POLLS // 10:
            sizes.append(memory_mib(os.getpid()))
    poller.stop()
    if poller.error is not None:
        raise poller.error
    used_ms = 1000 * (time.process_time() - began_s) / HastyPoller.polls
    print(
        f"  an hour of {POLLS:,} polls, {used_ms:.1f} ms of a processor each; MiB by tenths: "
        + ", ".join(f"{size:.0f}" for size in sizes)
    )
    show("grown MiB", [sizes[-1] - sizes[2]], "from the third tenth of the hour to its end")


def processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mib(pid: int) -> float:
    found = re.search(r"^VmRSS:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.M)
    assert found is not None
    return int(found[1]) / 1024


def show(what: str, values: Sequence[float], note: str) -> None:
    """Print a figure; its median must be within bounds, as on a shared machine the maximum depends on other work."""
    median, bound = statistics.median(values), BOUNDS[what]
    verdict = "kept" if median <= bound else "BROKEN"
    print(
        f"  {what:<15} {median:>8.2f} (most {max(values):.2f}) {bound:>6g} {verdict:>7}  {note}", flush=True
    )


if __name__ == "__main__":
    main()
