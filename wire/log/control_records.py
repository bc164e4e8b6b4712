"""Control records: markers and those of the metadata quorum. Source: ControlRecordType, EndTransactionMarker."""

import struct
from enum import IntEnum

from wire.log.batch_header import Batch
from wire.log.log_records import LogRecord, records_of

_KEY = struct.Struct(">hh")
_END_OF_TRANSACTION = struct.Struct(">hi")


class ControlType(IntEnum):
    """Types of control records. UNKNOWN is any other; readers skip it, as a broker does."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class MalformedControlRecord(ValueError):
    """The key or value of a control record is too short, or its version is negative."""


def control_type(record: LogRecord) -> ControlType:
    """The type of a record of a control batch. Raises MalformedControlRecord: its key has none."""
    return control_type_of(record.key or b"")


def control_type_of(key: bytes) -> ControlType:
    """The type in the key of a control record. Raises MalformedControlRecord: it has none."""
    if len(key) < _KEY.size:
        raise MalformedControlRecord(f"the key of a control record has {len(key)} bytes")
    version, number = _KEY.unpack_from(key)
    if version < 0:
        raise MalformedControlRecord(f"the key of a control record has version {version}")
    return ControlType(number) if number in _NUMBERS else ControlType.UNKNOWN


def ending(batch: Batch, data: bytes) -> ControlType | None:
    """ABORT or COMMIT of a control batch; None: another type or empty. Raises MalformedControlRecord or DamagedLog."""
    records = records_of(batch, data)
    kind = control_type(records[0]) if records else None
    return kind if kind in (ControlType.ABORT, ControlType.COMMIT) else None


def coordinator_epoch(value: bytes | None) -> int:
    """The coordinator's epoch in a transaction marker. Raises MalformedControlRecord: the value has none."""
    if value is None or len(value) < _END_OF_TRANSACTION.size:
        raise MalformedControlRecord(f"the value of a transaction's end has {len(value or b'')} bytes")
    version, epoch = _END_OF_TRANSACTION.unpack_from(value)
    if version < 0:
        raise MalformedControlRecord(f"the value of a transaction's end has version {version}")
    return int(epoch)


def end_of_transaction(kind: ControlType, epoch: int) -> tuple[bytes, bytes]:
    """Key and value of a transaction marker; `epoch` is the transaction coordinator's."""
    return _KEY.pack(0, kind), _END_OF_TRANSACTION.pack(0, epoch)


_NUMBERS = frozenset(ControlType)
