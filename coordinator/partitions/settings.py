"""The settings of a topic that count for its records."""

from __future__ import annotations

from dataclasses import dataclass

from wire.log.compression import Codec

HOUR_MS = 3_600_000
MAX_LONG = 2**63 - 1
UNLIMITED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSettings:
    """Names and defaults are those of a topic's settings, `_` for `.` (TopicConfig).

    `compression_codec` None is `compression.type=producer`: batches stay as they are.
    """

    cleanup_deletes: bool = True
    cleanup_compacts: bool = False
    compression_codec: Codec | None = None
    max_message_bytes: int = 1_048_588
    log_append_time: bool = False
    message_timestamp_before_max_ms: int = MAX_LONG
    message_timestamp_after_max_ms: int = HOUR_MS
    min_insync_replicas: int = 1
    retention_bytes: int = UNLIMITED
    retention_ms: int = 168 * HOUR_MS
    segment_bytes: int = 1 << 30
    segment_ms: int = 168 * HOUR_MS
