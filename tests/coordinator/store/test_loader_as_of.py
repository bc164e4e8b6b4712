"""A log as of an earlier time, and the notices if records of that time may be missing."""

from pathlib import Path

import pytest

from coordinator.store.directory_files import CLEANER, write_checkpoint
from coordinator.store.loader import load
from tests.coordinator.store.offset_logs import commit_batch, committed, offsets, partition_directory
from wire.log.batch_writer import encode_batch

T = 1_700_000_000_000


@pytest.mark.parametrize(
    ("as_of_ms", "expected"),
    [(T - 1, {}), (T, {"a": 1}), (T + 9, {"a": 1}), (T + 10, {"a": 2}), (T + 20, {}), (None, {})],
)
def test_only_what_was_written_until_then_counts(
    tmp_path: Path, as_of_ms: int | None, expected: dict[str, int]
) -> None:
    partition_directory(
        tmp_path,
        0,
        commit_batch(0, {"a": 1}, at_ms=T),
        commit_batch(1, {"a": 2}, at_ms=T + 10),
        commit_batch(2, {"a": None}, at_ms=T + 20),
    )
    loaded = load([tmp_path], as_of_ms=as_of_ms)
    assert (offsets(loaded), loaded.notices) == (expected, ())


def _compacted(root: Path) -> Path:
    """Offsets 0 and 1 were removed, as 2 replaced them; 3 is in the active segment."""
    partition_directory(root, 0, commit_batch(2, {"a": 3}, at_ms=T + 20))
    partition_directory(root, 0, commit_batch(3, {"a": 4}, at_ms=T + 30), segment=3)
    return root / "__consumer_offsets-0"


@pytest.mark.parametrize("as_of_ms", [T, T + 10, T + 19])
@pytest.mark.parametrize("cleaned_to", [None, 3])
def test_a_moment_that_compaction_has_passed_is_in_doubt(
    tmp_path: Path, as_of_ms: int, cleaned_to: int | None
) -> None:
    _compacted(tmp_path)
    if cleaned_to is not None:
        write_checkpoint(tmp_path / CLEANER, {("__consumer_offsets", 0): cleaned_to})
    (notice,) = load([tmp_path], as_of_ms=as_of_ms).notices
    assert notice.message == (
        "compaction has passed that time in __consumer_offsets 0: records that were valid then and replaced later "
        "may be missing; from 2023-11-14T22:13:20.020+00:00 on all are present"
    )
    assert not notice.is_problem


@pytest.mark.parametrize("as_of_ms", [T + 20, T + 29, T + 30])
def test_a_moment_behind_compaction_is_whole(tmp_path: Path, as_of_ms: int) -> None:
    _compacted(tmp_path)
    assert load([tmp_path], as_of_ms=as_of_ms).notices == ()


def test_a_compacted_log_that_lacks_nothing_is_complete(tmp_path: Path) -> None:
    partition_directory(
        tmp_path, 0, commit_batch(0, {"a": 1}, at_ms=T), commit_batch(1, {"b": 1}, at_ms=T + 9)
    )
    partition_directory(tmp_path, 0, segment=2)
    write_checkpoint(tmp_path / CLEANER, {("__consumer_offsets", 0): 2})
    assert load([tmp_path], as_of_ms=T).notices == ()


def test_a_gap_inside_a_batch_counts(tmp_path: Path) -> None:
    whole = encode_batch([committed("a", 1), committed("b", 1)], base_offset=0, timestamp=T)
    partition_directory(tmp_path, 0, whole, commit_batch(3, {"a": 2}, at_ms=T + 9))
    partition_directory(tmp_path, 0, segment=4)
    (notice,) = load([tmp_path], as_of_ms=T).notices
    assert "from 2023-11-14T22:13:20.009+00:00 on" in notice.message


def test_a_broken_checkpoint_is_reported_and_ignored(tmp_path: Path) -> None:
    _compacted(tmp_path)
    (tmp_path / CLEANER).write_text("what is this\n")
    notice = load([tmp_path], as_of_ms=T).notices
    assert [entry.file for entry in notice] == [tmp_path / CLEANER, None]


def test_of_several_copies_one_that_tells_of_the_moment_is_read(tmp_path: Path) -> None:
    _compacted(tmp_path / "compacted")
    written = [commit_batch(number, {"a": number + 1}, at_ms=T + 10 * number) for number in range(4)]
    partition_directory(tmp_path / "behind", 0, *written[:3])
    loaded = load([tmp_path / "compacted", tmp_path / "behind"], as_of_ms=T + 10)
    assert offsets(loaded) == {"a": 2}
    (notice,) = loaded.notices
    assert notice.message.startswith("its copies")


def test_a_copy_that_ends_before_the_moment_does_not_tell_of_it(tmp_path: Path) -> None:
    _compacted(tmp_path / "compacted")
    partition_directory(tmp_path / "behind", 0, commit_batch(0, {"a": 1}, at_ms=T))
    loaded = load([tmp_path / "compacted", tmp_path / "behind"], as_of_ms=T + 10)
    assert offsets(loaded) == {}
    assert loaded.notices[-1].message.startswith("compaction has passed that time")


def test_a_later_moment_is_read_from_the_best_copy(tmp_path: Path) -> None:
    _compacted(tmp_path / "compacted")
    partition_directory(tmp_path / "behind", 0, commit_batch(0, {"a": 1}, at_ms=T))
    assert offsets(load([tmp_path / "behind", tmp_path / "compacted"], as_of_ms=T + 30)) == {"a": 4}


def test_damage_behind_the_moment_does_not_matter(tmp_path: Path) -> None:
    partition_directory(
        tmp_path, 0, commit_batch(0, {"a": 1}, at_ms=T), commit_batch(1, {"a": 2}, at_ms=T + 9)
    )
    broken = bytearray(commit_batch(2, {"a": 3}, at_ms=T + 20) + commit_batch(3, {"a": 4}, at_ms=T + 30))
    broken[70] ^= 1
    file = partition_directory(tmp_path, 0, bytes(broken), segment=2)
    loaded = load([tmp_path], as_of_ms=T + 5)
    assert (offsets(loaded), loaded.problems) == ({"a": 1}, ())
    (notice,) = loaded.notices
    assert notice.file == file
    (problem,) = load([tmp_path], as_of_ms=T + 9).problems
    assert problem.file == file
