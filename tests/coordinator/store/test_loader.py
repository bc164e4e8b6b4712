"""Log directories are read as far as possible, and unreadable parts are reported with their position."""

from pathlib import Path

import pytest

from coordinator.store.loader import MOST_MALFORMED, load
from tests.coordinator.store.offset_logs import commit_batch, committed, offsets, partition_directory
from wire.log.batch_writer import encode_batch

FIRST = commit_batch(0, {"a": 1, "b": 2})
SECOND = commit_batch(2, {"a": 3}, epoch=1)


def test_partitions_make_one_whole(tmp_path: Path) -> None:
    partition_directory(tmp_path, 0, FIRST, SECOND)
    partition_directory(tmp_path, 1, commit_batch(0, {"c": 4}))
    loaded = load([tmp_path])
    assert offsets(loaded) == {"a": 3, "b": 2, "c": 4}
    assert set(loaded.state.groups) == {"a", "b", "c"}
    assert (loaded.records, loaded.batches, loaded.partitions) == (4, 3, (0, 1))
    assert loaded.notices == ()


def test_nothing_is_changed(tmp_path: Path) -> None:
    partition_directory(tmp_path, 0, FIRST, SECOND[:-3])
    before = _everything(tmp_path)
    load([tmp_path], as_of_ms=5)
    _ = load([tmp_path]).topics
    assert _everything(tmp_path) == before


def _everything(root: Path) -> dict[Path, tuple[int, bytes]]:
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in (root, *root.rglob("*"))
    }


@pytest.mark.parametrize("tail", [SECOND[:-1], SECOND[:30], b"\1", bytes(500)])
def test_a_torn_tail_is_a_notice_and_not_a_problem(tmp_path: Path, tail: bytes) -> None:
    file = partition_directory(tmp_path, 0, FIRST, tail)
    loaded = load([tmp_path])
    assert offsets(loaded) == {"a": 1, "b": 2}
    (notice,) = loaded.notices
    assert (notice.file, notice.position, notice.is_problem) == (file, len(FIRST), False)


def test_a_damaged_partition_is_omitted_and_reported(tmp_path: Path) -> None:
    broken = bytearray(FIRST + SECOND)
    broken[len(FIRST) - 1] ^= 1
    file = partition_directory(tmp_path, 0, bytes(broken))
    partition_directory(tmp_path, 1, commit_batch(0, {"c": 4}))
    loaded = load([tmp_path])
    assert offsets(loaded) == {"c": 4}
    assert loaded.partitions == (1,)
    (problem,) = loaded.problems
    assert (problem.file, problem.position) == (file, 0)
    assert "the groups of __consumer_offsets-0 are omitted" in problem.message
    assert str(problem).startswith(f"{file}, byte 0: the batch's checksum")


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    partition_directory(tmp_path, 0).unlink()
    file = tmp_path / "__consumer_offsets-0" / f"{0:020d}.log"
    file.mkdir()
    (problem,) = load([tmp_path]).problems
    assert problem.file == file
    assert "cannot be read: Is a directory" in problem.message


def test_a_missing_directory_is_a_problem_and_others_are_read(tmp_path: Path) -> None:
    partition_directory(tmp_path / "here", 0, FIRST)
    loaded = load([tmp_path / "gone", tmp_path / "here"])
    (problem,) = loaded.problems
    assert str(problem) == (
        f"{tmp_path / 'gone'}: cannot be read: No such file or directory; nothing in it was read"
    )
    assert offsets(loaded) == {"a": 1, "b": 2}


@pytest.mark.parametrize("suffix", ["-delete", "-future", "-stray"])
def test_directories_that_are_not_the_partition_are_skipped(tmp_path: Path, suffix: str) -> None:
    partition_directory(tmp_path, 0, FIRST)
    partition_directory(tmp_path, 1, SECOND)
    (tmp_path / "__consumer_offsets-1").rename(tmp_path / f"__consumer_offsets-1.{'0' * 32}{suffix}")
    (tmp_path / "__consumer_offsets-2").write_text("no directory")
    assert load([tmp_path]).partitions == (0,)


def test_missing_partitions_are_reported(tmp_path: Path) -> None:
    for number in (1, 2, 5, 2_000_000_000):
        partition_directory(tmp_path, number)
    (notice,) = load([tmp_path]).notices
    assert notice.message == (
        "__consumer_offsets 0, 3-4, 6-1999999999 in none of the directories: their groups are unknown"
    )
    assert not notice.is_problem


# Copies on several brokers.


def test_of_equal_copies_one_is_read_in_silence(tmp_path: Path) -> None:
    for broker in ("one", "two"):
        partition_directory(tmp_path / broker, 0, FIRST, SECOND)
    loaded = load([tmp_path / "one", tmp_path / "two"])
    assert (loaded.records, loaded.notices) == (3, ())


@pytest.mark.parametrize("turn", [1, -1])
def test_the_longer_copy_is_read(tmp_path: Path, turn: int) -> None:
    partition_directory(tmp_path / "short", 0, FIRST)
    partition_directory(tmp_path / "long", 0, FIRST, commit_batch(2, {"a": 3}))
    loaded = load([tmp_path / "short", tmp_path / "long"][::turn])
    assert offsets(loaded) == {"a": 3, "b": 2}
    (notice,) = loaded.notices
    assert notice.file == tmp_path / "short"
    assert notice.message == f"its copies of __consumer_offsets 0 end before those in {tmp_path / 'long'}"


def test_shorter_copies_are_reported_together(tmp_path: Path) -> None:
    for number in (0, 1, 2, 4):
        partition_directory(tmp_path / "short", number, FIRST)
        partition_directory(tmp_path / "long", number, FIRST, SECOND)
    notice, missing = load([tmp_path / "short", tmp_path / "long"]).notices
    assert notice.message.startswith("its copies of __consumer_offsets 0-2, 4 end before those")
    assert missing.message.startswith("__consumer_offsets 3 in none")


def test_the_copy_of_the_later_leader_is_read_though_it_is_shorter(tmp_path: Path) -> None:
    unclean = commit_batch(2, {"a": 7, "b": 8, "c": 9})
    partition_directory(tmp_path / "old", 0, FIRST, unclean)
    partition_directory(tmp_path / "new", 0, FIRST, SECOND)
    assert offsets(load([tmp_path / "old", tmp_path / "new"])) == {"a": 3, "b": 2}


def test_an_empty_last_segment_does_not_shorten_a_copy(tmp_path: Path) -> None:
    partition_directory(tmp_path / "rolled", 0, FIRST, SECOND)
    partition_directory(tmp_path / "rolled", 0, segment=3)
    partition_directory(tmp_path / "behind", 0, FIRST)
    assert offsets(load([tmp_path / "behind", tmp_path / "rolled"]))["a"] == 3


@pytest.mark.parametrize("at", [100, len(FIRST) + 100])
def test_where_the_best_copy_is_damaged_another_is_read(tmp_path: Path, at: int) -> None:
    third = commit_batch(3, {"a": 4}, epoch=1)
    damaged = bytearray(FIRST + SECOND + third)
    damaged[at] ^= 1
    file = partition_directory(tmp_path / "one", 0, bytes(damaged))
    partition_directory(tmp_path / "two", 0, FIRST, SECOND)
    loaded = load([tmp_path / "one", tmp_path / "two"])
    assert offsets(loaded) == {"a": 3, "b": 2}
    assert loaded.problems == ()
    (notice,) = loaded.notices
    assert notice.file == file
    assert notice.message.endswith(f"; {tmp_path / 'two' / '__consumer_offsets-0'} is read instead")


# Malformed records.


def test_unknown_types_are_counted(tmp_path: Path) -> None:
    records: list[tuple[bytes, bytes | None]] = [
        (b"\x00\x63", b"v"),
        (b"\x00\x63x", None),
        (b"\x7f\xff", b""),
    ]
    partition_directory(tmp_path, 0, FIRST, encode_batch(records, base_offset=2, timestamp=0))
    loaded = load([tmp_path])
    assert loaded.unknown_keys == {99: 2, 32767: 1}
    assert (offsets(loaded), loaded.notices) == ({"a": 1, "b": 2}, ())


def test_a_malformed_record_is_named_with_its_file_and_offset(tmp_path: Path) -> None:
    partition_directory(tmp_path, 0, FIRST)
    broken = [(b"\0\2\0\1", None), (committed("c", 5)[0], b"\0\x63"), (None, b"v"), committed("d", 6)]
    file = partition_directory(tmp_path, 0, encode_batch(broken, base_offset=2, timestamp=0), segment=2)
    loaded = load([tmp_path])
    assert offsets(loaded) == {"a": 1, "b": 2, "d": 6}
    assert [problem.file for problem in loaded.problems] == [file] * 3
    reasons = (
        "GroupMetadataKey.group",
        "OffsetCommitValue has no version 99",
        "the record has no key with a type",
    )
    for offset, (problem, reason) in enumerate(zip(loaded.problems, reasons, strict=True), 2):
        assert problem.message.startswith(f"the record at offset {offset} was skipped: {reason}")


def test_many_malformed_records_are_not_all_named(tmp_path: Path) -> None:
    broken = [(b"\0\2\0", None)] * (MOST_MALFORMED + 7)
    partition_directory(tmp_path, 0, encode_batch(broken, base_offset=0, timestamp=0))
    problems = load([tmp_path]).problems
    assert len(problems) == MOST_MALFORMED + 1
    assert problems[-1].message == "7 more records were skipped"
