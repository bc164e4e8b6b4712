"""What was decoded, apart: the events, and what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from pipeline.decode.schema import NO_OFFSET
from pipeline.tables.schemas import EVENTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def events(decoded: DataFrame) -> DataFrame:
    """A row per record that could be read; exactly `EVENTS`."""
    return decoded.where(f.col("reason").isNull()).select(*EVENTS.names)


def quarantine(decoded: DataFrame) -> DataFrame:
    """A row per thing that could not; exactly `QUARANTINE`. `offset` null: it is no single record."""
    offset = f.when(f.col("offset") != NO_OFFSET, f.col("offset"))
    return decoded.where(f.col("reason").isNotNull()).select(
        "source",
        f.coalesce("file", "source").alias("file"),
        "position",
        offset.alias("offset"),
        f.coalesce("reason", f.lit("")).alias("reason"),
    )
