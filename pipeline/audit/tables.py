"""An audit's tables on disk, as Parquet: `out/audit`, `out/audit_regexes` and `out/quarantine`.

An audit replaces the one before it. Each writes into directories of its own, `out/<table>/run=N`; `audit.json` says
which of them counts and is replaced when all is written: a failure leaves the tables as they were.

Who migrates first: what a group gains, against what its migration risks.

- **gain**: the partition-seconds that each restart of a member costs less at the destination
  (`migration.restart_cost`).
- **risk**: `(1 + without_owner_s) × (1 + warnings)`: what the migration itself costs, in the same unit, as many times
  over as there are warnings, each of which may make it go wrong. The 1 keeps groups that cost nothing apart.
- **score**: gain / risk, highest first.

Ready groups do not simply come before those with warnings: a group that a warning concerns may gain a hundred times
more. Groups whose gain cannot be computed, such as those without members, come last. Blocked groups, and those that
have arrived, have no rank.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyarrow import fs
from pyspark.sql import Window
from pyspark.sql import functions as f

from pipeline.audit.schemas import AUDIT, TABLES
from pipeline.sources.filesystem import absolute, child, opened
from pipeline.store import NotATableStore
from pipeline.tables.schemas import VERSION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "audit.json"


def check_audit_directory(out: str, options: Mapping[str, str]) -> int:
    """The run that counts in a directory for an audit's tables, 0 where there is none yet. `options` are Hadoop's.

    :raises NotATableStore: it holds something else
    """
    system, inside = opened(absolute(out), options)
    entries = system.get_file_info(fs.FileSelector(inside, allow_not_found=True))
    names = {entry.base_name for entry in entries}
    if not names:
        return 0
    if NAME not in names:
        raise NotATableStore(
            f"{out} holds no tables of an audit, but {min(names)}: name a directory of its own"
        )
    with system.open_input_file(f"{inside}/{NAME}") as file:
        data = file.read()
    try:
        told: Any = json.loads(data)
        return int(told["run"])
    except (ValueError, KeyError, TypeError):
        raise NotATableStore(f"{child(out, NAME)} is not what an audit writes") from None


def write_tables(tables: Mapping[str, DataFrame], out: str, options: Mapping[str, str]) -> dict[str, str]:
    """Write the tables of `pipeline.audit.schemas.TABLES`; where each of them is.

    :raises NotATableStore: `out` holds something else
    """
    before = check_audit_directory(out, options)
    place = absolute(out)
    system, inside = opened(place, options)
    paths = {name: child(child(place, name), f"run={before + 1}") for name in tables}
    for name, table in tables.items():
        table.write.mode("overwrite").parquet(paths[name])
    told = {"kohort": 1, "schema": VERSION, "run": before + 1, "tables": sorted(tables)}
    _replace(system, f"{inside}/{NAME}", json.dumps(told, indent=1).encode() + b"\n")
    for name in tables:
        for entry in system.get_file_info(fs.FileSelector(f"{inside}/{name}")):
            if entry.type is fs.FileType.Directory and entry.base_name != f"run={before + 1}":
                system.delete_dir(entry.path)
    return paths


def read_table(spark: SparkSession, name: str, path: str) -> DataFrame:
    """A table from where `write_tables` says it is, in the columns of its schema."""
    return spark.read.schema(TABLES[name]).parquet(path)


def _replace(system: fs.FileSystem, path: str, data: bytes) -> None:
    """In one step where the file system knows one; object stores write whole objects or nothing."""
    if isinstance(system, fs.S3FileSystem):
        with system.open_output_stream(path) as stream:
            stream.write(data)
        return
    with system.open_output_stream(f"{path}.new") as stream:
        stream.write(data)
    system.move(f"{path}.new", path)


def ranked(unranked: DataFrame) -> DataFrame:
    """AUDIT from the judged groups."""
    can = (f.col("verdict") != "blocked") & ~f.col("arrived")
    risk = f.when(can, (1 + f.col("without_owner_s")) * (1 + f.size("warned_by")))
    scored = unranked.withColumn("risk", risk).withColumn("score", f.col("gain_s") / f.col("risk"))
    places = _places(scored.where(can))
    keys = ["destination", "source", "group"]
    return scored.join(places, keys, "left").select(*AUDIT.fieldNames())


def _places(candidates: DataFrame) -> DataFrame:
    """The rank of each; of all columns only those that decide it go through the one task that counts."""
    narrow = candidates.select("destination", "source", "group", "score", "gain_s")
    order = Window.partitionBy("destination").orderBy(
        f.col("score").desc_nulls_last(), f.col("gain_s").desc_nulls_last(), "source", "group"
    )
    return narrow.select("destination", "source", "group", f.row_number().over(order).alias("rank"))
