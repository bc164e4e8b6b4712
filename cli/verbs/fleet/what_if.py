"""Carry out `kohort fleet what-if`: the past of all groups of a history as it might have been, as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cli.render.cells import duration_cell
from cli.render.document import Block, Document, Text, table_of
from cli.render.lines import Role
from cli.verbs.fleet.options import SparkOptions
from cli.verbs.fleet.report_page import Row
from cli.verbs.fleet.sources import bytes_below
from cli.verbs.fleet.spark import fleet_session, fleet_spinner, settings_of, tasks_shown
from cli.verbs.what_if.action import alternatives_of, statements_of
from cli.verbs.what_if.options import AlternativeOptions
from groups.counts import counted, share

if TYPE_CHECKING:
    from pipeline.what_if import FleetSum

_AS_IT_WAS = "as it was"
_HOUR_S = 3600


def carry_out(
    tables: str,
    options: AlternativeOptions,
    since_ms: int | None,
    until_ms: int | None,
    seeds: int,
    spark_options: SparkOptions,
) -> list[Row]:
    """A row for each group and alternative, groups that lost most first. Raises UsageError: invalid options."""
    alternatives, stated = alternatives_of(options), statements_of(options.assume or ())
    size = None if "://" in tables else bytes_below(Path(tables), "*.parquet")
    settings = settings_of(spark_options, input_bytes=size)
    with fleet_spinner(spark_options) as spinner, fleet_session(settings) as spark:
        from pipeline.what_if import FleetWhatIf, what_if_fleet

        terms = FleetWhatIf(
            alternatives=alternatives,
            stated=stated,
            seeds=seeds,
            since=None if since_ms is None else since_ms * 1000,
            until=None if until_ms is None else until_ms * 1000,
        )
        rows = what_if_fleet(spark, tables, terms, progress=tasks_shown(spinner, "simulating"))
    lost = {row["group"]: row["unread_s"] or 0.0 for row in rows if row["alternative"] is None}
    return sorted(rows, key=lambda row: (-lost[row["group"]], row["group"], row["alternative"] or ""))


def fleet_what_if_document(rows: Sequence[Row], seeds: int) -> Document:
    from pipeline.what_if import sums_of

    sums = sums_of(rows)
    return Document(
        command="fleet what-if",
        data={"seeds": seeds, "groups": list(rows), "sums": [asdict(one) for one in sums]},
        blocks=list(_blocks(rows, sums)),
    )


def _blocks(rows: Sequence[Row], sums: Sequence[FleetSum]) -> Iterator[Block]:
    for one in sums:
        yield Text(
            f"{one.alternative}: of {counted(one.groups, 'group')}, {one.unharmed:,} lost nothing; "
            f"{_hours(one.past_unread_s)} without a running owner would have been {_hours(one.unread_s)}.",
            Role.STRONG,
        )
    if not sums:
        yield Text("No simulation of a group agrees with its log.", Role.WARNING)
    shown = [row for row in rows if row["verdict"] != "unplayable"]
    yield table_of(
        shown,
        "GROUP",
        ("ALTERNATIVE", lambda row: row["alternative"] or _AS_IT_WAS),
        "#REBALANCES",
        "#MOVED",
        ("#UNOWNED-TIME", lambda row: duration_cell(row["without_owner_s"])),
        ("#UNREAD-TIME", lambda row: duration_cell(row["unread_s"])),
        "#READ-TWICE",
        "VERDICT",
    )
    past = [row for row in rows if row["alternative"] is None]
    differing = [row for row in past if row["verdict"] != "agrees"]
    if differing:
        yield Text(f"{share(len(differing), len(past), 'group', ('is', 'are'))} not added up:")
        yield table_of(differing, "GROUP", "VERDICT", ("PROBLEM", "why"))


def _hours(seconds: float) -> str:
    hours = seconds / _HOUR_S
    return f"{hours:,.0f} partition-hours" if hours >= 10 else f"{seconds:,.0f} partition-seconds"
