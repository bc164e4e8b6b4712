"""Transactions of the server if the disk is slow, or a decision cannot be written."""

import asyncio
from collections.abc import Callable
from itertools import count

import pytest

from coordinator.configs.settings import BrokerSettings
from coordinator.errors import RequestRefused
from coordinator.server.transactions import Transactions
from coordinator.transactions.coordinator import Outcome, TransactionCoordinator
from coordinator.transactions.transaction import Transaction, TransactionState, TransactionVersion
from wire.errors import ErrorCode
from wire.log.batch_header import ProducerIdentity

NOW_MS = 1_000


class Disk:
    """A disk that stores nothing until released; a server's transactions on it, and the written markers."""

    def __init__(self) -> None:
        self.releases: list[Callable[[], None]] = []
        self.marked: list[Transaction] = []
        ids = count(1)
        self.coordinator = TransactionCoordinator(BrokerSettings(), lambda: next(ids))
        self.transactions = Transactions(
            self.coordinator, None, keep=self._keep, write_markers=self.marked.append, now_ms=lambda: NOW_MS
        )

    def _keep(self, append: Callable[[], object], release: Callable[[], None]) -> None:
        append()
        self.releases.append(release)

    def keeps(self) -> None:
        releases, self.releases = self.releases, []
        for release in releases:
            release()

    def begins(self) -> asyncio.Task[Outcome]:
        return self.settles(self.coordinator.init_producer_id("t", 60_000, None, NOW_MS))

    def ends(self, producer: ProducerIdentity) -> asyncio.Task[Outcome]:
        version = TransactionVersion.TV_2
        return self.settles(
            self.coordinator.end("t", producer, committed=True, version=version, now_ms=NOW_MS)
        )

    def settles(self, outcome: Outcome) -> asyncio.Task[Outcome]:
        return asyncio.ensure_future(self.transactions.settle(outcome))


def test_markers_wait_until_the_end_is_safe() -> None:
    async def scene() -> None:
        disk = Disk()
        begun = disk.begins()
        await asyncio.sleep(0)
        assert not begun.done()
        disk.keeps()
        producer = (await begun).producer
        disk.transactions.admit("t", producer, ("orders", 0), adds=True)
        ended = disk.ends(producer)
        await asyncio.sleep(0)
        assert (ended.done(), disk.marked) == (False, [])
        disk.keeps()
        assert (await ended).error is ErrorCode.NONE
        assert [marker.partitions for marker in disk.marked] == [{("orders", 0)}]
        assert disk.coordinator.transactions["t"].state is TransactionState.COMPLETE_COMMIT
        disk.transactions.stop()

    asyncio.run(scene())


def test_what_cannot_be_kept_is_refused() -> None:
    async def scene() -> None:
        disk = Disk()
        waits = disk.begins()
        await asyncio.sleep(0)
        disk.transactions.fail()
        for refused in (waits, disk.begins()):
            with pytest.raises(RequestRefused) as error:
                await refused
            assert error.value.code is ErrorCode.NOT_COORDINATOR
        disk.transactions.stop()

    asyncio.run(scene())
