"""`__transaction_state-N` in the data directory: the last record of every transactional id is its state. The
directories are created with the first transactional id: most servers never have one. Source: TransactionLog."""

import struct
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from uuid import UUID, uuid4

from coordinator.store.log import SegmentLimits
from coordinator.store.log_compaction import LogCompaction
from coordinator.store.log_files import StoredLog
from coordinator.store.partition_files import TRANSACTIONS_TOPIC, partition_for
from coordinator.store.topic_log import TopicLog, partitions_of
from coordinator.transactions.transaction import (
    TopicPartition,
    Transaction,
    TransactionState,
    TransactionVersion,
)
from wire.log.batch_header import ProducerIdentity
from wire.log.columns import columns_of
from wire.log.errors import DamagedLog
from wire.log.segments import Segment
from wire.messages.reader import DICTIONARIES, DecodeError, message_reader
from wire.messages.schemas.transactions import TRANSACTION_RECORD
from wire.messages.writer import message_writer

_INT16 = struct.Struct(">h")
_WRITTEN = TRANSACTION_RECORD.written


def encode_transaction(transaction: Transaction) -> tuple[bytes, bytes | None]:
    """Key and value of a transactional id; a tombstone if it is Dead. Raises ValueError: a name is too long."""
    key = bytearray(_INT16.pack(TRANSACTION_RECORD.id))
    message_writer(TRANSACTION_RECORD.key, 0, str)(key, {"transactionalId": transaction.transactional_id})
    if transaction.state is TransactionState.DEAD:
        return bytes(key), None
    value = bytearray(_INT16.pack(_WRITTEN))
    message_writer(TRANSACTION_RECORD.value, _WRITTEN, str)(value, _fields(transaction))
    return bytes(key), bytes(value)


def decode_transactional_id(key: bytes) -> str | None:
    """The transactional id in a key; None for a type that Kafka 4.4 does not know. Raises DecodeError."""
    if _number(key) != TRANSACTION_RECORD.id:
        return None
    fields, _ = message_reader(TRANSACTION_RECORD.key, 0, DICTIONARIES)(key, _INT16.size)
    transactional_id: str = fields["transactionalId"]
    return transactional_id


def decode_transaction(transactional_id: str, value: bytes) -> Transaction:
    """Decode the value of a record. Raises DecodeError: it is malformed, or written by a later Kafka."""
    version = _number(value)
    if not 0 <= version <= TRANSACTION_RECORD.value.newest:
        raise DecodeError(f"TransactionLogValue has no version {version}")
    fields, _ = message_reader(TRANSACTION_RECORD.value, version, DICTIONARIES)(value, _INT16.size)
    try:
        state = TransactionState(fields["transactionStatus"])
        client_version = TransactionVersion(fields["clientTransactionVersion"])
    except ValueError as error:
        raise DecodeError(str(error)) from None
    return Transaction(
        transactional_id=transactional_id,
        producer=ProducerIdentity(fields["producerId"], fields["producerEpoch"]),
        previous_id=fields["previousProducerId"],
        next_id=fields["nextProducerId"],
        timeout_ms=fields["transactionTimeoutMs"],
        state=state,
        partitions=frozenset(
            (topic["topic"], partition)
            for topic in fields["transactionPartitions"] or ()
            for partition in topic["partitionIds"]
        ),
        started_ms=fields["transactionStartTimestampMs"],
        updated_ms=fields["transactionLastUpdateTimestampMs"],
        version=client_version,
    )


def by_topic(partitions: Iterable[TopicPartition]) -> list[tuple[str, list[int]]]:
    by_name = groupby(sorted(partitions), key=lambda one: one[0])
    return [(topic, [partition for _, partition in some]) for topic, some in by_name]


def _fields(transaction: Transaction) -> dict[str, object]:
    partitions = [
        {"topic": name, "partitionIds": numbers} for name, numbers in by_topic(transaction.partitions)
    ]
    return {
        "producerId": transaction.producer.id,
        "producerEpoch": transaction.producer.epoch,
        "previousProducerId": transaction.previous_id,
        "nextProducerId": transaction.next_id,
        "transactionTimeoutMs": transaction.timeout_ms,
        "transactionStatus": transaction.state.value,
        "transactionPartitions": None if transaction.state is TransactionState.EMPTY else partitions,
        "transactionLastUpdateTimestampMs": transaction.updated_ms,
        "transactionStartTimestampMs": transaction.started_ms,
        "clientTransactionVersion": transaction.version.value,
    }


def _number(data: bytes) -> int:
    if len(data) < _INT16.size:
        raise DecodeError(f"a record of {len(data)} bytes is too short for its number")
    number: int = _INT16.unpack_from(data)[0]
    return number


class TransactionsLog:
    def __init__(self, root: Path, partitions: int, limits: SegmentLimits, *, was_clean: bool) -> None:
        """Load the log. Raises DamagedLog. Raises StorageFailed. Raises Unusable."""
        self._root, self._partitions, self._limits = root, partitions, limits
        self.recovered: dict[str, Transaction] = {}  # at the start, by transactional id
        self._new_id = uuid4()
        self._log: TopicLog | None = None
        self.appended: Callable[[Collection[int]], object] = lambda _: None  # as `TopicLog.appended`
        if partitions_of(root, TRANSACTIONS_TOPIC):
            self._log = self._open(was_clean=was_clean)

    @property
    def partitions(self) -> int:
        """The partitions of `__transaction_state`, which is created with the first transaction."""
        return self._partitions if self._log is None else len(self._log)

    @property
    def topic_id(self) -> UUID:
        """The id of `__transaction_state`, also before it is created."""
        return self._new_id if self._log is None else self._log.topic_id

    def append(self, transaction: Transaction, now_ms: int) -> None:
        """Write the state of a transactional id. Raises StorageFailed."""
        if self._log is None:
            self._log = self._open(was_clean=False)
        partition = partition_for(transaction.transactional_id, len(self._log))
        self._log.append({partition: [encode_transaction(transaction)]}, now_ms)

    def unsynced(self) -> Callable[[], object] | None:
        return None if self._log is None else self._log.unsynced()

    def compactions(self) -> Iterator[LogCompaction]:
        """As `TopicLog.compactions`; none while there is no log."""
        return iter(()) if self._log is None else self._log.compactions()

    def stored(self, number: int) -> StoredLog | None:
        return None if self._log is None else self._log.stored(number)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def abandon(self) -> None:
        if self._log is not None:
            self._log.abandon()

    def _open(self, *, was_clean: bool) -> TopicLog:
        log = TopicLog.open(
            self._root,
            TRANSACTIONS_TOPIC,
            self._partitions,
            self._limits,
            lambda _, segment: self._read(segment),
            was_clean=was_clean,
            new_id=self._new_id,
        )
        log.appended = lambda partitions: self.appended(partitions)  # noqa: PLW0108  set later
        return log

    def _read(self, segment: Segment) -> None:
        """Apply a segment; only the last record of a key is decoded."""
        for columns in columns_of(segment.batches):
            last = {columns.key(index): index for index in range(len(columns))}
            for key, index in last.items():
                try:
                    transactional_id, value = decode_transactional_id(key or b""), columns.value(index)
                    if transactional_id is not None and value is not None:
                        self.recovered[transactional_id] = decode_transaction(transactional_id, value)
                    elif transactional_id is not None:
                        self.recovered.pop(transactional_id, None)
                except DecodeError as error:
                    batch = segment.batches[int(columns.batch_of[index])]
                    reason = f"the record at offset {columns.offsets[index]} cannot be decoded: {error}"
                    raise DamagedLog(segment.path, batch.position, reason) from None
