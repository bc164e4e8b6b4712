"""Commits in a journal: tables of numbers, column after column and compressed, as a row in SQLite would take five
times the room. Both kinds have a row per commit or per partition and minute, in the order of the log."""

import zlib
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Table: TypeAlias = NDArray[np.void]

MINUTE_MS = 60_000
MOST_BYTES = 256 << 20
PROGRESS = np.dtype(
    [
        ("place", "<i4"),
        ("commits", "<i4"),
        ("first_ms", "<i8"),
        ("last_ms", "<i8"),
        ("first_offset", "<i8"),
        ("last_offset", "<i8"),
        ("first_log_offset", "<i8"),
        ("last_log_offset", "<i8"),
    ]
)
"""A partition in a minute: the number of its commits, and times, offsets and records of the first and the last."""
COMMITS = np.dtype([("place", "<i4"), ("time_ms", "<i8"), ("committed", "<i8"), ("log_offset", "<i8")])
"""A commit: its partition, its time, the committed offset, and the offset of its record."""
ENDS = np.dtype([("place", "<i4"), ("end_offset", "<i8")])
"""The end of the log of a partition."""


def pack(table: Table) -> bytes:
    columns = [np.ascontiguousarray(table[name]) for name in table.dtype.names or ()]
    deltas = [np.diff(column, prepend=column.dtype.type(0)) for column in columns]
    return zlib.compress(b"".join([delta.tobytes() for delta in deltas]), 1)


def unpack(data: bytes, kind: np.dtype[np.void]) -> Table:
    """Raises ValueError: the bytes are not such a table."""
    stream = zlib.decompressobj()
    try:
        octets = stream.decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not stream.eof:
        raise ValueError(f"it is cut off, or larger than {MOST_BYTES} bytes")
    rows, rest = divmod(len(octets), kind.itemsize)
    if rest:
        raise ValueError(f"{len(octets)} bytes are not whole rows of {kind.itemsize}")
    table = np.empty(rows, dtype=kind)
    start = 0
    for name in kind.names or ():
        of_column = kind[name]
        deltas = np.frombuffer(octets, of_column, rows, start)
        np.cumsum(deltas, out=table[name], dtype=of_column)
        start += rows * of_column.itemsize
    return table


def ends_of_minutes(table: Table) -> Table:
    """The first and last commits of some progress, as commits."""
    commits = np.empty((2, len(table)), dtype=COMMITS)
    for row, end in zip(commits, ("first", "last"), strict=True):
        row["place"], row["time_ms"] = table["place"], table[f"{end}_ms"]
        row["committed"], row["log_offset"] = table[f"{end}_offset"], table[f"{end}_log_offset"]
    return commits.reshape(-1)


def by_minute(commits: Table) -> tuple[NDArray[np.int64], Table]:
    """The minutes of commits in the order of the log, and their progress; a row per minute and partition."""
    minutes = commits["time_ms"] // MINUTE_MS
    table = np.empty(len(commits), dtype=PROGRESS)
    table["place"], table["commits"] = commits["place"], 1
    table["first_ms"] = table["last_ms"] = commits["time_ms"]
    table["first_offset"] = table["last_offset"] = commits["committed"]
    table["first_log_offset"] = table["last_log_offset"] = commits["log_offset"]
    return merged(minutes, table)


def merged(minutes: NDArray[np.int64], table: Table) -> tuple[NDArray[np.int64], Table]:
    """Rows of the same minute and partition as one, ascending; of those, earlier rows come first."""
    order = np.lexsort((table["place"], minutes))
    minutes, table = minutes[order], table[order]
    if not len(table):
        return minutes, table
    new = (np.diff(minutes) != 0) | (np.diff(table["place"]) != 0)
    first = np.flatnonzero(np.concatenate(([True], new)))
    last = np.append(first[1:], len(table)) - 1
    result = table[first]
    result["commits"] = np.add.reduceat(table["commits"], first)
    for name in ("last_ms", "last_offset", "last_log_offset"):
        result[name] = table[name][last]
    return minutes[first], result


def once(commits: Table) -> Table:
    """Each commit once, in the order of the log."""
    _, first = np.unique(commits["log_offset"], return_index=True)
    return commits[first]
