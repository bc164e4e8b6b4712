"""A data directory from its first use on: appended records are there after every kind of exit."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.engine.engine import Engine
from coordinator.engine.records import ConsumerGroupRecord, ConsumerGroupValue
from coordinator.store.data_directory import CLEAN_SHUTDOWN, DataDirectory, StorageSettings
from coordinator.store.directory_files import ConfigKind, read_meta_properties
from coordinator.store.log import SegmentLimits
from coordinator.store.partition_files import partition_for, read_topic_id
from tests.coordinator.store.directories import SMALL, committed, committed_offsets, opened, what_is_in
from tests.support.long import cases
from wire.log.errors import DamagedLog, DirectoryInUse, StorageFailed, Unusable
from wire.log.segments import list_segments

LOCKED_BY_JAVA = "import fcntl,sys; fcntl.lockf(open(sys.argv[1], 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
"""`FileChannel.tryLock` is a record lock."""


def test_a_new_directory_is_laid_out_as_a_brokers(tmp_path: Path) -> None:
    path = tmp_path / "made" / "too"
    with opened(path, StorageSettings(node_id=3)) as (data, _, recovered):
        assert (recovered.records, recovered.groups, recovered.was_clean) == (0, 0, False)
        names = {entry.name for entry in path.iterdir()}
        assert names == {".lock", "meta.properties", *(f"__consumer_offsets-{n}" for n in range(50))}
        meta = read_meta_properties(path)
        assert meta is not None
        assert (meta.cluster_id, meta.node_id, meta.version) == (data.cluster_id, 3, 1)
        files = {file.name for file in (path / "__consumer_offsets-7").iterdir()}
        assert files == {"partition.metadata", "leader-epoch-checkpoint", f"{0:020d}.log"}
        assert len({read_topic_id(path / f"__consumer_offsets-{n}") for n in range(50)}) == 1
    files = {file.name for file in (path / "__consumer_offsets-7").iterdir()}
    assert files >= {f"{0:020d}.log", f"{0:020d}.index", f"{0:020d}.timeindex"}
    assert json.loads((path / CLEAN_SHUTDOWN).read_text()) == {"version": 0, "brokerEpoch": -1}


def test_records_are_recovered_as_they_were_appended(tmp_path: Path) -> None:
    with opened(tmp_path) as (data, _, _):
        data.append([committed("a", 0, 1), committed("b", 0, 2)], now_ms=1)
        data.append([committed("a", 0, 3), committed("b", 0, None)], now_ms=2)
        data.append([ConsumerGroupRecord(group="c", value=ConsumerGroupValue(epoch=7))], now_ms=3)
        cluster_id = data.cluster_id
    with opened(tmp_path) as (data, engine, recovered):
        assert committed_offsets(engine) == {("a", 0): 3}
        assert (recovered.records, recovered.was_clean, recovered.torn) == (5, True, ())
        assert data.cluster_id == cluster_id
        assert not (tmp_path / CLEAN_SHUTDOWN).exists()  # a kill from now on must be detected


def test_a_result_is_one_batch_per_partition(tmp_path: Path) -> None:
    groups = ["a", "b", "c", "d", "e"]
    with opened(tmp_path) as (data, _, _):
        data.append([committed(group, n, n) for n in range(4) for group in groups], now_ms=1)
        logs = [tmp_path / f"__consumer_offsets-{number}" / f"{0:020d}.log" for number in range(3)]
        before = {number: log.read_bytes() for number, log in enumerate(logs)}
    assert sum(map(bool, before.values())) == len({partition_for(group, 3) for group in groups})
    for number, content in before.items():
        members = [group for group in groups if partition_for(group, 3) == number]
        assert int.from_bytes(content[57:61]) == 4 * len(members)
        assert int.from_bytes(content[8:12]) + 12 == len(content)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with opened(tmp_path):
        with pytest.raises(DirectoryInUse, match=str(tmp_path)):
            DataDirectory.open(tmp_path, SMALL)
        locked = [sys.executable, "-c", LOCKED_BY_JAVA, str(tmp_path / ".lock")]
        assert subprocess.run(locked, check=False, capture_output=True).returncode != 0
    assert subprocess.run(locked, check=False, capture_output=True).returncode == 0


def test_what_cannot_be_opened_is_free_again(tmp_path: Path) -> None:
    with opened(tmp_path) as (data, _, _):
        data.append([committed("a", 0, 1)], now_ms=1)
    with pytest.raises(Unusable, match=r"node\.id=1"):
        DataDirectory.open(tmp_path, replace(SMALL, node_id=2))
    segment = list_segments(tmp_path / f"__consumer_offsets-{partition_for('a', 3)}")[0]
    whole = segment.read_bytes()
    segment.write_bytes(b"x" * 100 + whole)
    with pytest.raises(DamagedLog, match=segment.name):
        DataDirectory.open(tmp_path, SMALL)
    segment.write_bytes(whole)
    assert what_is_in(tmp_path) == {("a", 0): 1}


def test_the_directory_knows_how_many_partitions_there_are(tmp_path: Path) -> None:
    with opened(tmp_path) as (data, _, _):
        data.append([committed(group, 0, 1) for group in "abcdefgh"], now_ms=1)
    with opened(tmp_path, partitions=50) as (data, engine, _):
        assert len(committed_offsets(engine)) == 8
        data.append([committed(group, 0, 2) for group in "abcdefgh"], now_ms=2)
    assert what_is_in(tmp_path) == {(group, 0): 2 for group in "abcdefgh"}
    assert not (tmp_path / "__consumer_offsets-3").exists()


def test_a_directory_without_all_partitions_is_not_gone_on_from(tmp_path: Path) -> None:
    with opened(tmp_path, partitions=5) as (data, _, _):
        data.append([committed(group, 0, 1) for group in "abcdefgh"], now_ms=1)
    for path in (tmp_path / "__consumer_offsets-4").iterdir():
        path.unlink()
    (tmp_path / "__consumer_offsets-4").rmdir()
    data = DataDirectory.open(tmp_path, SMALL)
    with pytest.raises(Unusable, match=r"belongs in partition \d of 4"):
        data.recover(Engine())
    data.abandon()


def test_an_absurd_number_of_partitions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "__consumer_offsets-2147483647").mkdir()
    with pytest.raises(Unusable, match="2147483647"):
        DataDirectory.open(tmp_path, SMALL)


def test_a_kill_during_creation_leaves_the_partition_count(tmp_path: Path) -> None:
    with opened(tmp_path):
        pass
    for number in (0, 1):
        for path in (tmp_path / f"__consumer_offsets-{number}").iterdir():
            path.unlink()
    (tmp_path / "__consumer_offsets-0").rmdir()
    with opened(tmp_path, partitions=50) as (data, _, _):
        data.append([committed(group, 0, 1) for group in "abcdefgh"], now_ms=1)
    assert len(what_is_in(tmp_path)) == 8
    assert sorted(path.name for path in tmp_path.glob("__consumer_offsets-*")) == [
        f"__consumer_offsets-{number}" for number in range(3)
    ]


@settings(max_examples=cases("KOHORT_EXAMPLES", 25, many=1_000))
@given(cut=st.integers(min_value=1, max_value=400), zeros=st.integers(min_value=0, max_value=200))
def test_a_torn_tail_is_cut_off_and_reported(
    tmp_path_factory: pytest.TempPathFactory, cut: int, zeros: int
) -> None:
    path = tmp_path_factory.mktemp("data")
    with opened(path, partitions=1, limits=SegmentLimits()) as (data, _, _):
        for offset in range(5):
            data.append([committed("a", offset, offset, "m" * 200)], now_ms=offset)
    segment = list_segments(path / "__consumer_offsets-0")[0]
    content = segment.read_bytes()
    size = len(content) // 5
    # Zeros may equal the bytes that they replace.
    left = content[: len(content) - min(cut, size - 1)] + b"\0" * (zeros if cut > 100 else 0)
    segment.write_bytes(left)
    with opened(path, partitions=1) as (data, engine, recovered):
        assert committed_offsets(engine) == {("a", offset): offset for offset in range(4)}
        (torn,) = recovered.torn
        assert (torn.file, torn.position, torn.size) == (str(segment), 4 * size, len(left) - 4 * size)
        data.append([committed("a", 9, 9)], now_ms=9)
    assert what_is_in(path) == {**{("a", offset): offset for offset in range(4)}, ("a", 9): 9}
    with opened(path, partitions=1) as (_, _, recovered):
        assert recovered.torn == ()


def test_an_undecodable_record_is_refused_with_its_position(tmp_path: Path) -> None:
    with opened(tmp_path, partitions=1) as (data, _, _):
        data.append([committed("a", 0, 1)], now_ms=1)
        data.log.topic.append({0: [(b"\x00\x01", b"no offset commit")]}, 2)
    segment = list_segments(tmp_path / "__consumer_offsets-0")[0]
    data = DataDirectory.open(tmp_path, SMALL)
    with pytest.raises(DamagedLog, match=r"offset 1 cannot be decoded") as refused:
        data.recover(Engine())
    assert (refused.value.file, refused.value.position > 0) == (str(segment), True)
    data.abandon()


def test_segments_roll_by_size_and_by_age(tmp_path: Path) -> None:
    limits = SegmentLimits(segment_bytes=1_000, segment_ms=100)
    with opened(tmp_path, partitions=1, limits=limits) as (data, _, _):
        for now_ms in (0, 100, 101, 102, 300):
            data.append([committed("a", 0, now_ms)], now_ms=now_ms)
        data.append([committed("a", 0, 301, "m" * 5_000)], now_ms=301)
        data.append([committed("a", 0, 302)], now_ms=302)
        bases = [int(path.stem) for path in list_segments(tmp_path / "__consumer_offsets-0")]
    assert bases == [0, 2, 4, 5, 6]
    assert what_is_in(tmp_path) == {("a", 0): 302}


def test_an_empty_active_segment_tells_the_next_offset(tmp_path: Path) -> None:
    with opened(tmp_path, partitions=1) as (data, _, _):
        data.append([committed("a", 0, 1), committed("a", 1, 1)], now_ms=1)
    (tmp_path / "__consumer_offsets-0" / f"{2:020d}.log").touch()
    with opened(tmp_path, partitions=1) as (data, engine, _):
        assert len(committed_offsets(engine)) == 2
        data.append([committed("a", 2, 1)], now_ms=2)
        assert data.log.topic.stored(0).log.end_offset == 3
    assert len(what_is_in(tmp_path)) == 3


def test_index_files_are_deleted_by_an_append_and_written_on_close(tmp_path: Path) -> None:
    def indexed() -> list[bool]:
        return [path.with_suffix(".index").exists() for path in sorted(tmp_path.glob("*/*.log"))]

    with opened(tmp_path, partitions=2):
        assert indexed() == [False, False]
    with opened(tmp_path) as (data, _, _):
        assert indexed() == [True, True]
        data.append([committed("a", 0, 1)], now_ms=1)
        assert sorted(indexed()) == [False, True]
    assert indexed() == [True, True]
    (tmp_path / CLEAN_SHUTDOWN).unlink()
    with opened(tmp_path):
        assert indexed() == [False, False]  # their state is unknown


def test_appends_continue_in_the_epoch_of_the_last_leader(tmp_path: Path) -> None:
    with opened(tmp_path, partitions=1):
        pass
    (tmp_path / "__consumer_offsets-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n5 0\n")
    with opened(tmp_path, partitions=1) as (data, _, _):
        data.append([committed("a", 0, 1)], now_ms=1)
    assert list_segments(tmp_path / "__consumer_offsets-0")[0].read_bytes()[12:16] == b"\0\0\0\5"


def test_settings_of_groups_are_replaced_as_a_whole(tmp_path: Path) -> None:
    with opened(tmp_path) as (data, _, _):
        data.set_config(ConfigKind.GROUP, "a", {"consumer.session.timeout.ms": "50000"})
        data.set_config(ConfigKind.GROUP, "grüße", {"x": "y"})
        data.set_config(ConfigKind.GROUP, "a", {})
    with opened(tmp_path) as (data, _, _):
        assert data.configs[ConfigKind.GROUP] == {"grüße": {"x": "y"}}
    (tmp_path / "group-configs.json").write_text('{"kohort": 1, "groups": {"a": 1}}')
    with pytest.raises(DamagedLog, match=r"group-configs\.json"):
        DataDirectory.open(tmp_path, SMALL)


def test_compaction_starts_with_the_dirtiest_partition(tmp_path: Path) -> None:
    with opened(tmp_path) as (data, _, _):
        for offset in range(600):
            data.append([committed("ab"[offset % 2], offset % 3, offset)], now_ms=offset)
        size = _size(tmp_path)
        assert [data.compact(now_ms=1_000) for _ in range(3)] == [True, True, False]
        assert _size(tmp_path) < size / 3
        checkpoint = (tmp_path / "cleaner-offset-checkpoint").read_text().splitlines()
        assert checkpoint[:2] == ["0", "2"]
        assert checkpoint[2].startswith("__consumer_offsets ")
    with opened(tmp_path) as (data, engine, _):
        assert sorted(committed_offsets(engine).values()) == list(range(594, 600))
        assert not data.compact(now_ms=1_000)  # the progress is stored


def test_a_partition_that_cannot_be_compacted_is_skipped(tmp_path: Path) -> None:
    with opened(tmp_path, partitions=1) as (data, _, _):
        for offset in range(200):
            data.append([committed("a", 0, offset)], now_ms=offset)
        first = list_segments(tmp_path / "__consumer_offsets-0")[0]
        whole = first.read_bytes()
        first.write_bytes(whole[:80] + b"x" + whole[81:])
        with pytest.raises(DamagedLog, match=first.name):
            data.compact(now_ms=1_000)
        assert not data.compact(now_ms=1_000)
        data.append([committed("a", 0, 200)], now_ms=201)
        first.write_bytes(whole)
    assert what_is_in(tmp_path) == {("a", 0): 200}


def test_a_file_in_its_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(StorageFailed, match="data"):
        DataDirectory.open(tmp_path / "data", SMALL)


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.glob("__consumer_offsets-*/*.log"))
