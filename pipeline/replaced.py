"""Tables that each run replaces as a whole, as Parquet: the tables of an audit, a simulation or a rehearsal. Each
run writes into separate directories, `out/<table>/run=N`. `out/<kind>.json` contains the number of the current run
and is replaced when all tables are written: a failure leaves the tables unchanged."""

import json
from collections.abc import Mapping
from typing import Any

from pyarrow import fs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from pipeline.sources.filesystem import absolute, child, hadoop_options, opened
from pipeline.store import NotATableStore
from pipeline.tables.schemas import VERSION


def check_directory(out: str, kind: str, options: Mapping[str, str]) -> int:
    """The current run in a directory for tables of a kind, 0 before the first. `options` are Hadoop's. Raises
    NotATableStore: it contains something else."""
    system, inside = opened(absolute(out), options)
    entries = system.get_file_info(fs.FileSelector(inside, allow_not_found=True))
    names = {entry.base_name for entry in entries}
    if not names:
        return 0
    name = _name(kind)
    if name not in names:
        raise NotATableStore(
            f"{out} contains no tables of {_with_article(kind)}, but {min(names)}: use an empty directory"
        )
    with system.open_input_file(f"{inside}/{name}") as file:
        data = file.read()
    try:
        content: Any = json.loads(data)
        return int(content["run"])
    except (ValueError, KeyError, TypeError):
        raise NotATableStore(f"{child(out, name)} is not what {_with_article(kind)} writes") from None


class ReplacedTables:
    """The tables of a kind in `out`, which a run replaces; without `out` they are computed and not kept."""

    def __init__(
        self, spark: SparkSession, out: str | None, kind: str, schemas: Mapping[str, StructType]
    ) -> None:
        """Raises NotATableStore: `out` contains something else."""
        self._spark, self._out, self._kind, self._schemas = spark, out, kind, schemas
        self._options = hadoop_options(spark)
        if out is not None:
            check_directory(out, kind, self._options)

    def written(self, tables: dict[str, DataFrame]) -> tuple[dict[str, DataFrame], dict[str, str]]:
        """The tables as they are in `out`, and the path of each; without `out` as they are, and no paths."""
        if self._out is None:
            return tables, {}
        paths = write_tables(tables, self._out, self._kind, self._options)
        read = {name: self._spark.read.schema(self._schemas[name]).parquet(paths[name]) for name in paths}
        return read, paths


def write_tables(
    tables: Mapping[str, DataFrame], out: str, kind: str, options: Mapping[str, str]
) -> dict[str, str]:
    """Write the tables; returns the path of each. Raises NotATableStore: `out` contains something else."""
    before = check_directory(out, kind, options)
    path = absolute(out)
    system, inside = opened(path, options)
    paths = {name: child(child(path, name), f"run={before + 1}") for name in tables}
    for name, table in tables.items():
        table.write.mode("overwrite").parquet(paths[name])
    content = {"kohort": 1, "schema": VERSION, "run": before + 1, "tables": sorted(tables)}
    _replace(system, f"{inside}/{_name(kind)}", json.dumps(content, indent=1).encode() + b"\n")
    for name in tables:
        for entry in system.get_file_info(fs.FileSelector(f"{inside}/{name}")):
            if entry.type is fs.FileType.Directory and entry.base_name != f"run={before + 1}":
                system.delete_dir(entry.path)
    return paths


def _name(kind: str) -> str:
    return f"{kind}.json"


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _replace(system: fs.FileSystem, path: str, data: bytes) -> None:
    """Replace a file, atomically if the file system supports it; object stores write whole objects or nothing."""
    if isinstance(system, fs.S3FileSystem):
        with system.open_output_stream(path) as stream:
            stream.write(data)
        return
    with system.open_output_stream(f"{path}.new") as stream:
        stream.write(data)
    system.move(f"{path}.new", path)
