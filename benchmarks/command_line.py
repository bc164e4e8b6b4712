"""The time of commands to start, to request and to print, compared with their baselines. `make bench` runs it.

Whole processes in an environment without the dev extra: medians of wall time and, in brackets, processor time over
the counted runs, and the highest peak memory. The tool's JVM starts quickly with the options of
`tests/kafka/java.py`, without an archive of its classes; with the options of Kafka's scripts it takes longer.
`python -m benchmarks.command_line describe` measures one part.
"""

import io
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from confluent_kafka import Producer

from benchmarks.timing import Times, plain_environment, side_by_side
from cli.output import render
from cli.render.output_format import OutputFormat
from cli.verbs.describe.view import DescribeMode, describe_document
from groups.model import CommittedOffset, Group, GroupState, GroupType, Topic
from tests.cli.fleet import running_fleet
from tests.kafka.broker import Broker
from tests.kafka.commits import (
    QUICK_COORDINATOR,
    make_classic_groups,
    make_consumer_groups,
    make_share_groups,
)
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.jars import fetch
from tests.kafka.java import java
from tests.kafka.java_host import JavaHost
from tests.kafka.topics import create_topics

ROWS = 100_000
TOPIC = "orders"
GROUPS, TOPIC_PARTITIONS = 1000, 100
OBSERVED_S = 6
TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"


def main() -> None:
    """Print one table, of the parts that the command line names or of all."""
    parts: dict[str, Callable[[Path, Path], None]] = {
        "help": _help,
        "list": _list,
        "describe": _describe,
        "many": _many,
        "diagnose": _diagnose,
    }
    chosen = sys.argv[1:] or [*parts, "render"]
    print(f"{platform.machine()}, Python {platform.python_version()}")
    print(
        f"{'what':<56} {'Kohort, ms':>14} {'MiB':>4} {'other, ms':>14} {'MiB':>4} {'ratio':>13} "
        f"{'bound':>7} {'verdict':>8}"
    )
    with tempfile.TemporaryDirectory() as directory:
        bin_directory = plain_environment(Path(directory) / "venv")
        for name, part in parts.items():
            if name in chosen:
                part(bin_directory, Path(directory))
    if "render" in chosen:
        _render()


def _help(bin_directory: Path, _scratch: Path) -> None:
    baseline = [str(bin_directory / "python"), "-c", "import typer, rich.table"]
    ours, theirs = side_by_side([[str(bin_directory / "kohort"), "--help"], baseline])
    _row("kohort --help / import typer, rich.table", ours, theirs, 1.3)


def _list(bin_directory: Path, scratch: Path) -> None:
    """14 groups of every type, with members."""
    jars = fetch()
    host = JavaHost(jars)
    try:
        with _broker(scratch / "fleet") as broker, running_fleet(broker, jars, host, scratch):
            _compared_with_the_tool(bin_directory, broker, "list", ["--list"], 0.2)
    finally:
        host.crash()


def _describe(bin_directory: Path, scratch: Path) -> None:
    with _broker(scratch / "committed") as broker:
        create_topics(broker, {TOPIC: TOPIC_PARTITIONS})
        make_classic_groups(broker, [f"group-{n:04}" for n in range(GROUPS)], TOPIC, TOPIC_PARTITIONS)
        what = f"describe --all-groups, {GROUPS:,} × {TOPIC_PARTITIONS}"
        arguments = ["--describe", "--all-groups"]
        _compared_with_the_tool(bin_directory, broker, what, arguments, 0.15, peak_mib=200, runs=5)


def _diagnose(bin_directory: Path, scratch: Path) -> None:
    """The same groups, all healthy. The pause of diagnose between its two observations is not counted."""
    with _broker(scratch / "diagnosed") as broker:
        create_topics(broker, {TOPIC: TOPIC_PARTITIONS})
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        for number in range(TOPIC_PARTITIONS):
            for _ in range(number):
                producer.produce(TOPIC, b"", partition=number)
        producer.flush()
        make_classic_groups(broker, [f"group-{n:04}" for n in range(GROUPS)], TOPIC, TOPIC_PARTITIONS)
        commands = [
            [
                str(bin_directory / "kohort"),
                verb,
                "--all-groups",
                "--bootstrap-server",
                broker.bootstrap,
                *more,
            ]
            for verb, more in (("diagnose", ["--for", f"{OBSERVED_S}s"]), ("describe", []))
        ]
        diagnosed, described = side_by_side(commands, runs=5)
        awake = replace(diagnosed, wall_s=tuple(each - OBSERVED_S for each in diagnosed.wall_s))
        what = f"diagnose --all-groups / describe, {GROUPS:,} × {TOPIC_PARTITIONS}"
        _row(what, awake, described, 3)


def _many(bin_directory: Path, scratch: Path) -> None:
    """5,000 groups of three types; `kohort list` describes each of them to get its number of members."""
    with _broker(scratch / "many") as broker:
        create_topics(broker, {TOPIC: 1})
        make_classic_groups(broker, [f"classic-{n:04}" for n in range(2000)], TOPIC, 1)
        make_consumer_groups(broker, [f"consumer-{n:04}" for n in range(2000)], TOPIC)
        make_share_groups(broker, [f"share-{n:04}" for n in range(1000)], TOPIC)
        command = [str(bin_directory / "kohort"), "list", "--bootstrap-server", broker.bootstrap]
        tool = kafka_tool(broker.bootstrap, "--list", "--type")
        ours, theirs = side_by_side([command, tool])
        _row("kohort list, 5,000 groups / … --list --type, 4,000", ours, theirs, None, seconds=1)


def kafka_tool(bootstrap: str, *arguments: str) -> list[str]:
    """Kafka's tool, without the archive of classes that the tests create: an operator does not have one."""
    command = java(fetch(), TOOL, "--bootstrap-server", bootstrap, *arguments)
    return [word for word in command if not word.startswith("-XX:SharedArchiveFile=")]


def _compared_with_the_tool(
    bin_directory: Path,
    broker: Broker,
    what: str,
    arguments: Sequence[str],
    bound: float,
    *,
    peak_mib: float | None = None,
    runs: int = 9,
) -> None:
    """Measure both of our commands and the tool: `--list …` becomes `kohort list …`."""
    server = ["--bootstrap-server", broker.bootstrap]
    verb = [arguments[0].removeprefix("--"), *arguments[1:]]
    ours, standing_in, theirs = side_by_side(
        [
            [str(bin_directory / "kohort"), *verb, *server],
            [str(bin_directory / "kohort-consumer-groups"), *server, *arguments],
            kafka_tool(broker.bootstrap, *arguments),
        ],
        runs=runs,
    )
    _row(f"kohort {what}", ours, theirs, bound, peak_mib=peak_mib)
    _row("  the same with kohort-consumer-groups", standing_in, theirs, bound, peak_mib=peak_mib)


@contextmanager
def _broker(directory: Path) -> Iterator[Broker]:
    broker = Broker(fetch(), directory, QUICK_COORDINATOR)
    try:
        broker.start()
        wait_for_coordinator(broker)
        yield broker
    finally:
        broker.stop()


def _row(
    what: str,
    ours: Times,
    theirs: Times,
    bound: float | None,
    *,
    seconds: float | None = None,
    peak_mib: float | None = None,
) -> None:
    """Print a line with its verdict: `bound` limits the ratio, `seconds` and `peak_mib` our own figures."""
    ratio = ours.median_s / theirs.median_s
    kept = (
        (bound is None or ratio <= bound)
        and (seconds is None or ours.median_s <= seconds)
        and (peak_mib is None or ours.peak_mib <= peak_mib)
    )
    wanted = f"{bound}" if bound is not None else f"{seconds} s"
    print(
        f"{what:<56} {_shown(ours)} {_shown(theirs)} {ratio:>5.3f} "
        f"({ours.median_cpu_s / theirs.median_cpu_s:>5.3f}) {wanted:>7} {'kept' if kept else 'BROKEN':>8}",
        flush=True,
    )


def _shown(times: Times) -> str:
    return f"{times.median_s * 1000:>6.0f} ({times.median_cpu_s * 1000:>5.0f}) {times.peak_mib:>4.0f}"


def _render() -> None:
    """The time to print many offsets, without reading them; processor time, as there is no waiting."""
    group = Group(
        id="g",
        type=GroupType.CLASSIC,
        state=GroupState.EMPTY,
        offsets={"orders": {p: CommittedOffset(offset=p, metadata="") for p in range(ROWS)}},
    )
    topics = {"orders": Topic(name="orders", partitions=ROWS, end_offsets={p: p + 1 for p in range(ROWS)})}
    for output in OutputFormat:
        started = time.process_time()
        document = describe_document([group], topics, DescribeMode.OFFSETS, verbose=False, problems=())
        render(document, output, io.StringIO())
        seconds = time.process_time() - started
        print(
            f"{f'{ROWS:,} offset rows as {output.value}':<56} {seconds * 1000:>6.0f} {'':>46} "
            f"{'1 s':>7} {'kept' if seconds <= 1 else 'BROKEN':>8}"
        )


if __name__ == "__main__":
    main()
