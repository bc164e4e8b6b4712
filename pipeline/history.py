"""The history of a cluster's groups: from logs to the tables, and what was found on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUARANTINE_SHOWN = 1_000
"""How many quarantined rows a run carries; all of them are in the table."""


class Step(StrEnum):
    """What a run is at, in this order."""

    LIST = "list"
    EVENTS = "events"
    REBALANCES = "rebalances"
    OWNERSHIP = "ownership"
    COMMITS = "commits"
    GROUPS = "groups"
    PUBLISH = "publish"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is: `done` of `total` tasks of the step (0 of 0: not known), `records` written so far."""

    step: Step
    done: int = 0
    total: int = 0
    records: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """Segments: directories of log.dirs, of a partition, or files, wherever Spark's workers reach them."""

    paths: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    """Topic id → name, on top of what the logs tell themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What is decoded already, as `pipeline.sources.segments.decoded` and `pipeline.sources.live` give it."""

    rows: DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """One row of the table of that name."""

    source: str
    file: str
    position: int | None
    offset: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as it stands: where it is, and how many rows it has."""

    name: str
    path: str
    rows: int
    added: int
    """Rows of this run; of a table that is computed anew: all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRun:
    """What a run made. The counts are of the tables as they stand, earlier runs into `out` included."""

    out: str
    tables: Mapping[str, Table]
    records: int
    added: int
    """Records that no earlier run had."""
    by_key_version: Mapping[int | None, int]
    """Records by type; None: the ends of transactions, which have no key of a type."""
    quarantined: tuple[Quarantined, ...]
    """The first `QUARANTINE_SHOWN`, by source, file and position."""
    quarantined_total: int


def run_history(
    spark: SparkSession,
    sources: Logs | Decoded,
    out: str,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
) -> HistoryRun:
    """Decode what `out` does not have yet, and bring all tables up to date.

    `out` is a directory of tables that Kohort wrote, or one that is empty or not there. A failure leaves its tables
    as they were. Read them with `pipeline.store.read(spark, out, "rebalances")`.

    :raises pipeline.store.NotATableStore: `out` is something else
    :raises FileNotFoundError: a path is not there
    """
    raise NotImplementedError
