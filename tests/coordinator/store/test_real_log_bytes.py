"""A real broker's records of every kind of group, byte by byte: read as by Kafka's dump tool, written the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coordinator.store.records import decode_record, encode_record
from tests.coordinator.store.real_log import RealLog, segments_of
from tests.kafka.tool_host import DUMP_LOG, ToolHost
from wire.log.batch_header import Batch
from wire.log.batch_writer import rewrite_batch
from wire.log.compression import Codec
from wire.log.control_records import control_type
from wire.log.indexes import INDEX_SUFFIXES, aborted_transactions, write_indexes
from wire.log.log_records import LogRecord, records_of
from wire.log.segments import Segment, read_log, read_segment
from wire.messages.record_codec import RECORD_TYPES, decode_key

pytestmark = pytest.mark.kafka

LEGACY_OFFSET = 0  # the only type of key that no broker writes any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    segment: Segment
    batch: Batch
    record: LogRecord

    def __str__(self) -> str:
        return f"{self.segment.path}, offset {self.record.offset}"


@pytest.fixture(scope="module")
def segments(real_log: RealLog) -> list[Segment]:
    return [read_segment(path) for path in real_log.segments()]


@pytest.fixture(scope="module")
def written(segments: list[Segment]) -> list[Written]:
    return [
        Written(segment=segment, batch=batch, record=record)
        for segment in segments
        for batch in segment.batches
        for record in records_of(batch, segment.data)
    ]


@pytest.fixture(scope="module")
def group_records(written: list[Written]) -> list[tuple[bytes, bytes | None]]:
    return [(one.record.key or b"", one.record.value) for one in written if not one.batch.is_control]


def test_the_log_holds_every_type_of_record(group_records: list[tuple[bytes, bytes | None]]) -> None:
    types = {decode_key(key)[0] for key, _ in group_records}
    assert types == set(RECORD_TYPES) - {LEGACY_OFFSET}


def test_the_log_holds_what_else_brokers_write(written: list[Written], segments: list[Segment]) -> None:
    assert len(segments) > len({segment.path.parent for segment in segments})
    marks = {control_type(one.record).name for one in written if one.batch.is_control}
    assert marks == {"COMMIT", "ABORT"}
    assert any(one.batch.is_transactional and not one.batch.is_control for one in written)
    assert any(one.record.value is None for one in written)
    assert any(one.batch.count > 1 for one in written)


def test_batches_are_what_the_dump_tool_prints(tools: ToolHost, segments: list[Segment]) -> None:
    check_dump(tools, segments)


def test_the_cleaners_batches_are_what_the_dump_tool_prints(tools: ToolHost, compacted_log: Path) -> None:
    segments = [read_segment(path) for path in segments_of(compacted_log)]
    batches = [batch for segment in segments for batch in segment.batches]
    assert {batch.codec for batch in batches} == {Codec.NONE, Codec.SNAPPY}
    assert any(batch.delete_horizon_ms is not None for batch in batches)
    assert any(batch.count <= batch.last_offset_delta for batch in batches)
    check_dump(tools, segments)


def check_dump(tools: ToolHost, segments: list[Segment]) -> None:
    """Compare with the tool's line for each batch of a segment; test_real of `log dump` compares the records."""
    files = ",".join(str(segment.path) for segment in segments)
    done = tools.run(DUMP_LOG, "--offsets-decoder", "--files", files)
    assert done.returncode == 0, done.stderr
    dumped = dict(_by_file(done.stdout))
    assert set(dumped) == {segment.path for segment in segments}
    for segment in segments:
        assert list(_lines(segment)) == dumped[segment.path]


def _by_file(text: str) -> Iterator[tuple[Path, list[str]]]:
    for part in text.split("Dumping ")[1:]:
        file, *lines = part.splitlines()
        yield Path(file), [line for line in lines if line.startswith("baseOffset")]


def _lines(segment: Segment) -> Iterator[str]:
    for batch in segment.batches:
        # The only field that `Batch` does not have, as the checksum is verified when the batch is read.
        crc = int.from_bytes(segment.data[batch.position + 17 : batch.position + 21], "big")
        horizon = batch.delete_horizon_ms
        yield (
            f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} count: {batch.count} "
            f"baseSequence: {batch.base_sequence} lastSequence: {batch.last_sequence} "
            f"producerId: {batch.producer_id} producerEpoch: {batch.producer_epoch} "
            f"partitionLeaderEpoch: {batch.leader_epoch} isTransactional: {_java(batch.is_transactional)} "
            f"isControl: {_java(batch.is_control)} "
            f"deleteHorizonMs: OptionalLong{'.empty' if horizon is None else f'[{horizon}]'} "
            f"position: {batch.position} CreateTime: {batch.max_timestamp} size: {batch.size} magic: 2 "
            f"compresscodec: {batch.codec.name.lower()} crc: {crc} isvalid: true"
        )


def _java(flag: bool) -> str:
    return "true" if flag else "false"


def test_records_of_the_engine_encode_to_the_same_bytes(
    group_records: list[tuple[bytes, bytes | None]],
) -> None:
    for key, value in group_records:
        assert encode_record(decode_record(key, value)) == (key, value)


def test_batches_are_written_again_as_they_were(segments: list[Segment]) -> None:
    for segment in segments:
        for batch in segment.batches:
            written = segment.data[batch.position : batch.position + batch.size]
            assert rewrite_batch(batch, records_of(batch, segment.data)) == written


def test_index_files_are_written_as_they_were(real_log: RealLog, tmp_path: Path) -> None:
    compared = 0
    for directory in sorted({path.parent for path in real_log.segments()}):
        log = list(read_log(directory))
        copies = tmp_path / directory.name
        copies.mkdir()
        for segment, aborted in zip(log[:-1], aborted_transactions(s.batches for s in log), strict=False):
            copy = copies / segment.path.name
            copy.write_bytes(segment.data)
            write_indexes(read_segment(copy), aborted)
            for suffix in INDEX_SUFFIXES:
                theirs, ours = segment.path.with_suffix(suffix), copy.with_suffix(suffix)
                assert theirs.exists() == ours.exists(), theirs
                if theirs.exists():
                    assert theirs.read_bytes() == ours.read_bytes(), theirs
                    compared += 1
    assert compared > len(INDEX_SUFFIXES)
