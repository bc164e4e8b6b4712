"""Data directories for tests: records to write, and the content that is read again."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from coordinator.engine.engine import Engine
from coordinator.engine.records import OffsetRecord, StoredOffset
from coordinator.store.cleaner import CompactionSettings
from coordinator.store.data_directory import DataDirectory, RecoveredContent, StorageSettings
from coordinator.store.disk import FsyncPolicy
from coordinator.store.log import SegmentLimits

SMALL = StorageSettings(
    fsync=FsyncPolicy.INTERVAL,
    partitions=3,
    limits=SegmentLimits(segment_bytes=2_000),
    compaction=CompactionSettings(segment_bytes=2_000),
)
"""Few partitions, small segments, and no waits for the disk."""
TOPIC = "orders"


def committed(group: str, partition: int, offset: int | None, metadata: str = "") -> OffsetRecord:
    value = StoredOffset(offset=offset or 0, leader_epoch=-1, metadata=metadata, commit_ms=1)
    return OffsetRecord(
        group=group, topic=TOPIC, partition=partition, value=None if offset is None else value
    )


def committed_offsets(engine: Engine) -> dict[tuple[str, int], int]:
    return {
        (group, partition): value.offset
        for group, offsets in engine.state.offsets.items()
        for (_, partition), value in offsets.items()
    }


def start(
    path: Path, settings: StorageSettings = SMALL, **changes: Any
) -> tuple[DataDirectory, Engine, RecoveredContent]:
    data = DataDirectory.open(path, replace(settings, **changes))
    engine = Engine()
    try:
        return data, engine, data.recover(engine)
    except BaseException:
        data.abandon()
        raise


@contextmanager
def opened(
    path: Path, settings: StorageSettings = SMALL, **changes: Any
) -> Iterator[tuple[DataDirectory, Engine, RecoveredContent]]:
    data, engine, recovered = start(path, settings, **changes)
    try:
        yield data, engine, recovered
    except BaseException:
        data.abandon()
        raise
    data.close()


def what_is_in(path: Path, settings: StorageSettings = SMALL) -> dict[tuple[str, int], int]:
    with opened(path, settings) as (_, engine, _):
        return committed_offsets(engine)
