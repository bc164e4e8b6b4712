"""Reading the past of groups, as `kohort why` does: `python -m benchmarks.histories [DIRECTORY]`.

A partition of `__consumer_offsets` with 10,000,000 records of 2,000 groups, in segments of 100 MiB, as a broker without
a log cleaner has it; and the same records one to a batch. Whole processes on one core: one group, and a span in which
nothing happened. Then a real broker serves the partition: a history of one group from its start to its end, compared
with fetching the same bytes with the same client and dropping them, in answers of the size that consumers ask for, and
in as large ones. Medians of the rounds, in which all three alternate.

The data are kept in DIRECTORY, if given, for the next run.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from benchmarks.offsets_log import FIRST_MS, OFFSETS_TOPIC, ROUND_MS, name_of, write_partition
from benchmarks.timing import Times, side_by_side
from cli.sources.history.live import read_live_history
from cli.sources.wire_source import WireSource
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.jars import fetch as fetch_jars
from wire.client.connection import Connection
from wire.client.log_searches import MOST_BYTES, fetch
from wire.client.metadata import TopicPartition
from wire.client.offsets import EARLIEST, LATEST, offsets_at
from wire.client.security import ConnectionSettings
from wire.client.steps import Deadline, Replies
from wire.log.batch_header import HEADER_BYTES, LOG_OVERHEAD, batch_at

if TYPE_CHECKING:
    from wire.messages.schemas.log_records import FetchResponseResponsePartition

GROUPS = 2_000
ROUNDS = 250
SEGMENT_BYTES = 100 << 20
TOPIC_ID = UUID(int=99)
GROUP = name_of(0, 2)
RUNS = 5
PLACE: TopicPartition = (OFFSETS_TOPIC, 0)
CONSUMER_BYTES = 1 << 20  # the default of max.partition.fetch.bytes


def main() -> None:
    """Print one table."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch)
        large, single, small = (directory / name for name in ("large", "single", "small"))
        if not large.exists():
            write_partition(large, 0, TOPIC_ID, groups=GROUPS, rounds=ROUNDS, segment_bytes=SEGMENT_BYTES)
            write_partition(
                single, 0, TOPIC_ID, groups=GROUPS, rounds=ROUNDS, segment_bytes=SEGMENT_BYTES, batch=1
            )
            write_partition(small, 0, TOPIC_ID, groups=20, rounds=120)
        kohort = str(Path(sys.executable).with_name("kohort"))
        print(f"{'what':<60} {'wall s':>8} {'CPU s':>8} {'MiB':>6} {'bound':>8}")
        for what, place, since_ms, bound in (
            ("24 hours of one group, batches of 20 records", large, FIRST_MS, "20 s"),
            ("the same, batches of one record", single, FIRST_MS, "20 s"),
            ("a span in which nothing happened", small, FIRST_MS + 119 * ROUND_MS - 1, "0.5 s"),
        ):
            command = [kohort, "why", GROUP, "--log-dir", str(place), "--since", str(since_ms)]
            (times,) = side_by_side([command], runs=RUNS)
            _row(what, times, bound)
        os.sched_setaffinity(0, cores)
        _live(Path(scratch) / "broker", large)


def _row(what: str, times: Times, bound: str) -> None:
    print(f"{what:<60} {times.median_s:>8.2f} {times.median_cpu_s:>8.2f} {times.peak_mib:>6.0f} {bound:>8}")


def _live(directory: Path, log: Path) -> None:
    settings = {"offsets.topic.num.partitions": "1", "log.cleaner.enable": "false"}
    broker = Broker(fetch_jars(), directory, settings)
    broker.start()
    wait_for_coordinator(broker)
    broker.stop()
    place = broker.data / f"{OFFSETS_TOPIC}-0"
    for file in (*place.glob("0*"), place / "leader-epoch-checkpoint"):
        file.unlink()
    shutil.copytree(log / place.name, place, dirs_exist_ok=True)
    broker.start()
    try:
        this = [sys.executable, "-m", "benchmarks.histories"]
        fetched, same, read = side_by_side(
            [
                [*this, "fetch", broker.bootstrap, str(CONSUMER_BYTES)],
                [*this, "fetch", broker.bootstrap, str(MOST_BYTES)],
                [*this, "read", broker.bootstrap],
            ],
            runs=RUNS,
        )
    finally:
        broker.stop()
    _row("live: the history of one group from that partition", read, "")
    for what, times in (("1 MiB at a time, as consumers do", fetched), ("as much at a time", same)):
        _row(f"fetching the same bytes, {what}", times, "")
        ratios = read.median_s / times.median_s, read.median_cpu_s / times.median_cpu_s
        print(f"{'ratio':<60} {ratios[0]:>8.2f} {ratios[1]:>8.2f} {'':>6} {'1.2':>8}")


def _fetch(source: WireSource, most_bytes: int) -> None:
    """Fetch every byte of the partition, and look at the headers of batches only, for the next offset."""
    metadata = source.client.metadata([OFFSETS_TOPIC])
    ((position, end),) = offsets_at(source.client, [PLACE], [EARLIEST, LATEST]).found.values()

    def ask(
        leader: Connection, _: Collection[TopicPartition], deadline: Deadline
    ) -> Replies[TopicPartition, FetchResponseResponsePartition]:
        return (yield from fetch(leader, {PLACE: position}, most_bytes, deadline))

    while position < end:
        (answer,) = source.client.ask_leaders([PLACE], ask, known=metadata).found.values()
        data, at = answer.records or b"", 0
        while at + HEADER_BYTES <= len(data):
            size = int.from_bytes(data[at + 8 : at + LOG_OVERHEAD]) + LOG_OVERHEAD
            if at + size > len(data):
                break
            last, at = at, at + size
        position = batch_at(data, last).next_offset


if __name__ == "__main__":
    if sys.argv[1:2] in (["fetch"], ["read"]):
        cluster = WireSource(ConnectionSettings(bootstrap_servers=(sys.argv[2],)))
        if sys.argv[1] == "fetch":
            _fetch(cluster, int(sys.argv[3]))
        else:
            assert GROUP in read_live_history(cluster, [GROUP], since_ms=0).courses
    else:
        main()
