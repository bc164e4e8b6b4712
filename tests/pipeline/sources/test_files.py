"""Which files are the log: of log directories, directories of partitions, single files and several copies."""

from pathlib import Path

import pytest

from pipeline.sources.files import UNKNOWN_PARTITION, list_segments
from pipeline.sources.segments import wanted
from tests.coordinator.store.real_log import RealLog
from wire.log.batch_writer import encode_batch
from wire.log.segments import list_segments as plain_segments
from wire.log.segments import segment_name


def batch(offset: int, *, epoch: int = 0) -> bytes:
    return encode_batch([(b"k", b"v")], base_offset=offset, timestamp=1, leader_epoch=epoch)


def partition(directory: Path, *offsets: int, epoch: int = 0) -> Path:
    """Segments of one batch each."""
    directory.mkdir(parents=True)
    for offset in offsets:
        (directory / segment_name(offset)).write_bytes(batch(offset, epoch=epoch))
    return directory


def found(*paths: Path) -> list[str]:
    return [segment.path for segment in list_segments([str(path) for path in paths]).segments]


def not_segments(*paths: Path) -> list[tuple[str, str]]:
    return [
        (not_segment.path, not_segment.reason)
        for not_segment in list_segments([str(path) for path in paths]).not_segments
    ]


def test_a_brokers_log_directory(real_log: RealLog) -> None:
    assert found(real_log.data) == [str(path) for path in real_log.segments()]
    assert not_segments(real_log.data) == []
    assert all(segment.has_index for segment in list_segments([str(real_log.data)]).segments)


def test_the_name_of_a_segment_is_its_place(tmp_path: Path) -> None:
    partition(tmp_path / "__consumer_offsets-12", 0, 7)
    segments = list_segments([str(tmp_path)]).segments
    assert [(segment.source, segment.partition, segment.base_offset) for segment in segments] == [
        ("__consumer_offsets-12", 12, 0),
        ("__consumer_offsets-12", 12, 7),
    ]


def test_a_directory_of_a_partition_and_a_file_of_it(tmp_path: Path) -> None:
    one = partition(tmp_path / "__consumer_offsets-3", 0, 7)
    assert found(one) == found(tmp_path)
    assert found(one / segment_name(7)) == [str(one / segment_name(7))]
    assert found(one, one / segment_name(7), tmp_path) == found(tmp_path)


def test_segments_in_a_directory_of_another_name(tmp_path: Path) -> None:
    copied = partition(tmp_path / "from-broker-1", 0)
    (segment,) = list_segments([str(copied)]).segments
    assert (segment.source, segment.partition) == ("from-broker-1", UNKNOWN_PARTITION)


def test_other_topics_and_deleted_directories_are_skipped(tmp_path: Path) -> None:
    partition(tmp_path / "orders-0", 0)
    partition(tmp_path / "__consumer_offsets-1.0123456789abcdef0123456789abcdef-delete", 0)
    partition(tmp_path / "__consumer_offsets-2.0123456789abcdef0123456789abcdef-future", 0)
    kept = partition(tmp_path / "__consumer_offsets-3", 0)
    assert found(tmp_path) == [str(kept / segment_name(0))]
    assert not_segments(tmp_path) == []


def test_files_of_other_programs_are_reported(tmp_path: Path) -> None:
    kept = partition(tmp_path / "__consumer_offsets-3", 0)
    (kept / "core.4711").write_bytes(b"?")
    (kept / "0.log").write_bytes(b"?")
    (kept / "backup").mkdir()
    for name in ("00000000000000000000.index", "leader-epoch-checkpoint", "partition.metadata"):
        (kept / name).write_bytes(b"")
    assert found(tmp_path) == [str(kept / segment_name(0))]
    assert not_segments(tmp_path) == [
        (str(kept / name), "is not a file of a broker") for name in ("0.log", "backup", "core.4711")
    ]


def test_a_directory_without_the_topic_is_named(tmp_path: Path) -> None:
    partition(tmp_path / "orders-0", 0)
    assert not_segments(tmp_path) == [(str(tmp_path), "contains no partition of __consumer_offsets")]


@pytest.mark.parametrize(
    "names",
    [
        ("0.log.swap",),
        ("0.log.swap", "9.log.cleaned"),
        ("5.log.swap", "0.log.cleaned"),
        ("5.log.deleted",),
        ("5.log.cleaned",),
    ],
)
def test_files_of_compaction_are_selected_as_by_the_loader(tmp_path: Path, names: tuple[str, ...]) -> None:
    directory = partition(tmp_path / "__consumer_offsets-3", 0, 5, 9)
    for name in names:
        offset, _, rest = name.partition(".")
        path = directory / f"{int(offset):020d}.{rest}"
        path.write_bytes(batch(int(offset)) + batch(int(offset) + 1))
    assert found(tmp_path) == [str(path) for path in plain_segments(directory)]


def test_of_several_copies_the_most_advanced_is_read(tmp_path: Path) -> None:
    behind = partition(tmp_path / "a" / "__consumer_offsets-3", 0, 5)
    ahead = partition(tmp_path / "b" / "__consumer_offsets-3", 0, 9)
    later_leader = partition(tmp_path / "c" / "__consumer_offsets-3", 0, epoch=1)
    alone = partition(tmp_path / "a" / "__consumer_offsets-4", 0)
    assert found(behind.parent, ahead.parent) == [
        str(ahead / segment_name(0)),
        str(ahead / segment_name(9)),
        str(alone / segment_name(0)),
    ]
    assert found(ahead.parent, later_leader.parent) == [str(later_leader / segment_name(0))]


def test_a_copy_whose_end_is_torn_or_empty_goes_as_far_as_it_is_whole(tmp_path: Path) -> None:
    torn = partition(tmp_path / "a" / "__consumer_offsets-3", 0, 9)
    (torn / segment_name(9)).write_bytes(batch(9)[:-3])
    whole = partition(tmp_path / "b" / "__consumer_offsets-3", 0, 5)
    (whole / segment_name(6)).write_bytes(b"")
    assert found(torn.parent, whole.parent)[:2] == [
        str(whole / segment_name(0)),
        str(whole / segment_name(5)),
    ]


def test_segments_after_the_existing_offsets_are_read(tmp_path: Path) -> None:
    partition(tmp_path / "__consumer_offsets-3", 0, 5, 9)
    partition(tmp_path / "__consumer_offsets-4", 0, 5)
    listing = list_segments([str(tmp_path)])

    def left(after: dict[int, int]) -> list[tuple[int, int]]:
        return [(file.partition, file.base_offset) for file in wanted(listing, after)]

    everything = [(3, 0), (3, 5), (3, 9), (4, 0), (4, 5)]
    assert left({}) == left({3: 0, 4: 4}) == everything
    assert left({3: 5}) == everything[1:]
    assert left({3: 8, 4: 5}) == [(3, 5), (3, 9), (4, 5)]
    # Into the last one something may have been written since.
    assert left({3: 10, 4: 6}) == [(3, 9), (4, 5)]


def test_single_files_of_any_names_are_all_wanted(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_bytes(batch(0))
    listing = list_segments([str(tmp_path / "a.log"), str(tmp_path / "b.log")])
    assert [Path(file.path).name for file in wanted(listing, {3: 7})] == ["a.log", "b.log"]
