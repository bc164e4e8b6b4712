"""The groups of snapshots, as the data that tasks that read sources pass to tasks that judge groups."""

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import pyarrow as pa
from pyarrow import fs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from groups.group_spec import WhatIf, wanted_topics
from groups.model import Cluster, Group, Topic
from groups.snapshot import Snapshot, parse_snapshot, with_usable_racks
from groups.yaml_files import TreeError
from pipeline.sources.filesystem import absolute, opened
from pipeline.tables.schemas import BINARY, STRING, STRINGS, TableRow, table

GROUPS_PER_CHUNK = 32  # judging takes longest: with small chunks no task has all expensive groups

WORK = table(
    ("source", STRING, False),
    ("chunk", BINARY, True),  # a GroupChunk, for `unpacked`; null: the following columns are set instead
    ("names", STRINGS, True),  # names of all topics, for regexes
    ("file", STRING, True),  # the file that could not be read …
    ("reason", STRING, True),  # … and why
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChunk:
    """Some groups of one source. `topics` are all topics of the source, or those that these groups name."""

    source: str
    cluster: Cluster
    topics: tuple[Topic, ...]
    groups: tuple[Group, ...]

    def topics_of(self, group: Group, *, all_of_them: bool) -> tuple[Topic, ...]:
        """The topics that `kohort plan` reads for one group: those that it names, or all if a regex may match any."""
        names = None if all_of_them else wanted_topics([group], WhatIf())
        return self.topics if names is None else tuple(topic for topic in self.topics if topic.name in names)


def work_of(source: str, snapshot: Snapshot, *, all_topics: bool) -> Iterator[TableRow]:
    """Rows of WORK. `all_topics`: every group may need any topic, because regexes were declared."""
    topics = tuple(
        replace(topic, start_offsets=None, end_offsets=None, stable_offsets=None)
        for topic in map(with_usable_racks, (topic for _, topic in sorted(snapshot.topics.items())))
    )
    names: list[Group] = []
    regexes: list[Group] = []
    for _, group in sorted(snapshot.groups.items()):
        wants_any = all_topics or wanted_topics([group], WhatIf()) is None
        (regexes if wants_any else names).append(replace(group, offsets=None))
    for groups in _batched(names):
        subscribed = wanted_topics(groups, WhatIf()) or set()
        chosen = tuple(topic for topic in topics if topic.name in subscribed)
        yield _row(GroupChunk(source=source, cluster=snapshot.cluster, topics=chosen, groups=groups))
    for groups in _batched(regexes):
        yield _row(GroupChunk(source=source, cluster=snapshot.cluster, topics=topics, groups=groups))
    if regexes:
        yield {"source": source, "names": [topic.name for topic in topics]}


def failed(source: str, file: str, reason: str) -> TableRow:
    """The row of WORK for a file or group that could not be read."""
    return {"source": source, "file": file, "reason": reason}


def unpacked(chunk: bytes) -> GroupChunk:
    """A chunk packed by `work_of`: Spark passes it between our own tasks only, so unpickling it is safe."""
    groups = pickle.loads(chunk)  # noqa: S301
    if not isinstance(groups, GroupChunk):
        raise TypeError(f"expected a chunk of groups, found {type(groups).__name__}")
    return groups


def each_row(
    table: DataFrame,
    made: Callable[[TableRow], Iterable[TableRow]],
    schema: StructType,
    *,
    small: bool = False,
) -> DataFrame:
    """The rows, in `schema`, that `made` returns for each row of a table; one at a time unless they are `small`."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrow = to_arrow_schema(schema)
        for batch in batches:
            for row in batch.to_pylist():
                for rows in [list(made(row))] if small else ([one] for one in made(row)):
                    if rows:
                        yield pa.RecordBatch.from_pylist(rows, schema=arrow)

    return table.mapInArrow(task, schema)


def _row(chunk: GroupChunk) -> TableRow:
    return {"source": chunk.source, "chunk": pickle.dumps(chunk, protocol=pickle.HIGHEST_PROTOCOL)}


def _batched(groups: Sequence[Group]) -> Iterator[tuple[Group, ...]]:
    rest: Iterable[Group] = iter(groups)
    while batch := tuple(islice(rest, GROUPS_PER_CHUNK)):
        yield batch


ENDINGS = (".yaml", ".yml", ".json")
MOST_BYTES = 1 << 30
"""The limit of a snapshot, which is read as a whole: parsed it takes twenty times its bytes. 10,000 groups: 40 MB."""

MOST_TASKS = 200  # the largest number of tasks: if every group has a file, a task reads many


def list_snapshots(paths: Sequence[str], options: Mapping[str, str]) -> list[str]:
    """The given files and the files in given directories, each once, by name. `options` are Hadoop's. Raises
    FileNotFoundError: a path does not exist. Raises OSError."""
    files: dict[str, None] = {}
    for path in map(absolute, paths):
        system, inside = opened(path, options)
        info = system.get_file_info(inside)
        if info.type is fs.FileType.NotFound:
            raise FileNotFoundError(f"{path} does not exist")
        if info.type is fs.FileType.File:
            files.setdefault(path)
            continue
        below = system.get_file_info(fs.FileSelector(inside, recursive=True))
        start = path.rstrip("/")
        for entry in sorted(below, key=lambda entry: entry.path):
            relative = entry.path[len(inside.rstrip("/")) :]
            if entry.type is fs.FileType.File and _is_snapshot(relative):
                files.setdefault(start + relative)
    return list(files)


def snapshot_work(
    spark: SparkSession, files: Sequence[str], options: Mapping[str, str], *, all_topics: bool
) -> DataFrame:
    """Rows of WORK: groups of the files, and the files that are not snapshots. A task reads one file at a time."""
    rows = spark.createDataFrame([(file,) for file in files], "file string")
    tasks = max(1, min(len(files), MOST_TASKS))

    def read(row: TableRow) -> Iterator[TableRow]:
        return work_of_file(row["file"], options, all_topics=all_topics)

    return each_row(rows.repartition(tasks), read, WORK)


def work_of_file(file: str, options: Mapping[str, str], *, all_topics: bool = False) -> Iterator[TableRow]:
    """Rows of WORK: the groups of a snapshot, or why a file is not a snapshot."""
    try:
        snapshot = parse_snapshot(Path(file), _text(file, options))
    except TreeError as error:
        yield failed(file, file, _reason(error))
    except UnicodeDecodeError as error:
        yield failed(file, file, f"not a text file in UTF-8 (byte {error.start})")
    except (OSError, RecursionError) as error:
        yield failed(file, file, f"cannot be read: {error}")
    else:
        for fault in snapshot.faults:
            yield failed(file, file, _reason(fault.error))
        yield from work_of(file, snapshot, all_topics=all_topics)


def _reason(error: TreeError) -> str:
    line = f"line {error.line}: " if error.line else ""
    return f"{line}{error.field + ': ' if error.field else ''}{error.message}"


def _text(file: str, options: Mapping[str, str]) -> str:
    system, inside = opened(file, options)
    size = system.get_file_info(inside).size
    if size is not None and size > MOST_BYTES:
        raise OSError(f"it has {size:,} bytes, and a snapshot is read whole: split it by groups")
    with system.open_input_file(inside) as stream:
        return bytes(stream.read()).decode("utf-8-sig")


def _is_snapshot(relative: str) -> bool:
    """Whether a file is neither of another kind nor hidden: editors and stores put their own files next to others."""
    parts = relative.strip("/").split("/")
    return relative.lower().endswith(ENDINGS) and not any(part.startswith((".", "_")) for part in parts)
