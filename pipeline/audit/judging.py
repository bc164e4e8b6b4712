"""Judging all groups, many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from groups.group_spec import wanted_topics
from groups.model import Group
from groups.what_if import WhatIf
from pipeline.audit.judge import AuditSettings, judged, judged_regexes
from pipeline.audit.schemas import AUDIT, AUDIT_REGEXES
from pipeline.audit.work import Chunk, opened
from pipeline.tables.schemas import QUARANTINE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OF_ORDER = ("risk", "score", "rank")
_OF_JAVA = ("java_valid", "java_topics", "java_gained", "java_lost")
UNRANKED = StructType([each for each in AUDIT.fields if each.name not in _OF_ORDER])
"""AUDIT without the columns that the order of all groups decides."""
COMPARED = StructType(
    [
        *(each for each in AUDIT_REGEXES.fields if each.name not in _OF_JAVA),
        StructField("broker_names", ArrayType(StringType(), containsNull=False), True),
    ]
)
"""AUDIT_REGEXES without what Java says, and with the topics that the broker matches."""
JUDGED = StructType(
    [
        StructField("audit", UNRANKED, True),
        StructField("regex", COMPARED, True),
        StructField("quarantined", QUARANTINE, True),
    ]
)
"""One of the three in each row."""

MOST_PARTITIONS = 2_000_000
"""Of the topics of a group. A file may say anything; no cluster has half as many, and an assignor lists them all."""


class TooLargeError(Exception):
    """A group is larger than groups can be."""


def judge_all(work: DataFrame, settings: AuditSettings, tasks: int) -> DataFrame:
    """Rows of JUDGED for rows of WORK: groups by destination, regexes, and what could not be read or judged."""
    chunks = work.where("chunk is not null or reason is not null").select("source", "chunk", "file", "reason")
    return chunks.repartition(tasks).mapInArrow(_judge(settings), JUDGED)


def _judge(settings: AuditSettings) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema = to_arrow_schema(JUDGED)
        for batch in batches:
            for row in batch.to_pylist():
                rows = list(_rows(row, settings))
                if rows:
                    yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return judge


def _rows(work: dict[str, Any], settings: AuditSettings) -> Iterator[dict[str, Any]]:
    if work["chunk"] is None:
        yield _quarantined(work["source"], work["file"], work["reason"])
        return
    chunk = opened(work["chunk"])
    for group in chunk.groups:
        try:
            yield from list(_of_group(chunk, group, settings))
        except Exception as error:
            # One group of a foreign file that no rule was written for must not end the audit of all others.
            reason = f"the group {group.id} cannot be judged: {type(error).__name__}: {error}"
            yield _quarantined(chunk.source, chunk.source, reason)


def _of_group(chunk: Chunk, group: Group, settings: AuditSettings) -> Iterator[dict[str, Any]]:
    wants_any = bool(settings.regexes) or wanted_topics([group], WhatIf()) is None
    topics = chunk.topics_of(group, all_of_them=wants_any)
    named = wanted_topics([group], WhatIf()) or set()
    partitions = sum(topic.partitions for topic in topics if not named or topic.name in named)
    if partitions > MOST_PARTITIONS:
        raise TooLargeError(f"its topics have {partitions:,} partitions, more than any cluster's")
    for row in judged(group, chunk.cluster, topics, settings):
        yield {"audit": {"source": chunk.source, **row}}
    for regex in judged_regexes(group, chunk.cluster, topics, settings):
        yield {"regex": {"source": chunk.source, **regex}}


def _quarantined(source: str, file: str, reason: str) -> dict[str, Any]:
    row = {"source": source, "file": file, "position": None, "offset": None, "reason": reason}
    return {"quarantined": row}
