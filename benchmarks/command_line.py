"""How quickly commands start and print, beside what they are measured against. `make bench` runs it.

Whole processes in an environment without the dev extra, wall time, median of the counted runs.
"""

from __future__ import annotations

import io
import platform
import tempfile
import time
from pathlib import Path

from benchmarks.timing import Times, plain_environment, side_by_side
from cli.render.formats import render
from cli.render.output_format import OutputFormat
from cli.views.describe import DescribeMode, describe_document
from coordinator.model import CommittedOffset, Group, GroupState, GroupType, Topic
from tests.cli.fleet import running_fleet
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.jars import fetch
from tests.kafka.java import java
from tests.kafka.java_host import JavaHost

ROWS = 100_000
TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"


def main() -> None:
    """Print one table."""
    print(f"{platform.machine()}, Python {platform.python_version()}")
    print(f"{'what':<44} {'Kohort':>12} {'beside':>12} {'ratio':>7} {'bound':>7}")
    with tempfile.TemporaryDirectory() as directory:
        bin_directory = plain_environment(Path(directory) / "venv")
        _help(bin_directory)
        _list(bin_directory, Path(directory))
    _render()


def _help(bin_directory: Path) -> None:
    baseline = [str(bin_directory / "python"), "-c", "import typer, rich.table"]
    ours, theirs = side_by_side([[str(bin_directory / "kohort"), "--help"], baseline])
    _row("kohort --help / import typer, rich.table", ours, theirs, 1.3)


def _list(bin_directory: Path, scratch: Path) -> None:
    jars = fetch()
    broker, host = Broker(jars, scratch / "broker"), JavaHost(jars)
    try:
        broker.start()
        wait_for_coordinator(broker)
        with running_fleet(broker, jars, host, scratch):
            server = ["--bootstrap-server", broker.bootstrap]
            ours, theirs = side_by_side(
                [[str(bin_directory / "kohort"), "list", *server], list(java(jars, TOOL, *server, "--list"))]
            )
        _row("kohort list / kafka-consumer-groups --list", ours, theirs, 0.3)
    finally:
        host.crash()
        broker.stop()


def _row(what: str, ours: Times, theirs: Times, bound: float) -> None:
    print(
        f"{what:<44} {ours.median_s * 1000:>9.0f} ms {theirs.median_s * 1000:>9.0f} ms "
        f"{ours.median_s / theirs.median_s:>7.2f} {bound:>7}"
    )


def _render() -> None:
    """What showing many offsets adds to having read them; processor time, as nothing else is waited for."""
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
            f"{f'{ROWS:,} offset rows as {output.value}':<44} {seconds * 1000:>9.0f} ms {'':>12} {'':>7} {'1 s':>7}"
        )


if __name__ == "__main__":
    main()
