"""Rows brought into the columns of a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def shaped(rows: DataFrame, schema: StructType) -> DataFrame:
    """The columns of the schema in its order and types. Whether nulls are allowed is not checked: Spark takes every
    column that comes from a file for nullable."""
    return rows.select(
        *(f.col(each.name).cast(each.dataType.simpleString()).alias(each.name) for each in schema)
    )
