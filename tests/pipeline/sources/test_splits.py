"""Where segments are cut: at batches, whatever their bytes look like."""

from pathlib import Path
from random import Random

import pytest

from pipeline.sources.splits import Split, cuts, last_place, packed
from tests.wire.log.memory_file import MemoryFile
from wire.log.batch_scan import scan
from wire.log.batch_writer import encode_batch
from wire.log.indexes import write_indexes
from wire.log.segments import read_segment, segment_name

SPLIT = 20_000


def batches(count: int, seed: int = 7) -> bytes:
    """Batches of up to 3,000 bytes."""
    draw = Random(seed)
    return b"".join(
        encode_batch(
            [(b"key", draw.randbytes(draw.randrange(1, 3000)))], base_offset=number, timestamp=number
        )
        for number in range(count)
    )


def index_of(data: bytes, tmp_path: Path) -> bytes:
    path = tmp_path / segment_name(0)
    path.write_bytes(data)
    write_indexes(read_segment(path))
    return path.with_suffix(".index").read_bytes()


def positions(data: bytes) -> list[int]:
    starts: list[int] = scan(data, "f").batches.positions.tolist()
    return starts


def expected(data: bytes) -> list[int]:
    """At each multiple the first batch from there on."""
    return [
        next(start for start in positions(data) if start >= target)
        for target in range(SPLIT, len(data) - SPLIT // 2, SPLIT)
    ]


def test_without_an_index_the_headers_are_walked() -> None:
    data = batches(200)
    assert cuts(MemoryFile(data), len(data), b"", 0, SPLIT) == expected(data)


def test_by_the_index_nothing_else_is_read(tmp_path: Path) -> None:
    data = batches(200)
    file = MemoryFile(data)
    splits = cuts(file, len(data), index_of(data, tmp_path), 0, SPLIT)
    assert set(splits) <= set(positions(data))
    assert len(splits) == len(expected(data))
    assert all(0 <= cut - target < SPLIT // 2 for cut, target in zip(splits, expected(data), strict=True))
    assert file.most < 4000


def test_an_index_with_reserved_space_after_its_entries(tmp_path: Path) -> None:
    data = batches(200)
    index = index_of(data, tmp_path)
    assert cuts(MemoryFile(data), len(data), index + bytes(8000), 0, SPLIT) == cuts(
        MemoryFile(data), len(data), index, 0, SPLIT
    )


@pytest.mark.parametrize("seed", range(10))
def test_an_index_that_is_wrong_cuts_nothing_in_two(seed: int, tmp_path: Path) -> None:
    data = batches(200)
    index = bytearray(index_of(data, tmp_path))
    draw = Random(seed)
    for _ in range(draw.choice([3, 30, 300])):
        index[draw.randrange(len(index))] = draw.randrange(256)
    splits = cuts(MemoryFile(data), len(data), bytes(index[: draw.choice([len(index), 100, 3])]), 0, SPLIT)
    assert set(splits) <= set(positions(data))
    assert len(splits) == len(expected(data))


def test_bytes_that_look_like_batches_are_never_cut_at() -> None:
    # A client's data is in a record: batches with right checksums, on the offsets that are due.
    decoy = b"".join(
        encode_batch([(b"k", b"v" * 50)], base_offset=100 + number, timestamp=1) for number in range(300)
    )
    data = batches(40) + encode_batch([(b"key", decoy)], base_offset=40, timestamp=1)
    data += encode_batch([(b"k", bytes(2 * SPLIT))], base_offset=1000, timestamp=1)
    data += encode_batch([(b"k", bytes(2 * SPLIT))], base_offset=1001, timestamp=1)
    splits = cuts(MemoryFile(data), len(data), b"", 0, SPLIT)
    assert splits
    assert set(splits) <= set(positions(data))


def test_there_is_no_split_after_damage() -> None:
    data = bytearray(batches(200))
    broken = positions(bytes(data))[100]
    data[broken + 8 : broken + 17] = b"\xff" * 9
    splits = cuts(MemoryFile(bytes(data)), len(data), b"", 0, SPLIT)
    assert splits == [cut for cut in expected(batches(200)) if cut <= broken]


def test_the_last_place_of_an_index(tmp_path: Path) -> None:
    data = batches(50)
    index = index_of(data, tmp_path)
    position = last_place(MemoryFile(data), len(data), index, 0)
    assert position in positions(data)[-4:]
    assert last_place(MemoryFile(data), len(data), b"", 0) == 0
    assert last_place(MemoryFile(data[:100]), 100, index, 0) == 0


def test_small_segments_share_a_task_and_large_ones_do_not() -> None:
    sizes = [10, 20, 60, 100, 150, 5, 5]
    splits = [Split(segment=number, start=0, end=size) for number, size in enumerate(sizes)]
    tasks = packed(splits, 100)
    assert [[split.size for split in task] for task in tasks] == [[10, 20, 60], [100], [150], [5, 5]]
