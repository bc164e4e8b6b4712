"""The cluster's transactions: markers and the completing record follow without a pause; `recover` after a kill."""

import asyncio
from collections.abc import Callable
from functools import partial

from coordinator.errors import RequestRefused
from coordinator.server.journal import resolve
from coordinator.transactions.coordinator import Outcome, TransactionCoordinator
from coordinator.transactions.log import TransactionsLog
from coordinator.transactions.transaction import TopicPartition, Transaction, TransactionVersion
from wire.errors import ErrorCode
from wire.log.batch_header import ProducerIdentity

_RETRIED = frozenset({ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NOT_COORDINATOR})


class Transactions:
    def __init__(
        self,
        coordinator: TransactionCoordinator,
        log: TransactionsLog | None,
        *,
        keep: Callable[[Callable[[], object], Callable[[], None]], None],
        write_markers: Callable[[Transaction], None],
        now_ms: Callable[[], int],
    ) -> None:
        """`log` None: transactions do not outlive the process. `keep(append, release)`: as `Cluster._keep`."""
        self.coordinator = coordinator
        self._log = log
        self._keep = keep
        self._write_markers = write_markers
        self._now_ms = now_ms
        self._waiting: set[asyncio.Future[None]] = set()
        self._has_failed = False
        self._alarm: asyncio.TimerHandle | None = None

    def recover(self) -> None:
        """Complete the transactions decided before a restart, and start the timers."""
        for transaction in self.coordinator.prepared():
            self._finish(transaction)
        self._set_alarm()

    async def settle(self, outcome: Outcome) -> Outcome:
        """Return the outcome once its change is stored. Raises RequestRefused: NOT_COORDINATOR: it cannot be stored."""
        if self._has_failed:
            raise RequestRefused(ErrorCode.NOT_COORDINATOR)
        if outcome.change is not None:
            kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(kept)
            self._write(outcome.change, partial(resolve, kept))
            try:
                await kept
            finally:
                self._waiting.discard(kept)
        return outcome

    def admit(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        partition: TopicPartition,
        *,
        adds: bool,
        is_abortable: bool = True,
    ) -> None:
        """Check that a producer may write to a partition; the write `adds` it before. Raises RequestRefused."""
        if adds:
            version = TransactionVersion.TV_2
            add = self.coordinator.add_partitions
            outcome = add(transactional_id, producer, [partition], version, self._now_ms())
            error = outcome.error
            if outcome.change is not None:
                self._write(outcome.change, _nothing)
        else:
            error = self.coordinator.verify(transactional_id, producer, partition)
        if error is ErrorCode.PRODUCER_FENCED:
            raise RequestRefused(ErrorCode.INVALID_PRODUCER_EPOCH)
        if error is ErrorCode.TRANSACTION_ABORTABLE and not is_abortable:
            raise RequestRefused(ErrorCode.INVALID_TXN_STATE, "Partition was not added to the transaction")
        if error in _RETRIED and not adds:
            why = f"Unable to verify the partition has been added to the transaction. Underlying error: {error.name}"
            raise RequestRefused(ErrorCode.NOT_ENOUGH_REPLICAS, why)
        if error:
            raise RequestRefused(error)

    def fail(self) -> None:
        self._has_failed = True
        for kept in self._waiting:
            if not kept.done():
                kept.set_exception(RequestRefused(ErrorCode.NOT_COORDINATOR))

    def stop(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        for kept in self._waiting:
            kept.cancel()

    def _write(self, change: Transaction, release: Callable[[], None]) -> None:
        def kept() -> None:
            if change.state.is_prepared:
                self._finish(change)
            release()

        self._keep(partial(self._append, change), kept)
        self._set_alarm()

    def _finish(self, transaction: Transaction) -> None:

        def append() -> None:
            self._write_markers(transaction)
            self._append(self.coordinator.complete(transaction.transactional_id, self._now_ms()))

        self._keep(append, _nothing)

    def _append(self, change: Transaction) -> None:
        if self._log is not None:
            self._log.append(change, self._now_ms())

    def _set_alarm(self) -> None:
        deadline_ms = self.coordinator.next_deadline()
        if self._alarm is None and deadline_ms is not None:
            delay_s = max(0, deadline_ms - self._now_ms() + 1) / 1000
            self._alarm = asyncio.get_running_loop().call_later(delay_s, self._expire)

    def _expire(self) -> None:
        self._alarm = None
        for change in self.coordinator.expire(self._now_ms()):
            self._write(change, _nothing)
        self._set_alarm()


def _nothing() -> None:
    pass
