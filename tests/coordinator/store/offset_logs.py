"""Log directories with a few committed offsets, for tests that read them."""

from collections.abc import Mapping
from pathlib import Path

from coordinator.engine.records import OffsetRecord, StoredOffset
from coordinator.store.loader import LoadedLog
from coordinator.store.records import encode_record
from wire.log.batch_writer import encode_batch

TOPIC = "orders"


def committed(group: str, offset: int | None, partition: int = 0) -> tuple[bytes, bytes | None]:
    """Key and value of a commit; None is a tombstone."""
    value = None
    if offset is not None:
        value = StoredOffset(offset=offset, leader_epoch=-1, metadata="", commit_ms=0)
    return encode_record(OffsetRecord(group=group, topic=TOPIC, partition=partition, value=value))


def commit_batch(
    base_offset: int, offsets: Mapping[str, int | None], *, at_ms: int = 0, epoch: int = 0
) -> bytes:
    records = [committed(group, offset) for group, offset in offsets.items()]
    return encode_batch(records, base_offset=base_offset, timestamp=at_ms, leader_epoch=epoch)


def partition_directory(log_directory: Path, number: int, *batches: bytes, segment: int = 0) -> Path:
    """A partition of `__consumer_offsets`, with a segment; returns the segment's file."""
    directory = log_directory / f"__consumer_offsets-{number}"
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / f"{segment:020d}.log"
    file.write_bytes(b"".join(batches))
    return file


def offsets(loaded: LoadedLog) -> dict[str, int]:
    return {group: by_partition[TOPIC, 0].offset for group, by_partition in loaded.state.offsets.items()}
