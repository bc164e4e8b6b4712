"""Compaction of the data directory beside the server's work.

It runs in a thread, so that answers wait for it no longer than for the interpreter's lock.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable

from coordinator.store.cleaner import Interrupted
from coordinator.store.data_directory import DataDirectory
from wire.log.errors import DamagedLog, StorageFailed

SHORTEST_BACKOFF_S = 0.01

_log = logging.getLogger(__name__)


class Compactor:
    """Looks for something to compact again and again, until it is closed."""

    def __init__(self, data: DataDirectory, backoff_ms: int, now_ms: Callable[[], int]) -> None:
        self._data = data
        self._backoff_s = max(backoff_ms / 1000, SHORTEST_BACKOFF_S)
        self._now_ms = now_ms
        self._closing = asyncio.Event()
        self._stopped = threading.Event()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Stop after the segment that is being worked on."""
        self._closing.set()
        self._stopped.set()
        await self._task

    async def _run(self) -> None:
        while not await self._is_closed_within(self._backoff_s):
            try:
                while await asyncio.to_thread(self._data.compact, self._now_ms(), self._stopped.is_set):
                    pass  # there may be another partition to do
            except Interrupted:
                return
            except (StorageFailed, DamagedLog) as error:
                _log.warning("The log is not compacted any further: %s", error)

    async def _is_closed_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._closing.wait()
        except TimeoutError:
            return False
