"""Our assignors compared with Java's, on the same groups in the same run: `python -m benchmarks.assignors`.

Java's time is for `assign` in a warm JVM; ours is for `assign(dense)`, which also builds the Assignment. Both are
medians of five runs after three warm-ups: wall-clock time and, in brackets, CPU time of the calling thread. The
conversion of names to integers (`DenseGroup.of`) is listed separately, as Java's inputs are prepared too. `same`:
whether the assignments are identical. Peak memory is the allocation of `assign` in addition to its input, by
tracemalloc.
"""

import argparse
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from uuid import UUID

from assignors.assignor import Assignor, Leader, Side
from assignors.model import DenseGroup, GroupSpec, MemberSpec, TopicSpec
from assignors.registry import BUILT_IN
from tests.assignors.cases import claim_as
from tests.kafka.jars import fetch
from tests.kafka.oracle import Oracle, running

WARM_UPS, RUNS = 3, 5
BLOCKS = 5

ENDLESS = 1000
"""In a larger group of blocks, Java's sticky assignors take minutes: not measured."""

CLIENT_LIMITS = {"range": 0.25, "roundrobin": 0.25}
"""Assignors that ignore owned partitions: only the fresh case is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of a group."""

    topics: int
    partitions: int
    members: int


def group(size: Size, kind: str) -> GroupSpec:
    """A group without owners. Kinds: equal, one differs (one member lacks a topic), five blocks."""
    random = Random(7)
    topics = tuple(
        TopicSpec(name=f"topic-{i}", partitions=size.partitions, id=UUID(int=random.getrandbits(128)))
        for i in range(size.topics)
    )
    names = tuple(topic.name for topic in topics)
    members = []
    for i in range(size.members):
        mine = names
        if kind == "one differs" and i == 0:
            mine = names[:-1]
        elif kind == "five blocks":
            block = i % BLOCKS
            mine = names[block * size.topics // BLOCKS : (block + 1) * size.topics // BLOCKS]
        members.append(MemberSpec(id=f"consumer-{i}-{UUID(int=random.getrandbits(128))}", topics=mine))
    return GroupSpec(topics=topics, members=tuple(members))


def one_left(spec: GroupSpec, assignor: Assignor) -> GroupSpec:
    """The group after the fresh assignment, without its last member."""
    named = assignor.assign(DenseGroup.of(spec)).assignment.named()
    members = tuple(
        claim_as(assignor.name, assignor.side.value, member, named[member.id], 1)
        for member in spec.members[:-1]
    )
    return replace(spec, members=members)


def cases(size: Size, wanted: Sequence[str]) -> Iterator[tuple[str, Assignor, GroupSpec]]:
    """The measured cases for the assignors in `wanted` (each as `side-name`), or for all if it is empty."""
    for assignor in BUILT_IN:
        name = f"{assignor.side.value}-{assignor.name}"
        if assignor.leader is Leader.LIBRDKAFKA or (wanted and name not in wanted):
            continue
        for kind in ("equal", "one differs", "five blocks"):
            if kind == "five blocks" and "sticky" in name and size.members > ENDLESS:
                continue
            fresh = group(size, kind)
            yield f"{name}, {kind}", assignor, fresh
            if assignor.side is Side.BROKER or assignor.name not in CLIENT_LIMITS:
                yield f"{name}, {kind}, one left", assignor, one_left(fresh, assignor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    case: str
    java_ms: float
    java_cpu_ms: float
    ours_ms: float
    ours_cpu_ms: float
    dense_ms: float
    peak_mb: float
    identical: bool


def measure(oracle: Oracle, case: str, assignor: Assignor, spec: GroupSpec) -> Row:
    """Measure both assignors, Java's first."""
    theirs = oracle.time(assignor.side.value, assignor.name, spec, WARM_UPS + RUNS)
    dense = DenseGroup.of(spec)
    ours_ms, ours_cpu_ms = _median_ms(lambda: assignor.assign(dense), WARM_UPS)
    named = assignor.assign(dense).assignment.named()
    same = named == oracle.assign(assignor.side.value, assignor.name, spec)
    tracemalloc.start()
    assignor.assign(dense)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Row(
        case=case,
        java_ms=statistics.median(theirs.wall_ms[WARM_UPS:]),
        java_cpu_ms=statistics.median(theirs.cpu_ms[WARM_UPS:]),
        ours_ms=ours_ms,
        ours_cpu_ms=ours_cpu_ms,
        dense_ms=_median_ms(lambda: DenseGroup.of(spec), 0)[0],
        peak_mb=peak / 1e6,
        identical=same,
    )


def _median_ms(work: Callable[[], object], warm_ups: int) -> tuple[float, float]:
    """Medians of wall-clock and CPU time."""
    for _ in range(warm_ups):
        work()
    wall, cpu = [], []
    for _ in range(RUNS):
        start, cpu_start = time.perf_counter(), time.process_time()
        work()
        wall.append((time.perf_counter() - start) * 1e3)
        cpu.append((time.process_time() - cpu_start) * 1e3)
    return statistics.median(wall), statistics.median(cpu)


def main() -> None:
    """Print the table line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignors", nargs="*", help="such as broker-uniform; all unless given")
    parser.add_argument("--topics", type=int, default=500)
    parser.add_argument("--partitions", type=int, default=2000, help="of each topic")
    parser.add_argument("--members", type=int, default=2000)
    options = parser.parse_args()
    size = Size(topics=options.topics, partitions=options.partitions, members=options.members)
    print(
        f"{'case':<50}{'Java ms':>8}{'(CPU)':>8}{'ours ms':>8}{'(CPU)':>8}{'ratio':>7}{'dense':>7}"
        f"{'peak MB':>8} same"
    )
    # The inputs of a million partitions are large: Java gets a broker's collector, and enough memory.
    with running(fetch(), heap_mb=4096, options=("-XX:-UseSerialGC", "-XX:+UseG1GC")) as oracle:
        for case, assignor, spec in cases(size, options.assignors):
            print(_line(measure(oracle, case, assignor, spec)), flush=True)


def _line(row: Row) -> str:
    return (
        f"{row.case:<50}{row.java_ms:>8.0f}{f'({row.java_cpu_ms:.0f})':>8}"
        f"{row.ours_ms:>8.0f}{f'({row.ours_cpu_ms:.0f})':>8}{row.ours_ms / row.java_ms:>7.2f}"
        f"{row.dense_ms:>7.0f}{row.peak_mb:>8.0f} {'yes' if row.identical else 'NO'}"
    )


if __name__ == "__main__":
    main()
