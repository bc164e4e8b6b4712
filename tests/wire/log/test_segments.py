"""Which files are a log, where it ends, and what is damage and what the end of a write that was cut off."""

import os
import sys
from pathlib import Path
from random import Random
from time import monotonic
from types import FrameType

import pytest

from tests.coordinator.store.tampering import with_field
from wire.log import segments
from wire.log.batch_scan import scan
from wire.log.batch_writer import encode_batch
from wire.log.errors import DamagedLog
from wire.log.segments import list_segments, read_log, read_segment, segment_name

BATCHES = [encode_batch([(b"k", b"v" * 20)] * 2, base_offset=2 * i, timestamp=i) for i in range(4)]
WHOLE = b"".join(BATCHES)
LAST = len(WHOLE) - len(BATCHES[-1])


def test_a_ctrl_c_is_never_lost_meanwhile() -> None:
    calls = _scan_interrupted_at(0)
    assert calls > 10
    for number in range(1, calls + 1):
        with pytest.raises(KeyboardInterrupt):
            _scan_interrupted_at(number)


def _scan_interrupted_at(call: int) -> int:
    """Read batches, and be interrupted at this call of a function (0: at none); how many calls there were."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"
        if calls == call and event == "call":
            raise KeyboardInterrupt

    before = sys.gettrace()
    sys.settrace(count)
    try:
        scan(WHOLE, "name")
    finally:
        sys.settrace(before)
    return calls


def test_a_file_without_bytes_is_an_empty_segment(tmp_path: Path) -> None:
    segment = read_segment(_segment(tmp_path, 77, b""))
    assert (len(segment.batches), segment.torn, segment.base_offset, segment.next_offset) == (0, None, 77, 77)


def _one(offset: int) -> bytes:
    return encode_batch([(b"k", b"v")], base_offset=offset, timestamp=0)


def _changed(position: int, by: int) -> bytes:
    return WHOLE[:position] + bytes([WHOLE[position] ^ by]) + WHOLE[position + 1 :]


SIZE = len(BATCHES[-1])
ENDS: dict[str, tuple[int, list[bytes]]] = {
    "a write that was cut off anywhere": (3, [WHOLE[:end] for end in range(LAST + 1, len(WHOLE))]),
    # After the machine stopped: the length of the file was written, not all of its blocks.
    "a last batch with a byte of something else": (3, [_changed(LAST + at, 0xFF) for at in range(17, SIZE)]),
    "the begin of a last batch": (3, [WHOLE[: LAST + at] + bytes(SIZE - at) for at in range(1, SIZE - 1)]),
    "the end of a last batch": (3, [WHOLE[:LAST] + bytes(at) + WHOLE[LAST + at :] for at in range(61, SIZE)]),
    "less than a header": (4, [WHOLE + b"\xff" * size for size in range(1, 61)]),
    "reserved space behind the last batch": (4, [WHOLE + bytes(size) for size in (1, 11, 12, 61, 4096)]),
    "reserved space alone": (0, [bytes(100)]),
    "a cut-off write into it": (3, [WHOLE[: LAST + written] + bytes(500) for written in (1, 20, 60, 90)]),
}


@pytest.mark.parametrize(("batches", "contents"), ENDS.values(), ids=ENDS.keys())
def test_a_torn_tail(tmp_path: Path, batches: int, contents: list[bytes]) -> None:
    position = len(b"".join(BATCHES[:batches]))
    for content in contents:
        segment, tail = read_segment(_segment(tmp_path, 0, content)), content[position:]
        assert segment.torn is not None
        torn = (len(segment.batches), segment.torn.file, segment.torn.position, segment.torn.size)
        assert torn == (batches, str(segment.path), position, len(tail))
        assert segment.torn.zeros == (not any(tail))
        assert segment.torn.zeros == (segment.torn.reason == f"{len(tail)} bytes of zeros")


FIRST = len(BATCHES[0])
DAMAGE: dict[str, tuple[int, bytes, int, str]] = {
    **{
        # No write could have begun so: it was something once, and is not cut off.
        f"a tail of {field} {value}": (
            0, WHOLE[:LAST] + with_field(BATCHES[-1], field, value)[:-1], LAST, said,
        )
        for field, value, said in (
            ("magic", 1, "magic 1, where Kafka writes 2"),
            ("magic", 3, "magic 3, where Kafka writes 2"),
            ("base_offset", 5, "a broken batch at offset 5, where 6 or a later one is due"),
            ("base_offset", -1, "a broken batch at offset -1"),
        )
    },
    "a tail of anything": (0, WHOLE + Random(1).randbytes(61), len(WHOLE), "magic|a batch length of"),
    "whole batches behind it": (0, _changed(FIRST + 30, 1), FIRST, f"follow from byte {2 * FIRST} on"),
    **{
        f"{size} bytes missing": (0, BATCHES[0] + BATCHES[1][size:] + BATCHES[2], FIRST, "where Kafka writes 2")
        for size in (1, 7, 50, FIRST - 1)
    },
    "zeros, and a batch": (0, BATCHES[0] + bytes(200) + BATCHES[1], FIRST, "whole batches follow"),
    "a whole batch that lies": (
        0, BATCHES[0] + with_field(BATCHES[1], "last_offset_delta", -9), FIRST, "a last offset delta of -9",
    ),
    "below the file's name": (1, WHOLE, 0, "the offset 0 is below the one in the file's name"),
    "far above it": (0, WHOLE + _one(1 << 31), len(WHOLE), "too far above"),
}  # fmt: skip


@pytest.mark.parametrize(("base_offset", "content", "position", "said"), DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_is_reported(
    tmp_path: Path, base_offset: int, content: bytes, position: int, said: str
) -> None:
    with pytest.raises(DamagedLog, match=said) as error:
        read_segment(_segment(tmp_path, base_offset, content))
    assert error.value.position == position


def test_damage_before_the_end_is_no_torn_tail(tmp_path: Path) -> None:
    start = len(BATCHES[0])
    for position in range(start, start + len(BATCHES[1])):
        path = _segment(tmp_path, 0, _changed(position, 0x55))
        if position - start in range(12, 16):
            # The leader epoch: nothing says what it should be.
            assert len(read_segment(path).batches) == 4
            continue
        with pytest.raises(DamagedLog) as error:
            read_segment(path)
        assert error.value.file == str(path)
        assert error.value.position in (start, start + len(BATCHES[1]))


def test_the_highest_offset_that_fits_the_name_of_the_file(tmp_path: Path) -> None:
    assert len(read_segment(_segment(tmp_path, 0, WHOLE + _one((1 << 31) - 1))).batches) == 5


def test_a_file_larger_than_segments_are_is_not_read(tmp_path: Path) -> None:
    path = _segment(tmp_path, 0, b"")
    os.truncate(path, 1 << 31)
    with pytest.raises(DamagedLog, match="at most 2\\^31 - 1 bytes"):
        read_segment(path)


@pytest.mark.parametrize(
    "pattern",
    [
        # Every fourth byte looks like the begin of a batch that reaches far into the file, …
        bytes.fromhex("00000002"),
        # … every seventh like that of a short one.
        bytes.fromhex("00003102000000"),
        bytes(16) + b"\x02" + bytes(8),
    ],
)
def test_the_search_for_batches_after_a_torn_tail_is_bounded(tmp_path: Path, pattern: bytes) -> None:
    begun = BATCHES[0][:8] + (1 << 30).to_bytes(4, "big") + BATCHES[0][12:]
    path = _segment(tmp_path, 0, begun + b"\x01" + pattern * ((8 << 20) // len(pattern)))
    started = monotonic()
    with pytest.raises(DamagedLog, match="looks like batches in too many places"):
        read_segment(path)
    assert monotonic() - started < 20


def test_segments_are_listed_by_offset(tmp_path: Path) -> None:
    for offset in (0, 10, 9, 12345678901):
        _segment(tmp_path, offset, b"")
    for name in (
        "00000000000000000000.index",
        "00000000000000000000.timeindex",
        "00000000000000000005.snapshot",
        "00000000000000000003.log.deleted",
        "0.log",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ):
        (tmp_path / name).touch()
    assert _listed(tmp_path) == [
        "00000000000000000000.log",
        "00000000000000000009.log",
        "00000000000000000010.log",
        "00000000012345678901.log",
    ]


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list_segments(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        list(read_log(tmp_path / "none"))


A, B, C = ("00000000000000000000", "00000000000000000004", "00000000000000000008")
INTERRUPTED: dict[str, tuple[list[str], list[str]]] = {
    "while it was written": ([f"{A}.log", f"{A}.log.cleaned", f"{B}.log"], [f"{A}.log", f"{B}.log"]),
    "when it was complete": ([f"{A}.log", f"{A}.log.swap", f"{B}.log"], [f"{A}.log.swap", f"{B}.log"]),
    "of two segments into one": (
        [f"{A}.log", f"{A}.log.swap 0-8", f"{B}.log", f"{C}.log"],
        [f"{A}.log.swap", f"{C}.log"],
    ),
    "of two segments, the first renamed": (
        [f"{A}.log.deleted", f"{A}.log.swap 0-8", f"{B}.log", f"{C}.log"],
        [f"{A}.log.swap", f"{C}.log"],
    ),
    "to nothing": ([f"{A}.log", f"{A}.log.swap 0-0", f"{B}.log"], [f"{A}.log.swap", f"{B}.log"]),
    "an unfinished split": (
        [f"{A}.log", f"{A}.log.cleaned", f"{B}.log.swap", f"{C}.log"],
        [f"{A}.log", f"{C}.log"],
    ),
    "an index of a split": ([f"{A}.log", f"{A}.timeindex.cleaned", f"{B}.log.swap"], [f"{A}.log"]),
    "behind what is being written": (
        [f"{A}.log.swap", f"{A}.log", f"{B}.log.cleaned", f"{B}.log"],
        [f"{A}.log.swap", f"{B}.log"],
    ),
    "only the index of a swap": ([f"{A}.log", f"{A}.index.swap", f"{B}.log"], [f"{A}.log", f"{B}.log"]),
}


@pytest.mark.parametrize("when", INTERRUPTED)
def test_compaction_that_was_interrupted(tmp_path: Path, when: str) -> None:
    files, expected = INTERRUPTED[when]
    make_files(tmp_path, files)
    assert _listed(tmp_path) == expected


def make_files(directory: Path, files: list[str]) -> None:
    for file in files:
        name, _, offsets = file.partition(" ")
        first = int(name[:20])
        start, end = map(int, offsets.split("-")) if offsets else (first, first + 4)
        records = [(b"k", name.encode())] * (end - start)
        content = encode_batch(records, base_offset=start, timestamp=0) if records else b""
        (directory / name).write_bytes(content if ".log" in name else b"")


def test_damage_in_a_swap_file(tmp_path: Path) -> None:
    _segment(tmp_path, 0, WHOLE)
    (tmp_path / f"{A}.log.swap").write_bytes(BATCHES[0] + BATCHES[0])
    with pytest.raises(DamagedLog, match=r"log\.swap"):
        list_segments(tmp_path)


def test_a_log_is_its_segments_in_order(tmp_path: Path) -> None:
    _segment(tmp_path, 4, BATCHES[2])
    _segment(tmp_path, 0, BATCHES[0])
    _segment(tmp_path, 100, b"")
    _segment(tmp_path, 200, _one(300)[:-1])
    read = list(read_log(tmp_path))
    assert [(segment.base_offset, len(segment.batches)) for segment in read] == [
        (0, 1),
        (4, 1),
        (100, 0),
        (200, 0),
    ]
    assert [segment.torn is not None for segment in read] == [False, False, False, True]


@pytest.mark.parametrize("tail", [b"\x01", bytes(10), BATCHES[1][:-1]])
def test_only_the_last_segment_may_end_in_the_middle(tmp_path: Path, tail: bytes) -> None:
    path = _segment(tmp_path, 0, BATCHES[0] + tail)
    _segment(tmp_path, 4, b"")
    with pytest.raises(DamagedLog, match=f"the log continues in {segment_name(4)}") as error:
        list(read_log(tmp_path))
    assert (error.value.file, error.value.position) == (str(path), len(BATCHES[0]))


def test_segments_do_not_overlap(tmp_path: Path) -> None:
    _segment(tmp_path, 0, WHOLE)
    _segment(tmp_path, 7, b"")
    with pytest.raises(DamagedLog, match=f"the offset 7 belongs into {segment_name(7)} already") as error:
        list(read_log(tmp_path))
    assert error.value.position == LAST


def test_an_outdated_listing_during_compaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_files(tmp_path, [f"{A}.log 0-8", f"{C}.log"])
    listings = [[tmp_path / f"{A}.log", tmp_path / f"{B}.log", tmp_path / f"{C}.log"]]
    monkeypatch.setattr(
        segments, "list_segments", lambda directory: listings.pop() if listings else list_segments(directory)
    )
    assert [segment.base_offset for segment in read_log(tmp_path)] == [0, 8]
    assert not listings


def test_a_segment_that_stays_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "list_segments", lambda directory: [directory / f"{A}.log"])
    with pytest.raises(FileNotFoundError):
        list(read_log(tmp_path))


def _segment(directory: Path, base_offset: int, content: bytes) -> Path:
    path = directory / segment_name(base_offset)
    path.write_bytes(content)
    return path


def _listed(directory: Path) -> list[str]:
    return [path.name for path in list_segments(directory)]
