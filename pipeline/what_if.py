"""What might have been for all groups of a history (`kohort fleet history --out`): the past of each group is played in
one task, as it was and under the alternatives, and compared with what was observed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema

from coordinator.errors import InvalidSetting
from coordinator.simulation.alternatives import AS_IT_WAS, WhatIfAlternative, applied
from coordinator.simulation.calibration import calibration_of
from coordinator.simulation.from_history import CannotPlayError, Statements, past_of
from coordinator.simulation.what_if import play
from groups.history.commits import Commits
from groups.history.course import Course, course_of
from groups.history.events import KEY_VERSIONS
from pipeline.derived import by_place
from pipeline.jobs import with_progress
from pipeline.store import read
from pipeline.tables import schemas
from pipeline.tables.rebalances import COLUMNS, event_of
from pipeline.writing import EVENTS_TABLE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OF_COMMITS = ("topic", "topic_partition", "committed")
RESULTS = schemas.table(
    ("group", schemas.STRING, False),
    ("alternative", schemas.STRING, True),  # null: as it was
    ("verdict", schemas.STRING, False),  # agrees, differs, or unplayable
    ("why", schemas.STRING, True),
    ("observed_rebalances", schemas.LONG, True),
    ("rebalances", schemas.LONG, True),  # the median of the seeds, as the next
    ("moved", schemas.LONG, True),
    ("without_owner_s", schemas.DOUBLE, True),
    ("unread_s", schemas.DOUBLE, True),
    ("read_twice", schemas.LONG, True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetWhatIf:
    """What is played of every group. Times in µs since 1970; None: as far as the history goes."""

    alternatives: tuple[WhatIfAlternative, ...]
    stated: Statements
    seeds: int
    since: int | None = None
    until: int | None = None


def what_if_fleet(
    spark: SparkSession,
    tables: str,
    terms: FleetWhatIf,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[schemas.TableRow]:
    """A row for the past of each group, and for each alternative, in the schema RESULTS. Raises NotATableStore."""
    events = read(spark, tables, EVENTS_TABLE).select(*COLUMNS, *_OF_COMMITS)
    wanted = f.col("group").isNotNull() & (
        f.col("key_version").isin(*KEY_VERSIONS) | f.col("committed").isNotNull()
    )

    def task(records: pa.Table) -> pa.Table:
        rows = list(_rows(terms, until, course_in(records)))
        return pa.Table.from_pylist(rows, schema=to_arrow_schema(RESULTS))

    with with_progress(spark, progress):
        last = events.agg(f.max(f.unix_micros("time"))).collect()[0][0] or 0
        until = last if terms.until is None else min(terms.until, last)
        played = events.where(wanted).groupBy("group").applyInArrow(task, RESULTS)
        return [row.asDict() for row in played.collect()]


def course_in(records: pa.Table) -> Course:
    """The course of the one group that the records are of."""
    in_order = records.sort_by([("partition", "ascending"), ("offset", "ascending")])
    is_time = pa.types.is_timestamp
    columns = [column.cast(pa.int64()) if is_time(column.type) else column for column in in_order.columns]
    plain = pa.Table.from_arrays(columns, names=in_order.schema.names)
    is_event = pa.compute.is_in(
        plain["key_version"].cast(pa.int64()), value_set=pa.array(KEY_VERSIONS, pa.int64())
    )
    events = map(event_of, plain.filter(is_event).select(COLUMNS).to_pylist())
    group: str = plain["group"][0].as_py()
    return course_of(
        group,
        events,
        Commits(
            by_place(plain.filter(pa.compute.is_valid(plain["committed"])), "time", "committed", "offset")
        ),
    )


def _rows(terms: FleetWhatIf, until: int, course: Course) -> Iterator[schemas.TableRow]:
    empty: schemas.TableRow = {**dict.fromkeys(RESULTS.fieldNames()), "group": course.group}
    try:
        past = past_of(course, until=until, since=terms.since, stated=terms.stated)
        others = [other for other in terms.alternatives if applied(past.scenario, other) != past.scenario]
        simulated, *played = play(past, (AS_IT_WAS, *others), range(1, terms.seeds + 1), 1)
    except (CannotPlayError, InvalidSetting) as error:
        yield empty | {"verdict": "unplayable", "why": str(error)}
        return
    calibration = calibration_of(past, simulated)
    why = ", ".join(
        f"{figure.name} {figure.observed:g} observed, {figure.simulated:g} simulated"
        for figure in calibration.figures
        if not figure.agrees
    )
    about = empty | {
        "verdict": "agrees" if calibration.agrees else "differs",
        "why": why or None,
        "observed_rebalances": past.observed.rebalances,
    }
    yield about | asdict(simulated.median)
    by_name = {runs.alternative.name: runs for runs in played}
    for alternative in terms.alternatives:  # one that changes nothing costs what the past did
        runs = by_name.get(alternative.name, simulated)
        yield about | asdict(runs.median) | {"alternative": alternative.name}


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetSum:
    """The sums of the groups whose simulation agrees with their log, under an alternative."""

    alternative: str
    groups: int
    unharmed: int  # Groups that lost less than a second in the past
    past_unread_s: float
    unread_s: float


def sums_of(rows: Sequence[Mapping[str, Any]]) -> list[FleetSum]:
    """A sum for each alternative, in order."""
    agreeing = [row for row in rows if row["verdict"] == "agrees"]
    past = {row["group"]: row["unread_s"] for row in agreeing if row["alternative"] is None}
    names = dict.fromkeys(row["alternative"] for row in agreeing if row["alternative"] is not None)
    return [
        FleetSum(
            alternative=name,
            groups=len(past),
            unharmed=sum(unread_s < 1 for unread_s in past.values()),
            past_unread_s=sum(past.values()),
            unread_s=sum(row["unread_s"] for row in agreeing if row["alternative"] == name),
        )
        for name in names
    ]
