"""The document of `kohort fleet history`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.counts import counted
from cli.render.document import Block, Cell, Document, Duration, Table, columns
from cli.times import format_moment
from cli.verbs.describe.view import DescribeMode, describe_document
from groups.model import Group, Problem
from wire.messages.schemas.record_types import RECORD_TYPES

Row = Mapping[str, Any]
"""A row of one of the pipeline's tables; times in ms since 1970."""

_MOMENTS = ("start", "end", "last_rebalance")
QUARANTINE_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """A table: `path` None where it was not kept, its rows, and those that this run added."""

    name: str
    path: str | None
    rows: int
    added: int


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What a run found, as far as it was asked for."""

    records: int
    by_key_version: Mapping[int | None, int]
    """None: the ends of transactions, which have no key of a type."""
    groups: Sequence[Row]
    """In the schema OVERVIEW, those that rebalanced longest first."""
    rebalances: Sequence[Row]
    """In the schema REBALANCES, by group and epoch; none where only groups were asked for."""
    quarantined: Sequence[Row]
    quarantined_total: int
    tables: Sequence[TableFacts]
    since_ms: int | None = None
    until_ms: int | None = None
    as_of_ms: int | None = None
    described: Sequence[Group] = ()
    """The groups as they were at `as_of_ms`."""
    shows_rebalances: bool = False
    """To people; programs get all there are."""
    held_back: int = 0
    """Offsets of the live topic that stand behind transactions that are open."""
    problems: tuple[Problem, ...] = ()


def fleet_history_document(history: History) -> Document:
    """Groups, or the rebalances of those that were asked for, or what they were at a moment."""
    return Document(
        command="fleet history",
        data=_data(history),
        blocks=list(_blocks(history)),
        errors=history.problems,
        remarks=tuple(_remarks(history)),
    )


def _data(history: History) -> dict[str, Any]:
    counts = sorted((number, n) for number, n in history.by_key_version.items() if number is not None)
    data: dict[str, Any] = {
        "records": history.records,
        "by_key_version": {str(number): n for number, n in counts},
        "transaction_ends": history.by_key_version.get(None, 0),
        "since": _moment(history.since_ms),
        "until": _moment(history.until_ms),
        "groups": [_row(row) for row in history.groups],
        "rebalances": [_row(row) for row in history.rebalances],
        "quarantined": [dict(row) for row in history.quarantined],
        "quarantined_total": history.quarantined_total,
        "tables": {
            each.name: {"path": each.path, "rows": each.rows, "added": each.added} for each in history.tables
        },
    }
    if history.as_of_ms is None:
        return {**data, "as_of": None}
    described = _described(history, DescribeMode.OFFSETS).data["groups"]
    return {**data, "as_of": {"time": _moment(history.as_of_ms), "groups": described}}


def _described(history: History, mode: DescribeMode) -> Document:
    """What `kohort describe --as-of` would show."""
    return describe_document(history.described, {}, mode, verbose=mode is DescribeMode.MEMBERS, problems=())


def _row(row: Row) -> dict[str, Any]:
    data = {name: _moment(value) if name in _MOMENTS else value for name, value in row.items()}
    data.pop("day", None)
    return data


def _moment(at_ms: int | None) -> str | None:
    return None if at_ms is None else format_moment(at_ms)


def _blocks(history: History) -> Iterator[Block]:
    if history.as_of_ms is not None:
        for mode in (DescribeMode.STATE, DescribeMode.MEMBERS, DescribeMode.OFFSETS):
            yield from _described(history, mode).blocks
        return
    if history.shows_rebalances:
        yield _rebalances(history.rebalances)
        return
    yield _groups(history.groups)
    yield _records(history)
    kept = [each for each in history.tables if each.path is not None]
    if kept:
        rows = [(each.name, each.rows, each.added, each.path) for each in kept]
        yield Table(columns=columns("TABLE", "#ROWS", "#ADDED", "PATH"), rows=rows)
    if history.quarantined:
        yield _quarantine(history)


def _groups(groups: Sequence[Row]) -> Table:
    names = (
        "##REBALANCES",
        "##JOINED",
        "##LEFT",
        "##MOVED",
        "#REBALANCING",
        "##STORMS",
        "##ZOMBIES",
        "##RESETS",
    )
    return Table(
        columns=columns("GROUP", "TYPE", *names, "LAST-REBALANCE"),
        rows=[
            (
                row["group"],
                row["migration"] if row["migration"] == "mixed" else row["type"],
                row["rebalances"],
                row["joined"],
                row["left"],
                row["moved"],
                _duration(row["rebalancing_s"]),
                row["storms"],
                row["zombies"],
                row["resets"],
                _moment(row["last_rebalance"]),
            )
            for row in groups
        ],
    )


def _rebalances(rebalances: Sequence[Row]) -> Table:
    names = (
        "#EPOCH",
        "START",
        "#DURATION",
        "CAUSE",
        "PROTOCOL",
        "ASSIGNOR",
        "##BEFORE",
        "##MEMBERS",
        "##MOVED",
        "##REVOKED",
    )
    return Table(columns=columns("GROUP", *names, "JOINED", "LEFT"), rows=list(map(_rebalance, rebalances)))


def _rebalance(row: Row) -> tuple[Cell, ...]:
    return (
        row["group"],
        row["epoch"],
        _moment(row["end"] if row["start"] is None else row["start"]),
        _duration(row["duration_s"]),
        row["cause"],
        row["protocol"],
        row["assignor"],
        row["members_before"],
        row["members"],
        row["moved"],
        row["revoked"],
        ", ".join(row["joined"]),
        ", ".join(row["left"]),
    )


def _records(history: History) -> Table:
    rows = [
        (number, _name(number), count)
        for number, count in sorted(
            history.by_key_version.items(), key=lambda item: -1 if item[0] is None else item[0]
        )
    ]
    return Table(columns=columns("#TYPE", "NAME", "##RECORDS"), rows=rows)


def _name(number: int | None) -> str:
    if number is None:
        return "ends of transactions"
    return RECORD_TYPES[number].name if number in RECORD_TYPES else "unknown"


def _quarantine(history: History) -> Table:
    return Table(
        columns=columns("FILE", "#POSITION", "#OFFSET", "NOT-READ"),
        rows=[
            (row["file"], row["position"], row["offset"], row["reason"])
            for row in history.quarantined[:QUARANTINE_SHOWN]
        ],
    )


def _remarks(history: History) -> Iterator[str]:
    total = history.quarantined_total
    if total:
        things = "1 record, part or file" if total == 1 else f"{total} records, parts or files"
        yield f"{things} could not be read; --output json and the table quarantine say which, and why"
    if history.held_back:
        yield f"{counted(history.held_back, 'offset')} behind open transactions not read; a later run brings them"


def _duration(seconds: float | None) -> Cell:
    return None if seconds is None else Duration(round(seconds * 1_000))
