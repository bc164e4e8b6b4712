"""The tables on disk: written whole or not at all, extended by later runs, described in `tables.json`. Each run
that writes into a table has a directory `run=N` there, with one per day below. `tables.json` lists the runs that
count, and is replaced atomically when a run has written all its files: a failure leaves the tables unchanged, and
the next run removes the remains. Events are only added; tables derived from them are written again. Any tool that
reads Parquet with Hive's partitions can read a table by its directory. On a local file system one process at a time
can write; elsewhere the user must ensure that."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from coordinator.store.disk import LOCK_FILE, DirectoryLock
from pipeline.errors import PipelineError
from pipeline.sources.filesystem import absolute, child, hadoop_options, opened
from pipeline.tables.commits import RUNS
from pipeline.tables.rebalances import WALKED, WALKED_TABLE
from pipeline.tables.schemas import TABLES, VERSION
from pipeline.writing import RUNS_TABLE
from wire.log.errors import DirectoryInUse

FORMAT = "kohort-tables"
NAME = "tables.json"


class NotATableStore(PipelineError):
    """A directory contains other files than Kohort's tables; it was not changed."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A table: the runs whose directories `run=N` belong to it, and its number of rows."""

    runs: tuple[int, ...] = ()
    rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """The content of a directory after run `run`; 0: no run yet. Equal data have equal catalogs."""

    run: int = 0
    cluster: str | None = None  # the id of the cluster of the history, if a log contained it
    next_offsets: Mapping[int, int] = field(default_factory=dict)
    """The first offset that is not in the tables, by partition of `__consumer_offsets`."""
    by_key_version: Mapping[int | None, int] = field(default_factory=dict)
    """Events by the type of their key; None: transaction markers."""
    tables: Mapping[str, Stored] = field(default_factory=dict)

    def to_json(self) -> str:
        """The content of `tables.json`."""
        counts = sorted(self.by_key_version.items(), key=lambda item: (item[0] is None, item[0] or 0))
        tables = sorted(self.tables.items())
        tree = {
            "format": FORMAT,
            "schema_version": VERSION,
            "run": self.run,
            "cluster": self.cluster,
            "next_offsets": dict(sorted(self.next_offsets.items())),
            "by_key_version": {"" if number is None else str(number): count for number, count in counts},
            "tables": {name: asdict(table) | _description(name) for name, table in tables},
        }
        return json.dumps(tree, indent=1)

    @classmethod
    def from_json(cls, text: str, where: str) -> "Catalog":
        """Parse the file. Raises NotATableStore: it is another file, or of an unknown version."""
        try:
            tree = json.loads(text)
            if tree["format"] != FORMAT:
                raise ValueError
            if tree["schema_version"] != VERSION:
                raise NotATableStore(
                    f"{where} is of version {tree['schema_version']} of the tables; this Kohort supports {VERSION}: "
                    "use another directory, or create the tables again"
                )
            counts, tables = tree["by_key_version"].items(), tree["tables"].items()
            return cls(
                run=int(tree["run"]),
                cluster=tree["cluster"],
                next_offsets={int(number): int(offset) for number, offset in tree["next_offsets"].items()},
                by_key_version={int(number) if number else None: int(count) for number, count in counts},
                tables={name: Stored(tuple(map(int, one["runs"])), int(one["rows"])) for name, one in tables},
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NotATableStore(f"{where} does not describe tables of Kohort") from None


def _description(table: str) -> dict[str, object]:
    """The description of a table for readers other than Kohort; empty for a table that only Kohort reads."""
    schema = TABLES.get(table)
    if schema is None:
        return {}
    days = ["day"] if "day" in schema.names else []
    return {"partitioned_by": ["run", *days], "schema": schema.jsonValue()}


__all__ = ["NotATableStore", "Store", "StoreInUse", "opened_store", "read", "read_catalog"]

SCHEMAS: Mapping[str, StructType] = {**TABLES, RUNS_TABLE: RUNS, WALKED_TABLE: WALKED}
"""All tables, including RUNS_TABLE, which only the next run reads, and WALKED_TABLE, which its run removes."""
_PATTERN = re.compile(r"([{}\[\]*?\\])")
_NEW = f".{NAME}.new"


class StoreInUse(PipelineError):
    """Another process writes into the directory."""


def read(spark: SparkSession, out: str, table: str) -> DataFrame:
    """One of the tables, in the columns of its schema. Raises NotATableStore: `out` has no tables of Kohort."""
    store = Store(spark, out, read_catalog(spark, out))
    return store.frame(spark, table, store.runs(table))


def read_catalog(spark: SparkSession | None, out: str) -> Catalog:
    """The content of `tables.json`. Raises NotATableStore: `out` contains no tables of Kohort."""
    out = absolute(out)
    catalog = _catalog(out, hadoop_options(spark))
    if catalog is None:
        raise NotATableStore(f"{out} contains no tables of Kohort: it has no {NAME}")
    return catalog


@contextmanager
def opened_store(spark: SparkSession | None, out: str) -> "Iterator[Store]":
    """The tables in `out`, for writing; it may be empty or missing. Raises NotATableStore: it contains something else.
    Raises StoreInUse."""
    out = absolute(out)
    options = hadoop_options(spark)
    catalog = _catalog(out, options)
    system, inside = opened(out, options)
    if catalog is None:
        _check_empty(system, inside, out)
        system.create_dir(inside, recursive=True)
        catalog = Catalog()
    with _locked(system, inside, out):
        yield Store(spark, out, catalog)


class Store:
    """The tables in a directory. `catalog` lists the runs that count."""

    def __init__(self, spark: SparkSession | None, out: str, catalog: Catalog) -> None:
        self.out = absolute(out)
        self.catalog = catalog
        self.options = hadoop_options(spark)
        self._system, self._inside = opened(self.out, self.options)

    @property
    def next_run(self) -> int:
        return self.catalog.run + 1

    def begin(self) -> None:
        """Mark the directory as a store of tables, and remove the remains of failed runs."""
        if self.catalog.run == 0:
            self.publish(self.catalog)
        else:
            self.sweep()

    def path(self, table: str) -> str:
        return child(self.out, table)

    def runs(self, table: str) -> tuple[int, ...]:
        """The runs of a table in the catalog."""
        return self.catalog.tables[table].runs if table in self.catalog.tables else ()

    def frame(self, spark: SparkSession, table: str, runs: tuple[int, ...]) -> DataFrame:
        schema = SCHEMAS[table]
        paths = [child(self.path(table), f"run={run}") for run in runs]
        paths = [path for path in paths if self._is_there(path)]
        if not paths:
            # An empty table from a list would need a Python job.
            empty = (f.lit(None).cast(column.dataType).alias(column.name) for column in schema)
            return spark.range(0).select(*empty)
        reader = spark.read.schema(schema).option("basePath", self.path(table))
        # Spark reads a path as a pattern.
        return reader.parquet(*(_PATTERN.sub(r"\\\1", path) for path in paths)).select(*schema.names)

    def files(self, table: str, runs: Sequence[int], ending: str = "") -> list[str]:
        """The paths of a table's files, or of those with the ending of events' files."""
        paths = []
        for run in runs:
            root = f"{self._inside}/{table}/run={run}"
            names = [entry.path.removeprefix(root) for entry in self._entries(root, recursive=True)]
            found = (name for name in names if name.endswith(f"{ending}.parquet"))
            paths += [f"{self.path(table)}/run={run}{name}" for name in found]
        return sorted(paths)

    def arrow(
        self, table: str, runs: Sequence[int] | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """The rows of some runs, by default those of the catalog, in this process; all or some columns."""
        schema, root = to_arrow_schema(SCHEMAS[table], timezone="UTC"), f"{self._inside}/{table}"
        paths = self.files(table, self.runs(table) if runs is None else runs)
        files = [opened(path, self.options)[1] for path in paths]
        parts = pa.schema([("run", pa.int32()), ("day", pa.date32())])
        # Spark wrote some files of earlier versions.
        kind = ds.ParquetFileFormat(coerce_int96_timestamp_unit="us")
        return ds.dataset(
            files,
            schema=schema,
            format=kind,
            filesystem=self._system,
            partitioning=ds.partitioning(parts, flavor="hive"),
            partition_base_dir=root,
        ).to_table(list(columns or schema.names))

    def keep_only(self, table: str, names: set[str]) -> None:
        """Remove files of the next run in a table unless they are in `names`: paths below `out` without `run=N`."""
        root = f"{self._inside}/{table}/run={self.next_run}"
        for entry in self._entries(root, recursive=True):
            if entry.type is fs.FileType.File:
                name = f"{table}/{entry.path.removeprefix(root).lstrip('/')}"
                if name not in names:
                    self._system.delete_file(entry.path)

    def publish(self, catalog: Catalog) -> None:
        """Make `catalog` the current one; runs that no longer count are removed."""
        data = catalog.to_json().encode()
        with self._system.open_output_stream(f"{self._inside}/{_NEW}") as file:
            file.write(data)
        self._system.move(f"{self._inside}/{_NEW}", f"{self._inside}/{NAME}")
        self.catalog = catalog
        self.sweep()

    def sweep(self) -> None:
        """Remove runs that do not count: failed runs, and runs that newer ones replaced."""
        for table in SCHEMAS:
            counts = self.runs(table)
            if not counts:
                self._remove(f"{self._inside}/{table}")
            for entry in self._entries(f"{self._inside}/{table}", recursive=False):
                name = entry.base_name
                if name.lstrip(".").startswith("run=") and name not in {f"run={run}" for run in counts}:
                    self._system.delete_dir(entry.path)

    def _remove(self, directory: str) -> None:
        if self._system.get_file_info(directory).type is fs.FileType.Directory:
            self._system.delete_dir(directory)

    def _is_there(self, path: str) -> bool:
        system, inside = opened(path, self.options)
        return bool(system.get_file_info(inside).type is fs.FileType.Directory)

    def _entries(self, directory: str, *, recursive: bool) -> list[fs.FileInfo]:
        selector = fs.FileSelector(directory, recursive=recursive, allow_not_found=True)
        return list(self._system.get_file_info(selector))


def _catalog(out: str, options: Mapping[str, str]) -> Catalog | None:
    system, inside = opened(out, options)
    path = f"{inside}/{NAME}"
    if system.get_file_info(path).type is not fs.FileType.File:
        return None
    with system.open_input_file(path) as file:
        data = file.read()
    return Catalog.from_json(data.decode("utf-8", "replace"), child(out, NAME))


def _check_empty(system: fs.FileSystem, inside: str, out: str) -> None:
    kind = system.get_file_info(inside).type
    if kind is fs.FileType.File:
        raise NotATableStore(f"{out} is a file, and tables need a directory")
    if kind is fs.FileType.Directory:
        names = {entry.base_name for entry in system.get_file_info(fs.FileSelector(inside))}
        others = sorted(names - {LOCK_FILE, _NEW})
        if others:
            what = f"something else than tables of Kohort ({others[0]})"
            raise NotATableStore(f"{out} contains {what}: use another directory")


@contextmanager
def _locked(system: fs.FileSystem, inside: str, out: str) -> Iterator[None]:
    if not isinstance(system, fs.LocalFileSystem):
        yield
        return
    try:
        lock = DirectoryLock.take(Path(inside))
    except DirectoryInUse:
        raise StoreInUse(f"another process is writing into {out}") from None
    try:
        yield
    finally:
        lock.release()
