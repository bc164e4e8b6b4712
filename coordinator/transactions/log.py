"""`__transaction_state-N` in the data directory: the last record of every transactional id is its state.

The directories are created with the first transactional id: most servers never have one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from uuid import UUID, uuid4

from coordinator.store.log import SegmentLimits
from coordinator.store.partition_files import TRANSACTIONS_TOPIC, partition_for
from coordinator.store.topic_log import ActivePartition, TopicLog, partitions_of
from coordinator.transactions.records import (
    decode_transaction,
    decode_transactional_id,
    encode_transaction,
)
from coordinator.transactions.transaction import Transaction
from wire.log.batches import columns_of
from wire.log.errors import DamagedLog
from wire.log.segments import Segment
from wire.messages.reader import DecodeError


class TransactionsLog:
    """See the module."""

    def __init__(self, root: Path, partitions: int, limits: SegmentLimits, *, was_clean: bool) -> None:
        """Load the log. :raises DamagedLog: :raises StorageFailed: :raises Unusable:"""
        self._root, self._partitions, self._limits = root, partitions, limits
        self.recovered: dict[str, Transaction] = {}
        """The content of the log when it was opened, by transactional id."""
        self._new_id = uuid4()
        self._log: TopicLog | None = None
        self._appended: Callable[[Collection[int]], object] | None = None
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
        """Write the state of a transactional id. :raises StorageFailed:"""
        if self._log is None:
            self._log = self._open(was_clean=False)
            if self._appended is not None:
                self.watch(self._appended)
        partition = partition_for(transaction.transactional_id, len(self._log))
        self._log.append({partition: [encode_transaction(transaction)]}, now_ms)

    def watch(self, appended: Callable[[Collection[int]], object]) -> None:
        """Call `appended` with the partitions that are written to."""
        self._appended = appended
        if self._log is not None:
            self._log.appended = appended

    def begin_epoch(self, number: int, epoch: int) -> None:
        """As `TopicLog.begin_epoch`."""
        if self._log is not None:
            self._log.begin_epoch(number, epoch)

    def unsynced(self) -> Callable[[], object] | None:
        """As `TopicLog.unsynced`."""
        return None if self._log is None else self._log.unsynced()

    def active(self) -> Iterator[ActivePartition]:
        """As `TopicLog.active`; none while there is no log."""
        return iter(()) if self._log is None else self._log.active()

    def close(self) -> None:
        """As `TopicLog.close`."""
        if self._log is not None:
            self._log.close()

    def abandon(self) -> None:
        """As `TopicLog.abandon`."""
        if self._log is not None:
            self._log.abandon()

    def _open(self, *, was_clean: bool) -> TopicLog:
        return TopicLog.open(
            self._root,
            TRANSACTIONS_TOPIC,
            self._partitions,
            self._limits,
            lambda _, segment: self._read(segment),
            was_clean=was_clean,
            new_id=self._new_id,
        )

    def _read(self, segment: Segment) -> None:
        """Apply a segment; only the last record of a key is decoded."""
        for columns in columns_of(segment.batches):
            last = {columns.key(index): index for index in range(len(columns))}
            for key, index in last.items():
                try:
                    self._replay(key or b"", columns.value(index))
                except DecodeError as error:
                    batch = segment.batches[int(columns.batch_of[index])]
                    reason = f"the record at offset {columns.offsets[index]} cannot be decoded: {error}"
                    raise DamagedLog(segment.path, batch.position, reason) from None

    def _replay(self, key: bytes, value: bytes | None) -> None:
        transactional_id = decode_transactional_id(key)
        if transactional_id is None:
            return
        if value is None:
            self.recovered.pop(transactional_id, None)
        else:
            self.recovered[transactional_id] = decode_transaction(transactional_id, value)
