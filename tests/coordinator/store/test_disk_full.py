"""Full disks and unreadable files: a clear error, and no acknowledged record is lost."""

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest

from coordinator.engine.engine import Engine
from coordinator.engine.topics import TopicInfo
from coordinator.store.data_directory import DataDirectory
from coordinator.store.directory_files import ConfigKind
from coordinator.store.disk import FsyncPolicy
from coordinator.store.log import SegmentLimits
from tests.coordinator.store.directories import SMALL, committed, committed_offsets, start, what_is_in
from tests.coordinator.store.small_disk import fill, small_disk
from wire.log.errors import StorageFailed
from wire.log.segments import list_segments

ONE_SEGMENT = replace(SMALL, partitions=1, limits=SegmentLimits())


@contextmanager
def longest_file(size: int) -> Iterator[None]:
    """Limit the length of files: a write beyond it fails with EFBIG, after a part is written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def append_until_it_fails(data: DataDirectory, engine: Engine, metadata: str = "") -> StorageFailed:
    for offset in range(100_000):
        record = committed("a", offset % 7, offset, metadata)
        try:
            data.append([record], now_ms=offset)
        except StorageFailed as error:
            return error
        engine.replay(record)
    raise AssertionError("there was room for everything")


@pytest.mark.parametrize("fsync", FsyncPolicy)
@pytest.mark.parametrize("size", [5_000, 5_001, 5_037, 5_100])
def test_a_batch_that_does_not_fit_is_cut_off(tmp_path: Path, fsync: FsyncPolicy, size: int) -> None:
    data, engine, _ = start(tmp_path, ONE_SEGMENT, fsync=fsync)
    with longest_file(size):
        error = append_until_it_fails(data, engine)
    assert str(tmp_path / "__consumer_offsets-0") in str(error)
    assert os.strerror(errno.EFBIG) in str(error)
    data.abandon()
    again, restarted, recovered = start(tmp_path, ONE_SEGMENT)
    assert committed_offsets(restarted) == committed_offsets(engine)
    assert len(committed_offsets(restarted)) == 7
    assert recovered.torn == ()
    again.append([committed("a", 0, 1)], now_ms=1)
    again.close()


def test_a_compaction_that_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    data, engine, _ = start(tmp_path, partitions=1)
    for offset in range(60):
        record = committed("a", offset, offset)
        data.append([record], now_ms=offset)
        engine.replay(record)
    before = {path: path.read_bytes() for path in tmp_path.glob("*/*.log")}
    with longest_file(300), pytest.raises(StorageFailed, match=os.strerror(errno.EFBIG)):
        data.compact(now_ms=1_000)
    assert {path: path.read_bytes() for path in tmp_path.glob("*/*.log*")} == before
    data.append([committed("a", 0, 100)], now_ms=100)
    data.abandon()
    again, restarted, _ = start(tmp_path)
    assert committed_offsets(restarted) == {**committed_offsets(engine), ("a", 0): 100}
    again.close()


def test_appending_continues_once_there_is_room_again(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        path = disk / "data"
        data, engine, _ = start(path)
        ballast = fill(disk, leave=30_000)
        error = append_until_it_fails(data, engine, "m" * 500)
        assert os.strerror(errno.ENOSPC) in str(error)
        acknowledged = committed_offsets(engine)
        with pytest.raises(StorageFailed, match="orders"):
            data.topics.create(TopicInfo(name="orders", id=UUID(int=1), partitions=10))
        with pytest.raises(StorageFailed, match="settings of groups"):
            data.set_config(ConfigKind.GROUP, "a", {"x": "y" * 10_000})
        data.abandon()
        ballast.unlink()
        again, restarted, recovered = start(path)
        assert committed_offsets(restarted) == acknowledged
        assert (recovered.torn, again.topics.found, again.configs[ConfigKind.GROUP]) == ((), (), {})
        again.append([committed("a", 0, 1)], now_ms=1)
        again.close()
        assert what_is_in(path)["a", 0] == 1


def test_a_disk_that_is_full_from_the_start(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", kilobytes=64) as disk:
        ballast = fill(disk, leave=20_000)
        with pytest.raises(StorageFailed, match=os.strerror(errno.ENOSPC)):
            DataDirectory.open(disk / "data", replace(SMALL, partitions=50))
        ballast.unlink()
        with pytest.raises(StorageFailed, match=os.strerror(errno.ENOSPC)):
            DataDirectory.open(disk / "data", replace(SMALL, partitions=50))


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, number: int) -> None:
    data, _, _ = start(tmp_path, partitions=1)
    data.append([committed("a", 0, 1)], now_ms=1)
    data.close()
    real = os.open

    def failing(path: Path, flags: int, *args: Any) -> int:
        if str(path).endswith(".log") and flags & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(number, os.strerror(number), str(path))
        return real(path, flags, *args)

    segment = list_segments(tmp_path / "__consumer_offsets-0")[0]
    with patch.object(os, "open", failing), pytest.raises(StorageFailed, match=segment.name) as error:
        DataDirectory.open(tmp_path, SMALL)
    assert os.strerror(number) in str(error.value)
    assert what_is_in(tmp_path) == {("a", 0): 1}


def test_a_failed_synchronization_is_reported(tmp_path: Path) -> None:
    data, _, _ = start(tmp_path, fsync=FsyncPolicy.ALWAYS)
    with (
        patch.object(os, "fsync", side_effect=OSError(errno.EIO, os.strerror(errno.EIO))),
        pytest.raises(StorageFailed, match=r"synchronizing .*__consumer_offsets"),
    ):
        data.append([committed("a", 0, 1)], now_ms=1)
    data.abandon()
