"""The records of `__transaction_state`, in Kafka's schema. Source: TransactionLog."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from coordinator.transactions.transaction import (
    TopicPartition,
    Transaction,
    TransactionState,
    TransactionVersion,
)
from wire.log.batch_header import ProducerIdentity
from wire.messages.reader import DICTIONARIES, DecodeError, message_reader
from wire.messages.schemas.transactions import TRANSACTION_RECORD
from wire.messages.writer import message_writer

_INT16 = struct.Struct(">h")
_WRITTEN = TRANSACTION_RECORD.written


def encode_transaction(transaction: Transaction) -> tuple[bytes, bytes | None]:
    """Key and value of a transactional id; a tombstone if it is Dead. :raises ValueError: a name is too long"""
    key = bytearray(_INT16.pack(TRANSACTION_RECORD.id))
    message_writer(TRANSACTION_RECORD.key, 0, str)(key, {"transactionalId": transaction.transactional_id})
    if transaction.state is TransactionState.DEAD:
        return bytes(key), None
    value = bytearray(_INT16.pack(_WRITTEN))
    message_writer(TRANSACTION_RECORD.value, _WRITTEN, str)(value, _fields(transaction))
    return bytes(key), bytes(value)


def decode_transactional_id(key: bytes) -> str | None:
    """The transactional id of a record; None for a record type that Kafka 4.3 does not know. :raises DecodeError:"""
    if _number(key) != TRANSACTION_RECORD.id:
        return None
    fields, _ = message_reader(TRANSACTION_RECORD.key, 0, DICTIONARIES)(key, _INT16.size)
    transactional_id: str = fields["transactionalId"]
    return transactional_id


def decode_transaction(transactional_id: str, value: bytes) -> Transaction:
    """Decode the value of a record. :raises DecodeError: it is malformed, or written by a later Kafka"""
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
    """Partitions grouped by topic, both in order."""
    return [
        (topic, [partition for _, partition in some])
        for topic, some in groupby(sorted(partitions), key=lambda one: one[0])
    ]


def _fields(transaction: Transaction) -> dict[str, Any]:
    partitions = [
        {"topic": topic, "partitionIds": numbers} for topic, numbers in by_topic(transaction.partitions)
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
