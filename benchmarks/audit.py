"""The duration of a fleet's audit: 20,000 groups on 40 clusters, two cores. `make bench-audit` runs it.

The snapshots are generated from a fixed seed: most groups have a few members, some a hundred and more; they have
every assignor, both protocols, static members, librdkafka and Java; one group in ten has a regex, and some files are
broken. Wall time is from the start of the audit to its tables on disk and its summary, without Spark's start;
processor time is less affected by other work on the machine.
"""

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from uuid import UUID

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
from pipeline.audit.run import AuditRun, Snapshots, audit
from pipeline.session import SessionSettings, session

GROUPS, CLUSTERS, TOPICS = 20_000, 40, 1_500
BOUND_S = 300.0
SIZES = ((0, 4), (1, 14), (2, 16), (3, 22), (4, 10), (6, 14), (10, 10), (20, 6), (50, 3), (120, 1))
"""Numbers of members, each with the percentage of groups that have it."""
PROTOCOLS = ("range", "range", "roundrobin", "sticky", "cooperative-sticky", "cooperative-sticky", "uniform")
LIBRARIES = (
    ("java", "4.3.1"),
    ("java", "3.7.0"),
    ("librdkafka", "2.15.0"),
    ("librdkafka", "2.6.1"),
    (None, None),
)
PATTERNS = ("team-{0}\\..*", "team-{0}\\.(orders|clicks)-[0-9]+", ".*\\.orders-.*", "team-{0}\\.(?!clicks).*")


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=GROUPS)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory(prefix="kohort-bench-") as directory:
        scratch = Path(directory)
        saved = make_fleet(scratch / "fleet", options.groups)
        print(
            f"{options.groups:,} groups, {CLUSTERS} clusters, {saved / 1e6:,.0f} MB of snapshots, {options.cores} cores"
        )
        settings = SessionSettings(
            master=f"local[{options.cores}]",
            conf={"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "4"},
        )
        before = time.perf_counter()
        with session(settings) as spark:
            started, busy = time.perf_counter(), _busy_s()
            run = audit(spark, [Snapshots(paths=(str(scratch / "fleet"),))], out=str(scratch / "out"))
            wall, busy = time.perf_counter() - started, _busy_s() - busy
        _print(run, wall, busy, started - before)


def _print(run: AuditRun, wall: float, busy: float, start: float) -> None:
    print(f"{'Spark starts':<28} {start:>8.1f} s")
    print(f"{'audit':<28} {wall:>8.1f} s   bound {BOUND_S:.0f} s, {wall / BOUND_S:.2f} of it")
    print(f"{'processor':<28} {busy:>8.1f} s")
    print(f"{'groups a second':<28} {run.groups / wall:>8.0f}")
    for destination, counts in run.verdicts.items():
        shown = ", ".join(f"{outcome} {count:,}" for outcome, count in sorted(counts.items()))
        print(f"{'to ' + destination:<28} {shown}")
    print(f"{'regexes that lose topics':<28} {run.regexes_lost:>8,}")
    print(f"{'quarantined':<28} {run.quarantined_total:>8,}")


def make_fleet(directory: Path, groups: int) -> int:
    """Write the snapshots; returns their size in bytes."""
    directory.mkdir()
    for number in range(CLUSTERS):
        write_snapshot(_cluster(number, groups // CLUSTERS), directory / f"cluster-{number:02}.yaml")
    (directory / "broken.yaml").write_text("kohort: 1\ngroups:\n  g: {members: [{id: a}, {id: a}]}\n")
    (directory / "other.json").write_text('{"apps": []}')
    return sum(file.stat().st_size for file in directory.iterdir())


def _cluster(number: int, groups: int) -> Snapshot:
    random = Random(number)
    topics = [
        Topic(
            name=f"team-{index % 50}.{random.choice(('orders', 'clicks', 'users'))}-{index}",
            partitions=random.choice((6, 12, 12, 24, 48)),
            id=UUID(int=random.getrandbits(128)),
        )
        for index in range(TOPICS)
    ]
    cluster = Cluster(id=f"cluster-{number}", kafka="4.3.1", features={"group.version": 1})
    made = [_group(f"service-{index:04}", topics, random) for index in range(groups)]
    return Snapshot(
        cluster=cluster,
        topics={topic.name: topic for topic in topics},
        groups={group.id: group for group in made},
    )


def _group(name: str, topics: Sequence[Topic], random: Random) -> Group:
    size = random.choices([size for size, _ in SIZES], [weight for _, weight in SIZES])[0]
    protocol = random.choice(PROTOCOLS)
    is_new = protocol == "uniform"
    kind = GroupType.CONSUMER if is_new else GroupType.CLASSIC
    library, version = random.choice(LIBRARIES)
    chosen = random.sample(topics, random.choice((1, 1, 2, 3, 5)))
    pattern = random.choice(PATTERNS).format(random.randrange(50)) if random.random() < 0.1 else None
    static = random.random() < 0.15
    members = []
    for index in range(size):
        owned = {
            topic.name: numbers
            for topic in chosen
            if (
                numbers := tuple(
                    range(index * topic.partitions // size, (index + 1) * topic.partitions // size)
                )
            )
        }
        members.append(
            Member(
                id=f"{name}-{index}-{UUID(int=random.getrandbits(128))}",
                instance=f"{name}-{index}" if static else None,
                client=Client(
                    id=f"{name}-{index}",
                    host=f"/10.0.{index // 250}.{index % 250}",
                    library=library,
                    version=version,
                ),
                protocol=MemberProtocol(kind.value),
                protocols=None if is_new else (protocol,),
                subscription=Subscription(topics=tuple(topic.name for topic in chosen), regex=pattern),
                owned=owned,
                target=owned if is_new else None,
                epoch=7 if is_new else None,
            )
        )
    return Group(
        id=name,
        type=kind,
        state=GroupState.STABLE if size else GroupState.EMPTY,
        protocol_type="consumer",
        protocol=protocol if size else None,
        generation=None if is_new else random.randrange(1, 400),
        group_epoch=7 if is_new else None,
        assignment_epoch=7 if is_new else None,
        members=tuple(members),
    )


def _busy_s() -> float:
    """Processor time of this process and all its descendants, exited ones included, such as the JVM and its workers."""
    ticks = os.sysconf("SC_CLK_TCK")
    times: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            times[int(entry.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    mine, found = {os.getpid()}, True
    while found:
        below = {pid for pid, (parent, _) in times.items() if parent in mine and pid not in mine}
        mine |= below
        found = bool(below)
    return sum(used for pid, (_, used) in times.items() if pid in mine) / ticks


if __name__ == "__main__":
    main()
