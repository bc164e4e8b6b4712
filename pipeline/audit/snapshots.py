"""Snapshots of many clusters: files and directories of them, on any file system that pyarrow reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyarrow import fs

from groups.snapshot import parse_snapshot
from groups.yaml_files import TreeError
from pipeline.audit.work import WORK, each_row, failed, work_of
from pipeline.sources.filesystem import absolute, opened

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ENDINGS = (".yaml", ".yml", ".json")
MOST_BYTES = 1 << 30
"""The limit of a snapshot, which is read as a whole: parsed it takes twenty times its bytes. 10,000 groups: 40 MB."""

MOST_TASKS = 200
"""The largest number of tasks: if every group has a file, a task reads many."""


def list_snapshots(paths: Sequence[str], options: Mapping[str, str]) -> list[str]:
    """The given files and the files in given directories, each once, by name. `options` are Hadoop's.

    :raises FileNotFoundError: a path does not exist
    :raises OSError: it cannot be read
    """
    found: dict[str, None] = {}
    for path in map(absolute, paths):
        system, inside = opened(path, options)
        info = system.get_file_info(inside)
        if info.type is fs.FileType.NotFound:
            raise FileNotFoundError(f"{path} does not exist")
        if info.type is fs.FileType.File:
            found.setdefault(path)
            continue
        below = system.get_file_info(fs.FileSelector(inside, recursive=True))
        start = path.rstrip("/")
        for entry in sorted(below, key=lambda each: each.path):
            relative = entry.path[len(inside.rstrip("/")) :]
            if entry.type is fs.FileType.File and _is_snapshot(relative):
                found.setdefault(start + relative)
    return list(found)


def snapshot_work(
    spark: SparkSession, files: Sequence[str], options: Mapping[str, str], *, all_topics: bool
) -> DataFrame:
    """Rows of WORK: the groups of the files, and the files that are not snapshots. A task reads one file at a time."""
    rows = spark.createDataFrame([(file,) for file in files], "file string")
    tasks = max(1, min(len(files), MOST_TASKS))

    def read(row: dict[str, Any]) -> Iterator[dict[str, object]]:
        return _work_of_file(row["file"], options, all_topics)

    return each_row(rows.repartition(tasks), read, WORK)


def _work_of_file(file: str, options: Mapping[str, str], all_topics: bool) -> Iterator[dict[str, object]]:
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
    place = f"line {error.line}: " if error.line else ""
    return f"{place}{error.field + ': ' if error.field else ''}{error.message}"


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
