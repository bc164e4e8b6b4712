"""Compaction in a thread, and retention one partition at a time, with clients answered in between."""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from coordinator.configs.settings import BrokerSettings
from coordinator.partitions.partition import Partition
from coordinator.partitions.partitions import Partitions
from coordinator.store.cleaner import Interrupted
from coordinator.store.data_directory import DataDirectory
from wire.log.errors import DamagedLog, StorageFailed

SHORTEST_BACKOFF_S = 0.01

_log = logging.getLogger(__name__)


class Compactor:
    def __init__(
        self, data: DataDirectory, partitions: Partitions, settings: BrokerSettings, now_ms: Callable[[], int]
    ) -> None:
        self._data = data
        self._partitions = partitions
        self._producer_expiration_ms = settings.producer_id_expiration_ms
        self._backoff_s = max(settings.log_cleaner_backoff_ms / 1000, SHORTEST_BACKOFF_S)
        self._now_ms = now_ms
        self._closing = asyncio.Event()
        self._stopped = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._run())

    async def close(self) -> None:
        self._closing.set()
        self._stopped.set()
        await self._task

    async def _run(self) -> None:
        while not self._closing.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._backoff_s):
                    await self._closing.wait()
                    return
            try:
                compact = partial(self._data.compact, self._now_ms(), self._stopped.is_set, self._in_loop)
                while await asyncio.to_thread(compact):
                    pass  # another partition may be due
                for partition in self._partitions.kept(lambda settings: settings.cleanup_compacts):
                    await self._compact_topic(partition)
            except Interrupted:
                return
            except (StorageFailed, DamagedLog) as error:
                _log.warning("Compaction of the log has stopped: %s", error)

    async def _compact_topic(self, partition: Partition) -> None:
        """Raises Interrupted."""
        await asyncio.sleep(0)
        work = partition.begin_compaction(self._now_ms(), self._producer_expiration_ms)
        if work is None:
            return

        def in_loop(call: Callable[[], None]) -> None:
            def unless_closed() -> None:
                if partition.is_closed:
                    raise Interrupted
                call()

            self._in_loop(unless_closed)

        def is_stopped() -> bool:
            return partition.is_closed or self._stopped.is_set()

        try:
            await asyncio.to_thread(work.run, in_loop, is_stopped)
        except Interrupted:
            if not partition.is_closed:
                raise
        except (OSError, DamagedLog) as error:
            if not partition.is_closed:
                _log.warning("Compaction of %s failed: %s", partition, error)
        finally:
            if not partition.is_closed:
                with suppress(OSError):  # the next segment deletes files that could not be deleted now
                    work.compaction.end(work)

    def _in_loop(self, call: Callable[[], None]) -> None:
        async def called() -> None:
            call()

        asyncio.run_coroutine_threadsafe(called(), self._loop).result()


LONGEST_SLEEP_S = 86_400.0


class RecordExpiry:
    def __init__(self, partitions: Partitions, settings: BrokerSettings, now_ms: Callable[[], int]) -> None:
        self._partitions = partitions
        self._producer_expiration_ms = settings.producer_id_expiration_ms
        self._interval_s = min(settings.log_retention_check_interval_ms / 1000, LONGEST_SLEEP_S)
        self._now_ms = now_ms
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
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
