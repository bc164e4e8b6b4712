"""Retention: deletes records according to the settings of their topics, and forgets idle producers.

It checks one partition at a time while the server runs, and clients are answered in between; a thread removes the
files.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from coordinator.partitions.partitions import Partitions

LONGEST_SLEEP_S = 86_400.0

_log = logging.getLogger(__name__)


class Retention:
    """Periodically deletes records that are due, until it is closed."""

    def __init__(
        self,
        partitions: Partitions,
        interval_ms: int,
        now_ms: Callable[[], int],
        producer_expiration_ms: int,
    ) -> None:
        self._partitions = partitions
        self._producer_expiration_ms = producer_expiration_ms
        self._interval_s = min(interval_ms / 1000, LONGEST_SLEEP_S)
        self._now_ms = now_ms
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Stop after the current partition."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._interval_s)
            for partition in self._partitions.kept():
                try:
                    partition.expire(self._now_ms())
                    partition.producers.expire(self._now_ms(), self._producer_expiration_ms)
                except OSError as error:
                    _log.warning("Cannot delete records of %s: %s", partition, error.strerror or error)
                await asyncio.sleep(0)
            await asyncio.to_thread(self._partitions.file_remover())
