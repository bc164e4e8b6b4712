"""The state machine of the transaction coordinator. A transaction is Ongoing from its first partition; a record
decides its end (PrepareCommit, PrepareAbort), which cannot be reversed; then a marker is written to every
partition, and a final record states that all are written. A change takes effect at once: the caller writes
`Outcome.change` to the log before it sends the answer and, if it is a prepared end, writes the markers after that
and calls `complete`. A producer that initializes fences the previous one: their epochs differ. Source:
TransactionCoordinator, TransactionStateManager."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from coordinator.configs.settings import BrokerSettings
from coordinator.transactions.transaction import (
    MAX_EPOCH,
    TopicPartition,
    Transaction,
    TransactionState,
    TransactionVersion,
)
from wire.errors import ErrorCode
from wire.log.batch_header import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ProducerIdentity

NO_IDENTITY = ProducerIdentity()
State, Version = TransactionState, TransactionVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a request: its error, the producer in the answer, and the change to write first. A refused
    request may change something, too: a producer that finds another one's open transaction aborts it."""

    error: ErrorCode = ErrorCode.NONE
    producer: ProducerIdentity = NO_IDENTITY
    change: Transaction | None = None


class TransactionCoordinator:
    def __init__(
        self,
        settings: BrokerSettings,
        new_producer_id: Callable[[], int],
        transactions: Iterable[Transaction] = (),
        version: Callable[[], TransactionVersion] = lambda: Version.TV_2,
    ) -> None:
        """`new_producer_id` returns an id that was never used; `transactions` are in the log; `version` returns the
        finalized level of `transaction.version`."""
        self._version = version
        self._settings = settings
        self._new_producer_id = new_producer_id
        self._transactions = {transaction.transactional_id: transaction for transaction in transactions}
        self._checked_ms = 0

    @property
    def transactions(self) -> Mapping[str, Transaction]:
        return self._transactions

    def prepared(self) -> list[Transaction]:
        """Transactions whose markers are not all written: a restart must complete them."""
        return [transaction for transaction in self._transactions.values() if transaction.state.is_prepared]

    def init_producer_id(
        self, transactional_id: str, timeout_ms: int, expected: ProducerIdentity | None, now_ms: int
    ) -> Outcome:
        """InitProducerId; `expected`: the previous identity of a producer that continues after an error
        (KIP-360)."""
        if not transactional_id:
            return Outcome(error=ErrorCode.INVALID_REQUEST)
        if not 0 < timeout_ms <= self._settings.transaction_max_timeout_ms:
            return Outcome(error=ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        transaction = self._transactions.get(transactional_id)
        if transaction is None:
            producer = ProducerIdentity(self._new_producer_id(), NO_PRODUCER_EPOCH)
            transaction = Transaction(
                transactional_id=transactional_id, producer=producer, timeout_ms=timeout_ms, updated_ms=now_ms
            )
        if expected is not None and not _is_current_producer(transaction, expected):
            return Outcome(error=ErrorCode.PRODUCER_FENCED)
        if transaction.state.is_prepared:
            return Outcome(error=ErrorCode.CONCURRENT_TRANSACTIONS)
        if transaction.state is State.ONGOING:
            # The producer retries, and then the transaction has ended.
            return Outcome(error=ErrorCode.CONCURRENT_TRANSACTIONS, change=self._abort(transaction, now_ms))
        next_one = self._next_producer(transaction, expected)
        if next_one is None:
            return Outcome(error=ErrorCode.PRODUCER_FENCED)
        producer, last_epoch = next_one
        change = self._change(transaction.reset(producer, last_epoch, timeout_ms, now_ms))
        return Outcome(producer=producer, change=change)

    def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        partitions: Collection[TopicPartition],
        version: TransactionVersion,
        now_ms: int,
    ) -> Outcome:
        """AddPartitionsToTxn and, for the partition of the group's offsets, AddOffsetsToTxn."""
        transaction = self._find(transactional_id, producer)
        if isinstance(transaction, ErrorCode):
            return Outcome(error=transaction)
        if transaction.state is State.ONGOING and transaction.partitions.issuperset(partitions):
            return Outcome()
        change = self._change(transaction.with_partitions(frozenset(partitions), version, now_ms))
        return Outcome(change=change)

    def verify(
        self, transactional_id: str, producer: ProducerIdentity, partition: TopicPartition
    ) -> ErrorCode:
        """Whether a partition is part of the producer's transaction; TRANSACTION_ABORTABLE if not."""
        transaction = self._find(transactional_id, producer)
        if isinstance(transaction, ErrorCode):
            return transaction
        return ErrorCode.NONE if partition in transaction.partitions else ErrorCode.TRANSACTION_ABORTABLE

    def end(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        *,
        committed: bool,
        version: TransactionVersion,
        now_ms: int,
    ) -> Outcome:
        """EndTxn. In version 2 the answer has the epoch of the producer's next transaction."""
        if not transactional_id:
            return Outcome(error=ErrorCode.INVALID_REQUEST)
        transaction = self._transactions.get(transactional_id)
        if transaction is None:
            return Outcome(error=ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        error = _judge_end(transaction, producer, committed, version)
        if error is ErrorCode.NONE:
            return Outcome(producer=transaction.producer)
        if error is not None:
            return Outcome(error=error)
        rotates = version.bumps_epoch and not transaction.has_epochs_left
        next_id = self._new_producer_id() if rotates else NO_PRODUCER_ID
        change = transaction.prepared(committed=committed, version=version, next_id=next_id, now_ms=now_ms)
        self._change(change)
        return Outcome(producer=ProducerIdentity(next_id, 0) if rotates else change.producer, change=change)

    def complete(self, transactional_id: str, now_ms: int) -> Transaction:
        """The markers of a prepared transaction are written: the change that completes it."""
        return self._change(self._transactions[transactional_id].completed(now_ms))

    def next_deadline(self) -> int | None:
        """When to call `expire` next, in ms; None: not before another call."""
        if not self._transactions:
            return None
        return self._checked_ms + self._settings.transaction_abort_timed_out_transaction_cleanup_interval_ms

    def expire(self, now_ms: int) -> list[Transaction]:
        """The changes that are due: transactions that took too long are aborted, unused ids are removed."""
        self._checked_ms = now_ms
        changes = []
        for transaction in list(self._transactions.values()):
            expires_ms = transaction.updated_ms + self._settings.transactional_id_expiration_ms
            if transaction.state is State.ONGOING:
                if transaction.started_ms + transaction.timeout_ms < now_ms:
                    changes.append(self._abort(transaction, now_ms))
            elif not transaction.state.is_prepared and expires_ms <= now_ms:
                del self._transactions[transaction.transactional_id]
                changes.append(replace(transaction, state=State.DEAD))
        return changes

    def _find(self, transactional_id: str, producer: ProducerIdentity) -> Transaction | ErrorCode:
        """The transactional id of the producer, unless its transaction is ending."""
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        transaction = self._transactions.get(transactional_id)
        if transaction is None or transaction.producer.id != producer.id:
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING
        if transaction.producer.epoch != producer.epoch:
            return ErrorCode.PRODUCER_FENCED
        return ErrorCode.CONCURRENT_TRANSACTIONS if transaction.state.is_prepared else transaction

    def _next_producer(
        self, transaction: Transaction, expected: ProducerIdentity | None
    ) -> tuple[ProducerIdentity, int] | None:
        """The new identity of a producer that initializes, and the last epoch to remember; None: it was fenced."""
        current = transaction.producer
        if expected is None or current.epoch in (NO_PRODUCER_EPOCH, expected.epoch):
            last_epoch = NO_PRODUCER_EPOCH if expected is None else current.epoch
            if transaction.has_epochs_left:
                return current._replace(epoch=current.epoch + 1), last_epoch
            return ProducerIdentity(self._new_producer_id(), 0), last_epoch
        repeated = expected.epoch == transaction.last_epoch
        return (current, transaction.last_epoch) if repeated else None

    def _abort(self, transaction: Transaction, now_ms: int) -> Transaction:
        """Fence the producer of a transaction, and abort it."""
        return self._change(transaction.fenced(self._version(), now_ms))

    def _change(self, transaction: Transaction) -> Transaction:
        self._transactions[transaction.transactional_id] = transaction
        return transaction


def _is_current_producer(transaction: Transaction, expected: ProducerIdentity) -> bool:
    """Whether the transactional id belongs to this producer, by its producer id; its epoch is checked later."""
    is_late = expected.id == transaction.previous_id and expected.epoch >= MAX_EPOCH - 1
    is_new = transaction.producer.epoch == NO_PRODUCER_EPOCH
    return is_new or is_late or expected.id == transaction.producer.id


def _judge_end(
    transaction: Transaction, producer: ProducerIdentity, committed: bool, version: TransactionVersion
) -> ErrorCode | None:
    """The result of an EndTxn. NONE: it was done before; None: it must be done now. From v5 on every end bumps the
    epoch, which identifies a repeated request."""
    state, current = transaction.state, transaction.producer
    bumps = version.bumps_epoch
    rotated = bumps and (producer.epoch, current.epoch) == (MAX_EPOCH - 1, 0)
    is_late = rotated and transaction.previous_id == producer.id
    if current.id != producer.id and not is_late:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    is_current = current.epoch == producer.epoch
    is_repeated = bumps and (is_late or current.epoch == producer.epoch + 1)
    if not bumps or state in (State.ONGOING, State.EMPTY):
        is_valid = is_current
    else:
        is_valid = is_repeated and not is_late if state.is_prepared else is_repeated or is_current
    if not is_valid:
        return ErrorCode.PRODUCER_FENCED
    if state is State.ONGOING:
        return None
    if bumps and not is_repeated:  # an abort without partitions bumps the epoch
        return ErrorCode.INVALID_TXN_STATE if committed else None
    if state is (State.COMPLETE_COMMIT if committed else State.COMPLETE_ABORT):
        return ErrorCode.NONE
    if state is (State.PREPARE_COMMIT if committed else State.PREPARE_ABORT):
        return ErrorCode.CONCURRENT_TRANSACTIONS
    return ErrorCode.INVALID_TXN_STATE
