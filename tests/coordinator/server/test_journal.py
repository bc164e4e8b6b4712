"""When answers are released: once their records are on the disk, or at once and the disk a little later."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from coordinator.engine.calls import CoordinatorResult
from coordinator.server.journal import AnsweredTooEarly, Journal
from coordinator.store.data_directory import DataDirectory
from coordinator.store.disk import FsyncPolicy
from coordinator.store.log import SegmentLimits
from coordinator.store.records import encode_record
from tests.coordinator.server.running import running_cluster
from tests.coordinator.store.directories import SMALL, committed, start
from wire.log.errors import StorageFailed

INTERVAL_MS = 50


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)


class Disk:
    """Counts synchronizations, and blocks them until released."""

    def __init__(self) -> None:
        self.begun = 0
        self.synchronized = 0
        self.open = threading.Event()
        self.error: OSError | None = None
        self._real = os.fsync

    def fsync(self, descriptor: int) -> None:
        self.begun += 1
        self.open.wait(10)
        self.synchronized += 1
        if self.error is not None:
            raise self.error
        self._real(descriptor)

    async def has_synchronized(self, count: int) -> None:
        """Wait until it has synchronized `count` times; it must not do so again in the next intervals."""
        await until(lambda: self.synchronized >= count)
        await asyncio.sleep(2 * INTERVAL_MS / 1000)
        assert self.synchronized == count


class Desk:
    """A journal, the released answers, and the reported failures."""

    def __init__(self, data: DataDirectory) -> None:
        self.left: list[str] = []
        self.failures: list[Exception] = []
        self.journal = Journal(data, INTERVAL_MS, self.failures.append)
        self._offset = 0

    def write(self, answer: str, group: str = "a") -> None:
        self._offset += 1
        record = committed(group, 0, self._offset)
        result = CoordinatorResult(written=((group, encode_record(record)),))
        self.journal.take(result, 1, lambda: self.left.append(answer))

    def read(self, answer: str) -> None:
        self.journal.take(CoordinatorResult(), 1, lambda: self.left.append(answer))

    async def has_left(self, *answers: str) -> None:
        await until(lambda: self.left == list(answers))


def play(path: Path, fsync: FsyncPolicy, scene: Callable[[Desk, Disk], Awaitable[None]]) -> None:
    async def run() -> None:
        data, _, _ = start(path, replace(SMALL, fsync=fsync, limits=SegmentLimits()))
        disk = Disk()
        desk = Desk(data)
        with patch.object(os, "fsync", disk.fsync):
            await scene(desk, disk)
            disk.open.set()
            await desk.journal.close()
        data.abandon()

    asyncio.run(run())


def test_answers_wait_for_the_disk_and_share_its_synchronization(tmp_path: Path) -> None:
    async def scene(desk: Desk, disk: Disk) -> None:
        desk.read("nothing is under way")
        assert desk.left == ["nothing is under way"]
        desk.left.clear()
        desk.write("first")
        await asyncio.sleep(0.05)
        for number in range(20):
            desk.write(f"{number}")
        desk.read("after them")
        await asyncio.sleep(0.05)
        assert desk.left == []
        disk.open.set()
        await desk.has_left("first", *(str(number) for number in range(20)), "after them")
        assert disk.synchronized == 2

    play(tmp_path, FsyncPolicy.ALWAYS, scene)


def test_every_partition_that_was_written_to_is_synchronized(tmp_path: Path) -> None:
    async def scene(desk: Desk, disk: Disk) -> None:
        disk.open.set()
        for group in "abcdefgh":
            desk.write(group, group)
        await desk.has_left(*"abcdefgh")
        assert disk.synchronized == SMALL.partitions

    play(tmp_path, FsyncPolicy.ALWAYS, scene)


def test_with_an_interval_answers_leave_at_once_and_the_disk_follows(tmp_path: Path) -> None:
    async def scene(desk: Desk, disk: Disk) -> None:
        disk.open.set()
        for number in range(20):
            desk.write(f"{number}")
        assert len(desk.left) == 20
        assert disk.synchronized == 0
        await disk.has_synchronized(1)
        desk.write("once more")
        await disk.has_synchronized(2)

    play(tmp_path, FsyncPolicy.INTERVAL, scene)


def test_a_disk_slower_than_the_interval_is_not_forgotten(tmp_path: Path) -> None:
    async def scene(desk: Desk, disk: Disk) -> None:
        desk.write("first")
        await until(lambda: disk.begun == 1)
        desk.write("while the disk is at work")
        await asyncio.sleep(2 * INTERVAL_MS / 1000)
        assert (disk.begun, disk.synchronized) == (1, 0)
        assert desk.left == ["first", "while the disk is at work"]
        disk.open.set()
        await disk.has_synchronized(2)

    play(tmp_path, FsyncPolicy.INTERVAL, scene)


@pytest.mark.parametrize("fsync", FsyncPolicy)
def test_a_failing_disk_is_reported_and_nothing_is_answered(tmp_path: Path, fsync: FsyncPolicy) -> None:
    async def scene(desk: Desk, disk: Disk) -> None:
        disk.error = OSError(5, "Input/output error")
        disk.open.set()
        desk.write("never")
        await until(lambda: bool(desk.failures))
        assert "Input/output error" in str(desk.failures[0])
        late = fsync is FsyncPolicy.INTERVAL
        assert isinstance(desk.failures[0], AnsweredTooEarly) == late
        assert desk.left == (["never"] if late else [])

    play(tmp_path, fsync, scene)


@pytest.mark.parametrize("fsync", FsyncPolicy)
def test_a_failed_write_is_reported(tmp_path: Path, fsync: FsyncPolicy) -> None:
    async def scene(desk: Desk, disk: Disk) -> None:
        with patch.object(os, "pwrite", side_effect=OSError(28, "No space left on device")):
            desk.write("never")
        assert isinstance(desk.failures[0], StorageFailed)
        assert desk.left == []

    play(tmp_path, fsync, scene)


def test_a_producer_that_gives_up_does_not_keep_others_waiting(tmp_path: Path) -> None:
    async def run() -> None:
        settings = replace(SMALL, fsync=FsyncPolicy.ALWAYS, limits=SegmentLimits())
        async with running_cluster(data=DataDirectory.open(tmp_path, settings)) as cluster:
            gives_up, waits = (asyncio.create_task(cluster.records_durable()) for _ in range(2))
            await asyncio.sleep(0)
            gives_up.cancel()
            async with asyncio.timeout(10):
                await waits
            assert gives_up.cancelled()
            assert cluster.calls_held == 0

    asyncio.run(run())
