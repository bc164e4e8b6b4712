"""The logs of the conformance table, compacted in whatever way, replay to the same state."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from random import Random

from coordinator.engine.records import Record
from coordinator.store.records import OtherRecord, decode_record
from tests.conformance.play import Server
from tests.conformance.script import load, scripts
from tests.conformance.servers import kohort_process
from tests.conformance.table import play_all
from tests.coordinator.simulation.test_compacted_log import faults_of_all, faults_of_some
from tests.kafka.ports import HOST
from tests.support.long import LONG
from wire.log.log_records import records_of
from wire.log.segments import read_log

FEW_BATCHES = 7  # of a log of which every compaction is tried


@LONG
def test_a_compacted_log_of_the_table_replays_to_the_same_state(tmp_path: Path) -> None:
    _play(tmp_path)
    random, tried = Random(1), 0
    for data in sorted(tmp_path.glob("*/__consumer_offsets-*")):
        for log, ends in _logs(data).values():
            few = len(ends) <= FEW_BATCHES
            assert (faults_of_all(log, ends) if few else faults_of_some(log, ends, random)) == []
            tried += 1
    assert tried > 300


def _play(scratch: Path) -> None:
    """Each profile's scripts to a `kohort serve` that writes its log into the directory of its name."""
    profiles: Mapping[str, Mapping[str, str]] = load("profiles.yaml")
    with ExitStack() as stack:
        servers = {}
        for name, settings in profiles.items():
            process = kohort_process(scratch / f"{name}.log", settings, "--data", str(scratch / name))
            port, _ = stack.enter_context(process)
            servers[name] = Server(name="Kohort", host=HOST, port=port)
        asyncio.run(_play_side_by_side(servers))


async def _play_side_by_side(servers: Mapping[str, Server]) -> None:
    every = scripts()
    await asyncio.gather(
        *(play_all([case for case in every if case.profile == name], one) for name, one in servers.items())
    )


def _logs(partition: Path) -> Mapping[str, tuple[list[Record], list[int]]]:
    """By group, its records and where batches end: compaction of others changes nothing of it."""
    logs: dict[str, tuple[list[Record], list[int]]] = {}
    for batch in _batches(partition):
        for record in batch:
            logs.setdefault(record.group, ([], [0]))[0].append(record)
        for group in dict.fromkeys(record.group for record in batch):
            log, ends = logs[group]
            ends.append(len(log))
    return logs


def _batches(partition: Path) -> Iterator[list[Record]]:
    for segment in read_log(partition):
        for batch in segment.batches:
            records = [decode_record(one.key or b"", one.value) for one in records_of(batch, segment.data)]
            yield [record for record in records if not isinstance(record, OtherRecord)]
