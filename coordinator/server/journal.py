"""Writes records at once, then releases their answers: on the disk (`always`, shared), or at once (`interval`)."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from coordinator.engine.calls import CoordinatorResult
from coordinator.store.data_directory import DataDirectory
from coordinator.store.disk import FsyncPolicy
from wire.log.errors import StorageError, StorageFailed


class AnsweredTooEarly(StorageError):
    """The disk did not keep up with the answers."""

    def __init__(self, error: StorageFailed) -> None:
        super().__init__(f"{error}; changes answered since the last synchronization may be lost")


class SyncedLog(Protocol):
    """A log whose writes reach the operating system before the disk."""

    def unsynced(self) -> Callable[[], object] | None:
        """A function that synchronizes all writes since the last call; None without any. Raises StorageFailed."""


class Journal:
    def __init__(
        self,
        data: DataDirectory,
        interval_ms: int,
        failed: Callable[[Exception], None],
        others: Sequence[SyncedLog] = (),
    ) -> None:
        """`others`: logs that `write` is used for, besides the log of `data`."""
        self._data = data
        self._logs: Sequence[SyncedLog] = (data.log.topic, *others)
        self._interval_s = interval_ms / 1000
        self._failed = failed
        self.held = 0  # how many answers are not released yet
        self._held: list[Callable[[], None]] = []
        self._syncing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def take(self, result: CoordinatorResult, now_ms: int, release: Callable[[], None]) -> None:
        """Write the records of a result; `release` is called when they are as durable as the policy requires."""
        if result.written:
            self.write(partial(self._data.log.append, result.written, now_ms, result.producer), release)
        elif self.is_idle:
            release()
        else:
            self._hold(release)

    def write(self, append: Callable[[], object], release: Callable[[], None]) -> None:
        """Have `append` write to one of the logs; `release` as in `take`."""
        try:
            append()
        except StorageFailed as error:
            self._failed(error)
            return
        if self._data.settings.fsync is FsyncPolicy.INTERVAL:
            release()
            self._sync_later()
        else:
            self._hold(release)

    @property
    def is_idle(self) -> bool:
        return self._data.settings.fsync is FsyncPolicy.INTERVAL or not (
            self._held or self._syncing is not None
        )

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._syncing is not None:
            await self._syncing

    def _hold(self, release: Callable[[], None]) -> None:
        self.held += 1
        self._held.append(release)
        if self._syncing is None:
            self._syncing = asyncio.get_running_loop().create_task(self._sync_held())

    async def _sync_held(self) -> None:
        try:
            while self._held:
                held, self._held = self._held, []
                await self._sync()
                self.held -= len(held)
                for release in held:
                    release()
        except StorageFailed as error:
            self._failed(error)
        finally:
            self._syncing = None

    def _sync_later(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._interval_s, self._sync_now)

    def _sync_now(self) -> None:
        self._timer = None
        if self._syncing is None:
            self._syncing = asyncio.get_running_loop().create_task(self._sync_once())
        else:  # the disk is slower than the interval
            self._sync_later()

    async def _sync_once(self) -> None:
        try:
            await self._sync()
        except StorageFailed as error:
            self._failed(AnsweredTooEarly(error))
        finally:
            self._syncing = None

    async def _sync(self) -> None:
        for log in self._logs:
            unsynced = log.unsynced()
            if unsynced is not None:
                await asyncio.to_thread(unsynced)


def resolve(kept: asyncio.Future[None]) -> None:
    """Resolve `kept`, unless the wait for it was canceled."""
    if not kept.done():
        kept.set_result(None)
