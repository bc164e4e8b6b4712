"""Seconds and memory of commands as the number of groups grows: `make bench-scale`.

Each group has only committed: 100 offsets, of which there are 10,000 different ones, and lags. Each command is a
process: wall time, in brackets processor time with that of its children, and the peak memory; medians of three if it
takes less than two seconds. An exponent of 1 is growth with the number of groups: of processor time, and of memory.

    SIZES=100,1000 COMMANDS=describe,diagnose make bench-scale     some rows
    SIZES=10000 COMMANDS=list KEEP=1 make bench-scale              keeps the loaded broker, and prints its address
    SIZES=10000 BROKER=127.0.0.1:9092 COMMANDS=csv make bench-scale    uses it
    RESULTS=/tmp/scale.json …                                      adds to the figures of earlier runs
"""

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchmarks.agents import request_seconds
from benchmarks.command_line import kafka_tool
from benchmarks.committed_groups import KOHORT, Cluster, load, running
from benchmarks.curves import Curve, draw_curves
from benchmarks.exporter import memory_mib
from benchmarks.timing import MeasuredProcess
from benchmarks.top import Terminal, processor_s
from tests.cli.journal.entries import end_of, entry_of, offset_of, write_journal

CHANGED = 10  # offsets by an entry of the journal
QUICK_S, RUNS = 2.0, 3
ANCHORED = 1_000  # Kafka's tool describes no more groups than this, without ANCHOR=1: 10,000 take 100 s
TOOL_TIMEOUT = ("--timeout", "600000")


class Usage(NamedTuple):
    wall_s: float
    cpu_s: float
    peak_mib: float


Measure: TypeAlias = Callable[[Cluster], Sequence[Usage]]
Results: TypeAlias = dict[str, dict[str, Usage]]
"""By command, and by server and number of groups."""


def live(*words: str, statuses: Sequence[int] = (0,)) -> Measure:
    """A command that reads the cluster; `{}` is the directory for files."""

    def measure(cluster: Cluster) -> Sequence[Usage]:
        command = cluster.live(*(word.format(cluster.scratch) for word in words))
        return [Usage(*MeasuredProcess(command).wait(statuses))]

    return measure


def tool(*words: str) -> Measure:
    return lambda cluster: [
        Usage(*MeasuredProcess(kafka_tool(cluster.bootstrap, *words, *TOOL_TIMEOUT)).wait())
    ]


def of_snapshot(cluster: Cluster) -> Sequence[Usage]:
    file = cluster.scratch / "snapshot.yaml"
    if not file.exists():
        subprocess.run(cluster.live("snapshot", "--file", str(file)), check=True, capture_output=True)
    return [Usage(*MeasuredProcess([KOHORT, "list", "--snapshot", str(file)]).wait())]


def head(cluster: Cluster) -> Sequence[Usage]:
    """Three lines, and then a closed pipe."""
    began_s = time.perf_counter()
    run = MeasuredProcess(cluster.live("describe", "--all-groups"), stdout=subprocess.PIPE)
    assert run.process.stdout is not None
    with run.process.stdout as output:
        for _ in range(3):
            output.readline()
        lines_s = time.perf_counter() - began_s
        task = Path(f"/proc/{run.process.pid}/task/{run.process.pid}")
        pid = int((task / "children").read_text())
        lines = Usage(lines_s, processor_s(pid), memory_mib(pid, "VmHWM"))
    return [lines, Usage(*run.wait())]


def top(cluster: Cluster) -> Sequence[Usage]:
    terminal = Terminal("-b", cluster.bootstrap, "--timeout", "600s")
    listed_s = terminal.seconds_until(lambda text: "group-00000" in text)
    pid = terminal.process.pid
    usage = Usage(listed_s, processor_s(pid), memory_mib(pid, "VmHWM"))
    terminal.quit()
    return [usage]


def mcp(cluster: Cluster) -> Sequence[Usage]:
    run = MeasuredProcess(cluster.live("mcp"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    answered_s = sum(request_seconds(run.process))
    return [Usage(*run.wait())._replace(wall_s=answered_s)]


def journal(cluster: Cluster) -> Sequence[Usage]:
    """An entry for each group, of which some offsets were reset."""
    directory = cluster.scratch / "journal"
    if not directory.exists():
        directory.mkdir()
        items = [offset_of(partition, group="group-00000") for partition in range(CHANGED)]
        begun = entry_of(0, *items)
        file = write_journal(directory, begun, end_of(begun))
        lines = file.read_bytes()
        with file.open("wb") as stream:
            for number in range(cluster.groups):
                named = lines.replace(b"group-00000", b"group-%05d" % number)
                stream.write(named.replace(b'"00000000"', b'"%08X"' % number))
    return [Usage(*MeasuredProcess([KOHORT, "journal", "--journal", str(directory)]).wait())]


ALL = ("describe", "--all-groups")
MEASURES: Mapping[str, tuple[Sequence[str], Measure]] = {
    "list": (["list"], live("list")),
    "lag": (["lag"], live("lag")),
    "describe": (["describe --all-groups"], live(*ALL)),
    "json": (["describe --all-groups -o json"], live(*ALL, "-o", "json")),
    "csv": (["describe --all-groups -o csv"], live(*ALL, "-o", "csv")),
    "totals": (["describe --all-groups --totals"], live(*ALL, "--totals")),
    "head": (["describe --all-groups, first lines", "describe --all-groups, head -3"], head),
    "diagnose": (["diagnose --all-groups"], live("diagnose", "--all-groups", statuses=(0, 1))),
    "exporter": (["exporter --once"], live("exporter", "--once")),
    "snapshot": (["snapshot, YAML"], live("snapshot", "--file", "{}/snapshot.yaml")),
    "snapshot-json": (["snapshot, JSON"], live("snapshot", "--file", "{}/snapshot.json")),
    "of-snapshot": (["list --snapshot, YAML"], of_snapshot),
    "why": (["why GROUP"], live("why", "group-00042")),
    "top": (["top, first list"], top),
    "mcp": (["mcp, list"], mcp),
    "journal": (["journal"], journal),
    "tool-list": (["Kafka's tool --list"], tool("--list")),
    "tool-describe": (["Kafka's tool --describe"], tool("--describe", "--all-groups")),
}
KAFKA_ONLY = ("why", "tool-list", "tool-describe")  # kohort serve keeps no records of offsets without --data
ANCHORS = {"list": "Kafka's tool --list", "describe --all-groups": "Kafka's tool --describe"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="100,1000,10000", help="numbers of groups on Kafka or --broker")
    parser.add_argument("--served", default="10000,50000", help="numbers of groups on kohort serve")
    parser.add_argument("--commands", default=",".join(MEASURES))
    parser.add_argument("--broker", help="a broker that was loaded before")
    parser.add_argument("--keep", action="store_true", help="keep the broker")
    parser.add_argument("--anchor", action="store_true", help="describe all groups with Kafka's tool too")
    parser.add_argument("--results", type=Path, help="a file to which the figures are added")
    parser.add_argument("--picture", type=Path, help="draw the curves into this file")
    options = parser.parse_args()
    sizes, served = ([int(one) for one in text.split(",") if one] for text in (options.sizes, options.served))
    results = read_results(options.results)
    with tempfile.TemporaryDirectory() as directory:
        for server, numbers in (("Kafka", sizes), ("serve", served)):
            if not numbers:
                continue
            with running(server, options.broker, Path(directory)) as bootstrap:
                for groups in sorted(numbers):
                    scratch = Path(directory) / f"{server}-{groups}"
                    scratch.mkdir()
                    cluster = Cluster(server=server, bootstrap=bootstrap, groups=groups, scratch=scratch)
                    load(cluster)
                    for name in options.commands.split(","):
                        is_long = name == "tool-describe" and groups > ANCHORED and not options.anchor
                        if not is_long and (server == "Kafka" or name not in KAFKA_ONLY):
                            measure(name, cluster, results)
                        if options.results:
                            options.results.write_text(json.dumps(results))
                if options.keep:
                    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
                    print(
                        f"BROKER={bootstrap} has {max(numbers):,} groups; kill {os.getpid()} ends it",
                        flush=True,
                    )
                    signal.sigwait({signal.SIGTERM})
    titles = (title for shown_as, _ in MEASURES.values() for title in shown_as)
    results = {title: results[title] for title in titles if title in results}
    print_table(results)
    if options.picture:
        options.picture.write_text(draw_curves(curves(results)))


def read_results(file: Path | None) -> Results:
    read = json.loads(file.read_text()) if file and file.exists() else {}
    return {title: {place: Usage(*one) for place, one in row.items()} for title, row in read.items()}


def measure(name: str, cluster: Cluster, results: Results) -> None:
    titles, measured = MEASURES[name]
    runs = [measured(cluster)]
    while len(runs) < RUNS and runs[0][-1].wall_s < QUICK_S:
        runs.append(measured(cluster))
    for title, usages in zip(titles, zip(*runs, strict=True), strict=True):
        usage = Usage(*(statistics.median(column) for column in zip(*usages, strict=True)))
        results.setdefault(title, {})[f"{cluster.server} {cluster.groups}"] = usage
        print(f"  {title:<40} {shown(usage)}, load {os.getloadavg()[0]:.1f}", flush=True)


def shown(usage: Usage) -> str:
    return f"{usage.wall_s:.3g} s ({usage.cpu_s:.3g}) {usage.peak_mib:.0f} MiB"


def curves(results: Results) -> Sequence[Curve]:
    """A curve for each command and server."""
    return [
        Curve(title=title, server=server, points=[(groups, row[f"{server} {groups}"]) for groups in sizes])
        for title, row in results.items()
        for server in ("Kafka", "serve")
        if (sizes := sorted(int(place.split()[1]) for place in row if place.startswith(server)))
    ]


def print_table(results: Results) -> None:
    """As in docs/benchmarks.md, with the exponents between the last two sizes of each server."""
    places = sorted({place for row in results.values() for place in row}, key=in_order)
    servers = [
        server for server in ("Kafka", "serve") if sum(place.startswith(server) for place in places) > 1
    ]
    heads = [f"{server}, {int(groups):,}" for server, groups in map(str.split, places)]
    print("| command |", " | ".join([*heads, *(f"exponents, {server}" for server in servers)]), "|")
    print("| --- |", " | ".join(["---:"] * (len(places) + len(servers))), "|")
    growths = {(curve.title, curve.server): growth(curve) for curve in curves(results)}
    for title, row in results.items():
        cells = [shown(row[place]) if place in row else "" for place in places]
        print(
            f"| {title} |",
            " | ".join([*cells, *(growths.get((title, server), "") for server in servers)]),
            "|",
        )
    for title, anchor in ANCHORS.items():
        for place in places:
            ours, theirs = (results.get(name, {}).get(place) for name in (title, anchor))
            if ours and theirs:
                ratios = f"{ours.wall_s / theirs.wall_s:.2f} ({ours.cpu_s / theirs.cpu_s:.2f})"
                print(f"{title} / {anchor}, {place}: {ratios}")


def in_order(place: str) -> tuple[str, int]:
    server, groups = place.split()
    return server, int(groups)


def growth(curve: Curve) -> str:
    """The exponents of processor time and memory between the last two points."""
    if len(curve.points) < 2:
        return ""
    (fewer, before), (more, after) = curve.points[-2:]
    exponents = (math.log(after[column] / before[column]) / math.log(more / fewer) for column in (1, 2))
    return ", ".join(f"{exponent:.2f}" for exponent in exponents)


if __name__ == "__main__":
    main()
