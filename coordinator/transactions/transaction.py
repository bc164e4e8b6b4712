"""A transactional id: its producer and its transaction. Source: TransactionMetadata, TransactionState."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from wire.log.batch_header import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ProducerIdentity

MAX_EPOCH = 2**15 - 1
NO_START = -1
TopicPartition: TypeAlias = tuple[str, int]


class TransactionState(Enum):
    """The state of a transaction: its number in the log; `shown` is its name in Kafka."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def shown(self) -> str:
        return self.name.title().replace("_", "")

    @property
    def is_prepared(self) -> bool:
        """Whether the end is decided, and markers are not all written."""
        return self in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)


class TransactionVersion(Enum):
    """The feature `transaction.version`: 2 bumps the epoch with every transaction (KIP-890)."""

    TV_0 = 0
    TV_1 = 1
    TV_2 = 2

    @property
    def bumps_epoch(self) -> bool:
        return self is TransactionVersion.TV_2


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """A transactional id; times are ms since 1970. `previous_id` and `last_epoch` (not in the log): the previous
    identity, of a repeated request. `next_id`: the producer id after this transaction, if epochs have run out."""

    transactional_id: str
    producer: ProducerIdentity
    timeout_ms: int
    updated_ms: int
    state: TransactionState = TransactionState.EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    started_ms: int = NO_START
    previous_id: int = NO_PRODUCER_ID
    next_id: int = NO_PRODUCER_ID
    last_epoch: int = NO_PRODUCER_EPOCH
    version: TransactionVersion = TransactionVersion.TV_0

    @property
    def has_epochs_left(self) -> bool:
        """Whether a higher epoch can be assigned. The highest is reserved, so that every client can be fenced."""
        return self.producer.epoch < MAX_EPOCH - 1

    def fenced(self, version: TransactionVersion, now_ms: int) -> Transaction:
        """The transaction with its abort decided, and an epoch that no client has: the producer is refused."""
        return replace(
            self,
            state=TransactionState.PREPARE_ABORT,
            producer=self.producer._replace(epoch=min(self.producer.epoch + 1, MAX_EPOCH)),
            previous_id=self.producer.id,
            last_epoch=NO_PRODUCER_EPOCH,
            updated_ms=now_ms,
            version=version,
        )

    def reset(self, producer: ProducerIdentity, last_epoch: int, timeout_ms: int, now_ms: int) -> Transaction:
        """The transactional id for a producer that starts, or restarts."""
        return replace(
            self,
            producer=producer,
            previous_id=self.producer.id,
            next_id=NO_PRODUCER_ID,
            last_epoch=last_epoch,
            timeout_ms=timeout_ms,
            state=TransactionState.EMPTY,
            partitions=frozenset(),
            started_ms=NO_START,
            updated_ms=now_ms,
        )

    def with_partitions(
        self, partitions: frozenset[TopicPartition], version: TransactionVersion, now_ms: int
    ) -> Transaction:
        """The transaction, Ongoing, with these additional partitions."""
        begins = self.state is not TransactionState.ONGOING
        return replace(
            self,
            state=TransactionState.ONGOING,
            partitions=self.partitions | partitions,
            started_ms=now_ms if begins else self.started_ms,
            updated_ms=now_ms,
            previous_id=self.producer.id,
            version=version,
        )

    def prepared(
        self, *, committed: bool, version: TransactionVersion, next_id: int, now_ms: int
    ) -> Transaction:
        """The transaction with its end decided. In version 2 the producer gets the next epoch with it, and a
        transaction without partitions can be aborted, too: it starts and ends at the same time."""
        bumps, epoch = version.bumps_epoch, self.producer.epoch
        is_ongoing = self.state is TransactionState.ONGOING
        return replace(
            self,
            state=TransactionState.PREPARE_COMMIT if committed else TransactionState.PREPARE_ABORT,
            producer=self.producer._replace(epoch=min(epoch + 1, MAX_EPOCH) if bumps else epoch),
            previous_id=self.producer.id,
            next_id=next_id,
            last_epoch=epoch if bumps else self.last_epoch,
            started_ms=self.started_ms if is_ongoing else now_ms,
            updated_ms=now_ms,
            version=version,
        )

    def completed(self, now_ms: int) -> Transaction:
        """The transaction with all its markers written."""
        is_commit = self.state is TransactionState.PREPARE_COMMIT
        rotates = self.version.bumps_epoch and self.next_id != NO_PRODUCER_ID
        return replace(
            self,
            state=TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT,
            producer=ProducerIdentity(self.next_id, 0) if rotates else self.producer,
            previous_id=self.producer.id,
            next_id=NO_PRODUCER_ID,
            partitions=frozenset(),
            updated_ms=now_ms,
        )
