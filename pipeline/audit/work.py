"""The data that tasks that read sources pass to tasks that judge groups."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from groups.group_spec import WhatIf, wanted_topics
from groups.model import Cluster, Group, Topic
from groups.snapshot import Snapshot, with_usable_racks
from pipeline.tables.schemas import BINARY, STRING, STRINGS, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

GROUPS_PER_CHUNK = 32
"""To judge groups takes longest of all: chunks are small, so that no task has all expensive groups."""

WORK = table(
    ("source", STRING, False),
    ("chunk", BINARY, True),  # a GroupChunk, for `opened`; null: the following columns are set instead
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
        wanted = None if all_of_them else wanted_topics([group], WhatIf())
        return self.topics if wanted is None else tuple(each for each in self.topics if each.name in wanted)


def work_of(source: str, snapshot: Snapshot, *, all_topics: bool) -> Iterator[dict[str, object]]:
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
        wanted = wanted_topics(groups, WhatIf()) or set()
        chosen = tuple(topic for topic in topics if topic.name in wanted)
        yield _row(GroupChunk(source=source, cluster=snapshot.cluster, topics=chosen, groups=groups))
    for groups in _batched(regexes):
        yield _row(GroupChunk(source=source, cluster=snapshot.cluster, topics=topics, groups=groups))
    if regexes:
        yield {"source": source, "names": [topic.name for topic in topics]}


def failed(source: str, file: str, reason: str) -> dict[str, object]:
    """The row of WORK for a file or group that could not be read."""
    return {"source": source, "file": file, "reason": reason}


def opened(chunk: bytes) -> GroupChunk:
    """A chunk packed by `work_of`: Spark passes it between our own tasks only, so unpickling it is safe."""
    found = pickle.loads(chunk)  # noqa: S301
    if not isinstance(found, GroupChunk):
        raise TypeError(f"expected a chunk of groups, found {type(found).__name__}")
    return found


def each_row(
    table: DataFrame,
    made: Callable[[dict[str, Any]], Iterable[dict[str, Any]]],
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


def _row(chunk: GroupChunk) -> dict[str, object]:
    return {"source": chunk.source, "chunk": pickle.dumps(chunk, protocol=pickle.HIGHEST_PROTOCOL)}


def _batched(groups: Sequence[Group]) -> Iterator[tuple[Group, ...]]:
    rest: Iterable[Group] = iter(groups)
    while batch := tuple(islice(rest, GROUPS_PER_CHUNK)):
        yield batch
