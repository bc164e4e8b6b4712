"""Records that Spark's tasks read and decode, and what is done with them before they leave the task.

Rows of forty columns are costly to hand from Python to the JVM and back. What can be done with them in the task that
decodes them (`pipeline.writing` writes them as Parquet) is done there: `Reading.through`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from pipeline.decode.records import plain
from pipeline.decode.schema import DECODED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`read` makes batches of `DECODED` of the rows of `tasks`, wherever it runs. Texts may be dictionary arrays."""

    tasks: DataFrame
    read: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    cluster: str | None = None
    """Whose records these are; None: not known."""
    held_back: int = 0
    """Offsets behind transactions that are open, which are not read."""

    def rows(self) -> DataFrame:
        """The decoded rows, as a table of `DECODED`."""
        return self.through(plain, DECODED)

    def through(
        self, then: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: StructType
    ) -> DataFrame:
        """What `then` makes of the decoded batches of each task, in `schema`."""
        read = self.read

        def both(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return then(read(batches))

        return self.tasks.mapInArrow(both, schema)
