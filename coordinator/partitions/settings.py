"""The settings of a topic that affect its records."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from coordinator.store.cleaner import CompactionSettings
from coordinator.store.log import SegmentLimits
from wire.log.compression import Codec

HOUR_MS = 3_600_000
MAX_LONG = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSettings(SegmentLimits):
    """The topic configs with Kafka's names and defaults, `_` for `.` (TopicConfig). `compression_codec` None:
    batches stay as they are (`producer`)."""

    cleanup_deletes: bool = True
    cleanup_compacts: bool = False
    compression_codec: Codec | None = None
    delete_retention_ms: int = 24 * HOUR_MS
    max_message_bytes: int = 1_048_588
    log_append_time: bool = False
    message_timestamp_before_max_ms: int = MAX_LONG
    message_timestamp_after_max_ms: int = HOUR_MS
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    retention_ms: int = 168 * HOUR_MS
    segment_bytes: int = 1 << 30
    segment_ms: int = 168 * HOUR_MS

    def compaction(self, producer_expiration_ms: int) -> CompactionSettings:
        names = {field.name for field in fields(CompactionSettings)} & {field.name for field in fields(self)}
        same = {name: getattr(self, name) for name in names}
        return CompactionSettings(producer_expiration_ms=producer_expiration_ms, **same)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The settings from all configs of a topic, by Kafka's names, as in `coordinator.configs.effective`."""
        policies, compression = values["cleanup.policy"], values["compression.type"]
        return cls(
            cleanup_deletes="delete" in policies,
            cleanup_compacts="compact" in policies,
            compression_codec=_CODECS[compression],
            log_append_time=values["message.timestamp.type"] == "LogAppendTime",
            **{
                field.name: values[name]
                for field in fields(cls)
                if (name := field.name.replace("_", ".")) in values
            },
        )


_CODECS = {"producer": None, "uncompressed": Codec.NONE} | {
    codec.name.lower(): codec for codec in Codec if codec is not Codec.NONE
}
