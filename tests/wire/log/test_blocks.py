"""Files read in blocks: the same batches and the same faults as in the file read at once, in any parts."""

from random import Random

import pytest

from tests.wire.log.memory_file import MemoryFile, places
from tests.wire.log.random_batches import made_log
from wire.log import blocks
from wire.log.batch_writer import encode_batch
from wire.log.blocks import blocks_of
from wire.log.salvage import parts_of

BLOCK = 700  # bytes, less than many a batch of these tests has


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", BLOCK)


def log(seed: int, count: int = 60) -> bytes:
    return b"".join(made.encoded for made in made_log(Random(seed), count))


def whole(data: bytes) -> tuple[list[int], list[int]]:
    positions, faults = [], []
    for part in parts_of(data, "f"):
        positions += part.batches.positions.tolist()
        if part.fault is not None:
            faults.append(part.fault.position)
    return positions, faults


def read(data: bytes, start: int = 0, end: int | None = None) -> tuple[list[int], list[tuple[int, str]]]:
    file = MemoryFile(data)
    return places(blocks_of(file, "f", start=start, end=len(data) if end is None else end, size=len(data)))


@pytest.mark.parametrize("seed", range(5))
def test_all_batches_of_a_log(seed: int) -> None:
    data = log(seed)
    assert read(data) == (whole(data)[0], [])


@pytest.mark.parametrize("seed", range(40))
def test_damaged_logs_are_read_as_far_as_they_are_whole(seed: int) -> None:
    draw = Random(seed)
    data = bytearray(log(seed, 40))
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(data))
        data[at : at + draw.randrange(1, 200)] = draw.choice([b"", bytes(20), draw.randbytes(30)])
    del data[draw.choice([len(data), draw.randrange(len(data))]) :]
    batches, faults = whole(bytes(data))
    positions, damage = read(bytes(data))
    assert positions == batches
    assert [position for position, _ in damage] == faults


@pytest.mark.parametrize("seed", range(5))
def test_parts_of_a_file_make_the_file(seed: int) -> None:
    data = log(seed)
    batches, _ = whole(data)
    cut = sorted(Random(seed).sample(batches[1:], 5))
    parts = [read(data, start, end)[0] for start, end in zip([0, *cut], [*cut, len(data)], strict=True)]
    assert [position for part in parts for position in part] == batches
    assert all(parts)


def test_the_size_of_one_read_is_bounded() -> None:
    data = log(3, 400)
    file = MemoryFile(data)
    places(blocks_of(file, "f", start=0, end=len(data), size=len(data)))
    longest = max(made.batch.size or len(made.encoded) for made in made_log(Random(3), 400))
    assert file.most <= max(BLOCK, longest)


def test_a_batch_with_a_huge_length_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_BATCH_BYTES", 4 * BLOCK)
    good = encode_batch([(b"k", b"v")], base_offset=0, timestamp=1)
    huge = bytearray(encode_batch([(b"k", bytes(9 * BLOCK))], base_offset=1, timestamp=1))
    behind = encode_batch([(b"k", b"v")], base_offset=2, timestamp=1)
    data = good + huge + behind
    positions, damage = read(bytes(data))
    assert positions == [0, len(good) + len(huge)]
    assert [position for position, _ in damage] == [len(good)]


def test_reserved_space_is_named_once() -> None:
    data = log(1, 5)
    assert read(data + bytes(5000)) == (whole(data)[0], [(len(data), "5000 bytes of zeros, reserved space")])


def test_offsets_below_those_before_are_no_part_of_the_log() -> None:
    # Blocks are found apart; that they follow one another is checked across them.
    first = encode_batch([(b"k", bytes(2 * BLOCK))], base_offset=10, timestamp=1)
    again = encode_batch([(b"k", bytes(2 * BLOCK))], base_offset=10, timestamp=1)
    last = encode_batch([(b"k", bytes(2 * BLOCK))], base_offset=11, timestamp=1)
    positions, damage = read(first + again + last)
    assert positions == [0, len(first) + len(again)]
    assert damage == [(len(first), "the base offset 10 is below the next expected one, 11")]


def test_offsets_that_the_name_does_not_allow() -> None:
    low = encode_batch([(b"k", b"v")], base_offset=4, timestamp=1)
    good = encode_batch([(b"k", b"v")], base_offset=5, timestamp=1)
    high = encode_batch([(b"k", b"v")], base_offset=5 + (1 << 31), timestamp=1)
    data = low + good + high
    positions, damage = places(
        blocks_of(MemoryFile(data), "f", start=0, end=len(data), size=len(data), base_offset=5)
    )
    assert positions == [len(low)]
    assert [position for position, _ in damage] == [0, len(low) + len(good)]


def test_the_next_batch_is_found_however_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_SEARCH_BYTES", 8 * 1024)
    good = encode_batch([(b"k", b"v")], base_offset=0, timestamp=1)
    behind = encode_batch([(b"k", bytes(3000))], base_offset=1, timestamp=1)
    for size in range(30_000, 38_000, 500):
        damaged = Random(size).randbytes(size)
        positions, damage = read(good + damaged + behind)
        assert positions == [0, len(good) + size]
        assert [position for position, _ in damage] == [len(good)]
