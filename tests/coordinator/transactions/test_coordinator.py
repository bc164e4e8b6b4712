"""Parts of the transaction state machine beyond the conformance scripts: times, exhausted epochs, the log."""

from dataclasses import replace
from itertools import count

import pytest

from coordinator.configs.settings import BrokerSettings
from coordinator.transactions.coordinator import Outcome, TransactionCoordinator
from coordinator.transactions.log import decode_transaction, decode_transactional_id, encode_transaction
from coordinator.transactions.transaction import MAX_EPOCH, Transaction, TransactionState, TransactionVersion
from wire.errors import ErrorCode
from wire.log.batch_header import ProducerIdentity

ID, TIMEOUT_MS, NOW_MS = "payments", 60_000, 1_000_000
ORDERS = ("orders", 0)
V1, V2 = TransactionVersion.TV_0, TransactionVersion.TV_2


class Driver:
    def __init__(self, *transactions: Transaction) -> None:
        ids = count(100)
        self.coordinator = TransactionCoordinator(BrokerSettings(), lambda: next(ids), transactions)
        self.now_ms = NOW_MS

    def init(self, expected: ProducerIdentity | None = None) -> Outcome:
        return self._finish(self.coordinator.init_producer_id(ID, TIMEOUT_MS, expected, self.now_ms))

    def add(self, producer: ProducerIdentity, version: TransactionVersion = V2) -> Outcome:
        return self.coordinator.add_partitions(ID, producer, [ORDERS], version, self.now_ms)

    def end(
        self, producer: ProducerIdentity, *, committed: bool = True, version: TransactionVersion = V2
    ) -> Outcome:
        return self._finish(
            self.coordinator.end(ID, producer, committed=committed, version=version, now_ms=self.now_ms)
        )

    @property
    def transaction(self) -> Transaction:
        return self.coordinator.transactions[ID]

    def _finish(self, outcome: Outcome) -> Outcome:
        if outcome.change is not None and outcome.change.state.is_prepared:
            self.coordinator.complete(ID, self.now_ms)
        return outcome


def exhausted(epoch: int = MAX_EPOCH - 1) -> Transaction:
    return Transaction(
        transactional_id=ID,
        producer=ProducerIdentity(5, epoch),
        timeout_ms=TIMEOUT_MS,
        updated_ms=0,
        state=TransactionState.COMPLETE_COMMIT,
    )


def test_an_expired_transaction_is_aborted_and_its_producer_fenced() -> None:
    driver = Driver()
    producer = driver.init().producer
    driver.add(producer)
    assert driver.coordinator.expire(NOW_MS + TIMEOUT_MS) == []
    (change,) = driver.coordinator.expire(NOW_MS + TIMEOUT_MS + 1)
    assert (change.state, change.partitions) == (TransactionState.PREPARE_ABORT, frozenset({ORDERS}))
    assert change.producer.epoch > producer.epoch
    assert driver.add(producer).error is ErrorCode.PRODUCER_FENCED
    assert driver.coordinator.prepared() == [change]
    driver.coordinator.complete(ID, driver.now_ms)
    assert driver.transaction.state is TransactionState.COMPLETE_ABORT


def test_an_unused_id_is_removed_with_a_tombstone() -> None:
    driver = Driver()
    driver.init()
    week_ms = 7 * 86_400_000
    assert driver.coordinator.expire(NOW_MS + week_ms - 1) == []
    (change,) = driver.coordinator.expire(NOW_MS + week_ms)
    key, value = encode_transaction(change)
    assert (decode_transactional_id(key), value) == (ID, None)
    assert driver.coordinator.transactions == {}


def test_when_epochs_run_out_a_producer_gets_another_id() -> None:
    driver = Driver(exhausted())
    assert driver.init().producer == (100, 0)


@pytest.mark.parametrize("committed", [True, False])
def test_when_epochs_run_out_the_end_of_a_transaction_gives_another_id(committed: bool) -> None:
    driver = Driver(exhausted())
    producer = driver.transaction.producer
    driver.add(producer)
    ended = driver.end(producer, committed=committed)
    assert ended.change is not None
    assert ended.change.producer == (5, MAX_EPOCH)  # the epoch of the markers
    assert ended.producer == driver.transaction.producer == (100, 0)
    assert driver.end(producer, committed=committed) == Outcome(producer=ended.producer)
    assert driver.end(producer, committed=not committed).error is ErrorCode.INVALID_TXN_STATE


def test_a_producer_that_continues_after_its_id_was_replaced_is_known() -> None:
    driver = Driver(exhausted())
    former = driver.transaction.producer
    fresh = driver.init(former).producer
    assert driver.init(former).producer == fresh
    assert driver.init(ProducerIdentity(4, 0)).error is ErrorCode.PRODUCER_FENCED


def test_what_is_in_the_log_is_what_was_there() -> None:
    driver = Driver()
    producer = driver.init().producer
    driver.coordinator.add_partitions(ID, producer, [ORDERS, ("orders", 3), ("a", 1)], V2, NOW_MS + 7)
    for transaction in (driver.transaction, driver.end(producer).change, driver.transaction):
        assert transaction is not None
        key, value = encode_transaction(transaction)
        assert value is not None
        read = decode_transaction(decode_transactional_id(key) or "", value)
        assert Driver(read).transaction == _as_read(transaction)


def _as_read(transaction: Transaction) -> Transaction:
    """The last epoch is not in the log."""
    return replace(transaction, last_epoch=-1)
