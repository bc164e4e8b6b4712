"""Records without their bytes, to compare with those of another log."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wire.log.log_records import LogRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordDigest:
    """A record with SHA-256 digests instead of its bytes; None if it has no key or no value."""

    offset: int
    timestamp_ms: int
    """-1 for none."""
    is_append_time: bool
    """Whether the timestamp is the broker's, not the producer's."""
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordWindow:
    """Records in ascending order, those before the offset separate from the others."""

    before: tuple[RecordDigest, ...] = ()
    after: tuple[RecordDigest, ...] = ()
    from_start: bool
    """Whether the log has no record before these."""
    to_end: bool
    """Whether the log has no record after these."""


def digest(record: LogRecord, *, is_append_time: bool) -> RecordDigest:
    """A record without its bytes."""
    return RecordDigest(
        offset=record.offset,
        timestamp_ms=record.timestamp,
        is_append_time=is_append_time,
        key=_sha256(record.key),
        value=_sha256(record.value),
        headers=tuple((name, _sha256(value)) for name, value in record.headers),
    )


def _sha256(data: bytes | None) -> bytes | None:
    return None if data is None else hashlib.sha256(data).digest()
