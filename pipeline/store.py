"""The tables on disk: written whole or not at all, added to by later runs, described in `tables.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class NotATableStore(Exception):
    """A directory holds something else than Kohort's tables; nothing in it was touched."""


def read(spark: SparkSession, out: str, table: str) -> DataFrame:
    """One of `pipeline.tables.schemas.TABLES`, exactly in its schema.

    :raises NotATableStore: `out` has no tables of Kohort
    """
    raise NotImplementedError
