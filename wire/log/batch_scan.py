"""The search for batches in a file's bytes. A header is trusted only if its checksum is right. The scan also checks
the offset, which the checksum does not cover, and that the counts are plausible, which a right checksum does not
prove. It ends at the first batch that fails. `BatchSearch` finds the next whole batch among other bytes."""

import struct
import zlib
from dataclasses import dataclass

import numpy as np

from wire.log.batch_header import (
    ATTRIBUTES_AT,
    CODEC_MASK,
    DELETE_HORIZON,
    HEADER,
    HEADER_BYTES,
    LOG_OVERHEAD,
    MAGIC,
    Batches,
)
from wire.log.checksum import crc32c
from wire.log.compression import Codec
from wire.log.varints import Ints

SMALLEST_RECORD = 7  # the size of a record without key, value and headers

_FRONT = struct.Struct(">iibI")
_FRONT_AT = 8
_OFFSET = struct.Struct(">q")
_MAGIC_AT = 16
_OLD_FRONT = struct.Struct(">iIb")
_OLD_SMALLEST = 14
_OLD_CRC_FROM = 16

_LENGTH = struct.Struct(">i")
_NEGATIVE = 0x80  # the first byte of a negative number is at least this
_STEP_BYTES = 1 << 20
_READINGS = 4  # the limit of a search: the time to compute the checksum of the file's bytes this many times
_LEAST_COST = 1 << 10  # of a candidate: the bytes whose checksum can be computed in the same time


@dataclass(frozen=True, slots=True)
class BatchFault:
    """Why the scan ended before the bytes. `unfinished`: a cut-off write can cause this; else they have changed."""

    position: int
    reason: str
    unfinished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The batches before the first fault, or all of them."""

    batches: Batches
    fault: BatchFault | None


def scan(data: bytes, file: str, *, checksums: bool = True) -> Scan:
    """Find the batches in `data`, which starts with one. Without `checksums` the headers are trusted."""
    positions, end = _checked_batches(data, 0, checksums=checksums)
    headers = b"".join([data[start : start + HEADER_BYTES] for start in positions])
    table = np.frombuffer(headers, dtype=HEADER)
    batches = Batches(data, file, np.array(positions, dtype=np.int64), table)
    liar = _first_impossible(batches)
    if liar is not None:
        index, reason = liar
        return Scan(batches=batches[:index], fault=BatchFault(positions[index], reason, unfinished=False))
    due = int(batches.last_offsets[-1]) + 1 if len(batches) else 0
    return Scan(batches=batches, fault=None if end == len(data) else _fault(data, end, due))


def whole_batch_at(data: bytes, position: int) -> bool:
    """Whether there is a batch with the right checksum at `position`."""
    return bool(_checked_batches(data, position, most=1)[0])


def _checked_batches(
    data: bytes, position: int, most: int = -1, *, checksums: bool = True
) -> tuple[list[int], int]:
    """The positions of the batches that are whole by length and checksum, and the byte after them."""
    view = memoryview(data)
    size = len(data)
    last = size - HEADER_BYTES
    unpack = _FRONT.unpack_from
    positions: list[int] = []
    while position <= last and len(positions) != most:
        length, _, magic, crc = unpack(data, position + _FRONT_AT)
        end = position + LOG_OVERHEAD + length
        if magic != MAGIC or end < position + HEADER_BYTES or end > size:
            break
        if checksums and crc32c(view[position + ATTRIBUTES_AT : end]) != crc:
            break
        positions.append(position)
        position = end
    return positions, position


def _first_impossible(batches: Batches) -> tuple[int, str] | None:
    """The first batch whose checksum is right and whose header is impossible, and why."""
    headers = batches.headers
    base: Ints = headers["base_offset"].astype(np.int64)
    delta: Ints = headers["last_offset_delta"].astype(np.int64)
    count: Ints = headers["count"].astype(np.int64)
    codec = headers["attributes"] & CODEC_MASK
    payload: Ints = headers["length"].astype(np.int64) + (LOG_OVERHEAD - HEADER_BYTES)
    descending = np.zeros(len(batches), dtype=bool)
    descending[1:] = base[1:] <= (base + delta)[:-1]
    checks = (
        (base < 0, "a base offset of {base_offset}"),
        ((delta < 0) | (base + delta < 0), "a last offset delta of {last_offset_delta}"),
        ((count < 0) | (count > delta + 1), "{count} records on {last_offset_delta} + 1 offsets"),
        # A plain number: numpy inspects any other object, and a Ctrl-C during that would be lost.
        (codec > max(Codec).value, "an unknown codec in the attributes {attributes:#06x}"),
        (
            (codec == 0) & (count * SMALLEST_RECORD > payload),
            "{count} records do not fit the length {length}",
        ),
        (descending, "the base offset {base_offset} is not above the last offset of the batch before"),
    )
    faults = [(int(np.argmax(wrong)), reason) for wrong, reason in checks if wrong.any()]
    if not faults:
        return None
    index, reason = min(faults, key=lambda fault: fault[0])
    header = headers[index]
    fields = {name: int(header[name]) for name in HEADER.fields or ()}
    return index, reason.format_map(fields)


def _fault(data: bytes, position: int, due: int) -> BatchFault:
    """The fault of the bytes at `position`, which are not a whole batch. The next offset is at least `due`."""
    old = _old_format(data, position)
    if old is not None:
        return BatchFault(position, old, unfinished=False)
    left = len(data) - position
    header = data[position : position + HEADER_BYTES]
    if len(header) < HEADER_BYTES:
        reason = f"{left} bytes are left, fewer than a batch header has ({HEADER_BYTES})"
        return BatchFault(position, reason, unfinished=True)
    impossible = _impossible(header, due)
    if impossible is not None:
        # If nothing was written from the magic on, the bytes before it may be half a number.
        return BatchFault(position, impossible, unfinished=not any(header[_MAGIC_AT:]))
    length, _, _, crc = _FRONT.unpack_from(header, _FRONT_AT)
    size = length + LOG_OVERHEAD
    reason = f"a batch of {size} bytes, of which only {left} exist"
    if size <= left:
        computed = crc32c(memoryview(data)[position + ATTRIBUTES_AT : position + size])
        reason = f"the batch's checksum is {crc:08x}, its bytes give {computed:08x}"
    return BatchFault(position, reason, unfinished=True)


def _impossible(header: bytes, due: int) -> str | None:
    """Why a header cannot be that of a batch at this place."""
    (base_offset,) = _OFFSET.unpack_from(header)
    length, _, magic, _ = _FRONT.unpack_from(header, _FRONT_AT)
    if length + LOG_OVERHEAD < HEADER_BYTES:
        return f"a batch length of {length}, less than the header takes"
    if magic != MAGIC:
        return f"a batch of magic {magic}, where Kafka writes {MAGIC}"
    if base_offset < due:
        return f"a broken batch at offset {base_offset}, where {due} or a later one is due"
    return None


def _old_format(data: bytes, position: int) -> str | None:
    """The error about a message set of magic 0 or 1 with the right checksum (a CRC-32 of everything after it)."""
    if len(data) - position < _OLD_CRC_FROM + 1:
        return None
    length, crc, magic = _OLD_FRONT.unpack_from(data, position + _FRONT_AT)
    end = position + LOG_OVERHEAD + length
    if magic not in (0, 1) or length < _OLD_SMALLEST or end > len(data):
        return None
    if zlib.crc32(memoryview(data)[position + _OLD_CRC_FROM : end]) != crc:
        return None
    return (
        f"a message of format v{magic} (magic {magic}), which brokers before 0.11 wrote (later ones only when "
        f"configured to, by message.format.version); only format v2 is read"
    )


class BatchSearch:
    """Finds batches by invariants and checksum, in a few readings; `given_up`: "none found" proves nothing."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._octets = np.frombuffer(data, dtype=np.uint8)
        self._budget = _READINGS * len(data) + _STEP_BYTES

    @property
    def given_up(self) -> bool:
        """Whether the search ended before the bytes did."""
        return self._budget <= 0

    def next_batch(self, position: int) -> int | None:
        """The first byte of the first whole batch from `position` on; None if none was found."""
        last = len(self._data) - HEADER_BYTES
        while position <= last and not self.given_up:
            stop = min(position + _STEP_BYTES, last + 1)
            for candidate in self._candidates(position, stop):
                (length,) = _LENGTH.unpack_from(self._data, candidate + _FRONT_AT)
                fits = HEADER_BYTES <= length + LOG_OVERHEAD <= len(self._data) - candidate
                self._budget -= max(length, _LEAST_COST) if fits else _LEAST_COST
                if fits and not self.given_up and whole_batch_at(self._data, candidate):
                    return candidate
                if self.given_up:
                    break
            position = stop
        return None

    def _candidates(self, start: int, stop: int) -> list[int]:
        """Positions with the right magic, no negative offset or length, and attributes with only known bits."""
        octets = self._octets
        able = octets[start + _MAGIC_AT : stop + _MAGIC_AT] == MAGIC
        able &= octets[start:stop] < _NEGATIVE
        able &= octets[start + _FRONT_AT : stop + _FRONT_AT] < _NEGATIVE
        able &= octets[start + ATTRIBUTES_AT : stop + ATTRIBUTES_AT] == 0
        able &= octets[start + ATTRIBUTES_AT + 1 : stop + ATTRIBUTES_AT + 1] < 2 * DELETE_HORIZON
        starts: list[int] = (np.flatnonzero(able) + start).tolist()
        return starts
