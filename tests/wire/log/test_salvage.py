"""All whole batches of a damaged segment are found, and everything between them is named."""

import random
import struct

import pytest

from wire.log.batch_writer import encode_batch
from wire.log.errors import DamagedLog
from wire.log.salvage import MOST_FAULTS, parts_of, readable_columns

FILE = "00000000000000000000.log"


def _batch(offset: int, size: int = 3) -> bytes:
    records = [(f"key-{offset + number}".encode(), b"value" * 5) for number in range(size)]
    return encode_batch(records, base_offset=offset, timestamp=1000 + offset)


def _log(count: int = 10) -> tuple[bytes, list[int]]:
    batches = [_batch(3 * number) for number in range(count)]
    positions = [0]
    for batch in batches:
        positions.append(positions[-1] + len(batch))
    return b"".join(batches), positions


def _starts(data: bytes) -> list[int]:
    return [start for part in parts_of(data, FILE) for start in part.batches.positions.tolist()]


def _faults(data: bytes) -> list[tuple[int, bool]]:
    return [(part.fault.position, part.torn) for part in parts_of(data, FILE) if part.fault is not None]


@pytest.mark.parametrize("cut", [0, 1, 20, 60, 80])
def test_a_cut_off_end_is_torn(cut: int) -> None:
    data, positions = _log()
    assert _starts(data[: len(data) - cut]) == (positions[:-2] if cut else positions[:-1])
    assert _faults(data[: len(data) - cut]) == ([(positions[-2], True)] if cut else [])
    assert _faults(data + bytes(cut)) == ([(len(data), True)] if cut else [])


def test_after_flipped_bits_the_next_batch_is_found() -> None:
    data, positions = _log()
    broken = bytearray(data)
    for number in (2, 3, 7):
        broken[positions[number] + 70] ^= 1
    assert _starts(bytes(broken)) == [p for n, p in enumerate(positions[:-1]) if n not in (2, 3, 7)]
    assert _faults(bytes(broken)) == [(positions[2], False), (positions[7], False)]


def test_after_missing_bytes_the_next_batch_is_found() -> None:
    data, positions = _log()
    broken = data[: positions[4] + 30] + data[positions[4] + 47 :]
    assert _faults(broken) == [(positions[4], False)]
    assert _starts(broken) == [*positions[:4], *(p - 17 for p in positions[5:-1])]


def test_garbage_is_one_fault() -> None:
    garbage = random.Random(1).randbytes(3 << 20)
    assert (_starts(garbage), _faults(garbage)) == ([], [(0, False)])


def test_bytes_that_look_like_many_batches_are_bounded() -> None:
    # Every other byte a magic, every length as long as the file allows: each candidate would be summed up to the end.
    header = struct.pack(">qiibIhi", 0, 1 << 20, 0, 2, 0, 0, 0)
    hostile = (header + bytes(3)) * 40_000
    assert _starts(hostile) == []


def test_no_more_faults_than_bound() -> None:
    data = b"".join(_batch(3 * number) + b"?" for number in range(MOST_FAULTS + 50))
    assert len(_faults(data)) == MOST_FAULTS


def _with_bad_records(offset: int) -> bytes:
    """A batch whose checksum is right, and whose second record announces too many bytes."""
    from crc32c import crc32c

    batch = bytearray(_batch(offset))
    second = 61 + (batch[61] >> 1) + 1
    batch[second] = 0x7E
    batch[17:21] = struct.pack(">I", crc32c(bytes(batch[21:])))
    return bytes(batch)


def test_a_batch_of_bad_records_is_reported_and_skipped() -> None:
    batches = [_batch(0), _batch(3), _with_bad_records(6), _batch(9), _with_bad_records(12)]
    data = b"".join(batches)
    (part,) = parts_of(data, FILE)
    assert part.fault is None
    results = list(readable_columns(part.batches))
    damage = [item for item in results if isinstance(item, DamagedLog)]
    assert [fault.position for fault in damage] == [len(b"".join(batches[:2])), len(b"".join(batches[:4]))]
    offsets = [
        offset for item in results if not isinstance(item, DamagedLog) for offset in item.offsets.tolist()
    ]
    assert offsets == [0, 1, 2, 3, 4, 5, 9, 10, 11]


def test_flipped_bytes_lose_only_the_batch_they_are_in() -> None:
    data, positions = _log(20)
    chance = random.Random(7)
    for _ in range(300):
        broken = bytearray(data)
        at = chance.randrange(len(data))
        broken[at] ^= chance.randrange(1, 256)
        hit = max(number for number, start in enumerate(positions) if start <= at)
        # Flipped in its own offset or epoch, which no checksum covers, a batch stays one.
        kept = set(_starts(bytes(broken)))
        assert set(positions[:-1]) - kept <= {positions[hit], positions[min(hit + 1, 19)]}
