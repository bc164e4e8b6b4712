"""The time of plans and checks of regexes, on large groups and many topics. `make bench-plans` runs it.

Whole processes in an environment without the dev extra, wall and processor time, median of the counted runs. Processor
time is less affected by other work on the machine.
"""

import argparse
import os
import platform
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from uuid import UUID

from benchmarks.timing import plain_environment
from groups.model import (
    Client,
    Cluster,
    Group,
    GroupState,
    GroupType,
    Member,
    MemberProtocol,
    Subscription,
    Topic,
)
from groups.snapshot import Snapshot, write_snapshot
from migration.model import Destination

MEMBERS, TOPICS, PARTITIONS = 500, 10, 500
"""Members, topics, and partitions of each topic."""
PATTERNS, NAMES = 100, 100_000
BOUND_S = 3.0
RUNS = 5
CLASSIC = ("range", "roundrobin", "sticky", "cooperative-sticky")


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, help="a bin directory with kohort; by default one is made")
    options = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, {os.cpu_count()} processors")
    print(f"{MEMBERS} members, {TOPICS * PARTITIONS:,} partitions; {PATTERNS} patterns, {NAMES:,} topics")
    print(f"{'what':<44} {'wall':>8} {'CPU':>8} {'bound':>6} {'of it':>6}")
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        kohort = str((options.bin or plain_environment(scratch / "venv")) / "kohort")
        for what, arguments in (*plans(scratch), *regexes(scratch)):
            measure(what, [kohort, *arguments])


def plans(scratch: Path) -> Iterator[tuple[str, list[str]]]:
    """A plan from every assignor to every destination that needs steps."""
    for protocol in (*CLASSIC, "uniform"):
        file = scratch / f"{protocol}.yaml"
        write_snapshot(large_group(protocol), file)
        for destination in destinations(protocol):
            yield (
                f"plan, {protocol} to {destination.value}",
                [
                    "plan",
                    "large",
                    "--to",
                    destination.value,
                    "--client",
                    "java:4.3.1",
                    "--snapshot",
                    str(file),
                ],
            )


def destinations(protocol: str) -> Sequence[Destination]:
    """The destinations of a group with this assignor."""
    if protocol == "uniform":
        return [Destination.CLASSIC]
    if protocol == "cooperative-sticky":
        return [Destination.EAGER, Destination.CONSUMER]
    return [Destination.COOPERATIVE, Destination.CONSUMER]


def regexes(scratch: Path) -> Iterator[tuple[str, list[str]]]:
    """Checks of patterns that are typical of services, alone and compared with each client's engine."""
    random = Random(7)
    teams = [f"team{number}" for number in range(40)]
    kinds = ("orders", "payments", "users", "clicks", "audit-log", "prices")
    names = [
        f"{random.choice(teams)}.{random.choice(kinds)}-{number}{random.choice(('', '-retry', '.dlq'))}"
        for number in range(NAMES)
    ]
    forms = (
        "{0}\\..*",
        "{0}\\.({1}|{2})-[0-9]+",
        ".*\\.{1}-.*-retry",
        "[a-z0-9]+\\.{2}-[0-9]{{1,4}}",
        "{0}\\.{1}.*\\.dlq",
    )
    patterns = [
        forms[number % len(forms)].format(random.choice(teams), *random.sample(kinds, 2))
        for number in range(PATTERNS)
    ]
    topics = scratch / "topics"
    topics.write_text("\n".join(names) + "\n")
    for engine in (None, "java", "librdkafka"):
        file = scratch / f"patterns-{engine}"
        # librdkafka treats a topic that starts with ^ as a regex.
        start = "^" if engine == "librdkafka" else ""
        file.write_text("".join(f"{start}{pattern}\n" for pattern in patterns))
        compared = ["--from", engine] if engine else []
        options = ["--file", str(file), "--topics", str(topics), *compared, "--output", "json"]
        yield " ".join(["validate-regex", *compared]), ["validate-regex", *options]


def large_group(protocol: str, members: int = MEMBERS, partitions: int = PARTITIONS) -> Snapshot:
    """A settled group, with `partitions` partitions of each topic, evenly assigned."""
    random = Random(7)
    topics = [
        Topic(name=f"topic-{number}", partitions=partitions, id=UUID(int=random.getrandbits(128)))
        for number in range(TOPICS)
    ]
    kind = GroupType.CONSUMER if protocol == "uniform" else GroupType.CLASSIC
    group = Group(
        id="large",
        type=kind,
        state=GroupState.STABLE,
        protocol_type="consumer",
        protocol=protocol,
        generation=7 if kind is GroupType.CLASSIC else None,
        group_epoch=7 if kind is GroupType.CONSUMER else None,
        assignment_epoch=7 if kind is GroupType.CONSUMER else None,
        members=tuple(_member(number, members, kind, protocol, topics, random) for number in range(members)),
    )
    cluster = Cluster(id="bench", kafka="4.3.1", features={"group.version": 1})
    return Snapshot(cluster=cluster, topics={t.name: t for t in topics}, groups={group.id: group})


def _member(
    number: int, of: int, kind: GroupType, protocol: str, topics: Sequence[Topic], random: Random
) -> Member:
    owned = {
        topic.name: tuple(range(number * topic.partitions // of, (number + 1) * topic.partitions // of))
        for topic in topics
    }
    client = f"service-{number:03}"
    return Member(
        id=f"{client}-{UUID(int=random.getrandbits(128))}",
        client=Client(id=client, host=f"10.0.{number // 250}.{number % 250}"),
        protocol=MemberProtocol(kind.value),
        protocols=(protocol,) if kind is GroupType.CLASSIC else None,
        subscription=Subscription(topics=tuple(topic.name for topic in topics)),
        owned=owned,
        target=owned if kind is GroupType.CONSUMER else None,
        epoch=7 if kind is GroupType.CONSUMER else None,
    )


def measure(what: str, command: Sequence[str]) -> None:
    """Print one line; a command that fails is an error."""
    wall, processor = [], []
    for turn in range(RUNS + 1):
        started, before = time.perf_counter(), _children_s()
        done = subprocess.run(command, capture_output=True, check=False)
        if turn:
            wall.append(time.perf_counter() - started)
            processor.append(_children_s() - before)
        if done.returncode not in (0, 1) or not done.stdout:
            raise SystemExit(f"{what} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    seconds = statistics.median(wall)
    blocked = " (exit status 1)" if done.returncode else ""
    print(
        f"{what + blocked:<44} {seconds:>6.2f} s {statistics.median(processor):>6.2f} s "
        f"{BOUND_S:>4.0f} s {seconds / BOUND_S:>6.2f}",
        flush=True,
    )


def _children_s() -> float:
    """Processor time of all child processes that have exited."""
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    main()
