"""The header of a record batch, magic 2: 61 bytes, big-endian, the fields of `HEADER`. The length counts what
follows it. The checksum (CRC-32C) covers the attributes and everything after them, so base offset, length, leader
epoch and magic are not protected. Attributes: bits 0-2 codec, 3 the broker's timestamp instead of the client's, 4
transactional, 5 control, 6 the base timestamp is a delete horizon (KIP-534). Source: DefaultRecordBatch."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from wire.log.compression import Codec
from wire.log.varints import Ints

MAGIC = 2
HEADER_BYTES = 61
LOG_OVERHEAD = 12  # base offset and length, which the length does not count
ATTRIBUTES_AT = 21  # the first byte that the checksum covers

CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_TIMESTAMP = -1


class ProducerIdentity(NamedTuple):
    """Producer id and epoch, -1 for none."""

    id: int = NO_PRODUCER_ID
    epoch: int = NO_PRODUCER_EPOCH


HEADER = np.dtype(
    [
        ("base_offset", ">i8"),
        ("length", ">i4"),
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("count", ">i4"),
    ]
)
Headers: TypeAlias = NDArray[np.void]
_HEADER = struct.Struct(">qiibIhiqqqhii")


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch's header, whose fields are first. Timestamps are ms since 1970; `position`, `size`: in the file."""

    base_offset: int
    leader_epoch: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int
    position: int
    size: int
    file: str = ""

    @property
    def codec(self) -> Codec:
        return Codec(self.attributes & CODEC_MASK)

    @property
    def log_append_time(self) -> bool:
        """Whether every record has the broker's timestamp, `max_timestamp`, instead of its producer's."""
        return bool(self.attributes & LOG_APPEND_TIME)

    @property
    def is_transactional(self) -> bool:
        """Whether the records belong to a transaction of `producer_id`."""
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """Whether the records are control records instead of data."""
        return bool(self.attributes & CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """The time at which compaction may drop tombstones and markers; None: it has not processed the batch."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON else None

    @property
    def last_offset(self) -> int:
        """The offset of the last record, or of the record that was last before compaction."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The first offset that can follow."""
        return self.last_offset + 1

    @property
    def last_sequence(self) -> int:
        """The producer's sequence number of the last record; -1 without a producer."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return add_to_sequence(self.base_sequence, self.last_offset_delta)


class Batches(Sequence[Batch]):
    """The batches of a file in their order, stored as a table; a `Batch` is created on access. `data`: the file's
    bytes; `file`: its name; `positions`: the first byte of each batch, ascending; `headers`: of type `HEADER`."""

    __slots__ = ("data", "file", "headers", "positions")

    def __init__(self, data: bytes, file: str, positions: Ints, headers: Headers) -> None:
        self.data = data
        self.file = file
        self.positions = positions
        self.headers = headers

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, index: int) -> Batch: ...
    @overload
    def __getitem__(self, index: slice) -> "Batches": ...
    def __getitem__(self, index: int | slice) -> "Batch | Batches":
        if isinstance(index, slice):
            return Batches(self.data, self.file, self.positions[index], self.headers[index])
        return _batch(self.headers[index].tolist(), int(self.positions[index]), self.file)

    @property
    def end(self) -> int:
        """The byte after the last batch."""
        return int(self.ends[-1]) if len(self) else 0

    @property
    def ends(self) -> Ints:
        ends: Ints = self.positions + self.headers["length"] + LOG_OVERHEAD
        return ends

    @property
    def last_offsets(self) -> Ints:
        offsets: Ints = self.headers["base_offset"].astype(np.int64) + self.headers["last_offset_delta"]
        return offsets

    @property
    def records(self) -> int:
        return int(self.headers["count"].sum(dtype=np.int64))


def batch_at(data: bytes | bytearray, start: int = 0, position: int = 0) -> Batch:
    """The batch whose header starts at `start`, unchecked; `position`: in the file. Raises struct.error."""
    return _batch(_HEADER.unpack_from(data, start), position, "")


def add_to_sequence(sequence: int, delta: int) -> int:
    """Sequence numbers wrap to 0 after 2^31 - 1."""
    return (sequence + delta) & 0x7FFFFFFF


def _batch(header: tuple[int, ...], position: int, file: str) -> Batch:
    base_offset, length, leader_epoch, _, _, *rest = header
    fields: list[Any] = [base_offset, leader_epoch, *rest, position, length + LOG_OVERHEAD, file]
    return Batch(*fields)
