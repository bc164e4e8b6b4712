"""The document of `kohort log verify`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from cli.render.document import Block, Document, Table, columns
from cli.times import format_moment
from cli.verbs.log_verify.action import Checked
from groups.model import Problem
from wire.messages.schemas.record_types import RECORD_TYPES


def log_verify_document(partitions: Sequence[Checked], errors: tuple[Problem, ...]) -> Document:
    """A row per partition, and one per thing that is wrong."""
    data = {"partitions": [_data(checked) for checked in partitions]}
    return Document(command="log verify", data=data, blocks=list(_blocks(partitions)), errors=errors)


def _data(checked: Checked) -> dict[str, Any]:
    return {
        "directory": checked.directory,
        "segments": checked.segments,
        "batches": checked.batches,
        "records": checked.records,
        "control_records": checked.control,
        "keys": [
            {"type": number, "name": _name(number), "records": count}
            for number, count in sorted(checked.keys.items())
        ],
        "first_offset": checked.first_offset,
        "last_offset": checked.last_offset,
        "first_timestamp": checked.first_ms,
        "last_timestamp": checked.last_ms,
        "problems": [{"subject": each.subject, "message": each.message} for each in checked.problems],
    }


def _name(number: int) -> str | None:
    return RECORD_TYPES[number].name if number in RECORD_TYPES else None


def _blocks(partitions: Sequence[Checked]) -> Iterator[Block]:
    names = ("##PROBLEMS", "#SEGMENTS", "#BATCHES", "#RECORDS", "#CONTROL", "#FIRST-OFFSET", "#LAST-OFFSET")
    yield Table(
        columns=columns("DIRECTORY", *names, "FIRST-TIME", "LAST-TIME"),
        rows=[
            (
                checked.directory,
                len(checked.problems),
                checked.segments,
                checked.batches,
                checked.records,
                checked.control,
                checked.first_offset,
                checked.last_offset,
                _time(checked.first_ms),
                _time(checked.last_ms),
            )
            for checked in partitions
        ],
    )
    total = sum((checked.keys for checked in partitions), start=Counter[int]())
    if total:
        rows = [(number, _name(number) or "unknown", count) for number, count in sorted(total.items())]
        yield Table(columns=columns("#TYPE", "NAME", "#RECORDS"), rows=rows)
    problems = [(each.subject, each.message) for checked in partitions for each in checked.problems]
    if problems:
        yield Table(columns=columns("WHERE", "PROBLEM"), rows=problems)


def _time(moment: int | None) -> str | None:
    return None if moment is None else format_moment(moment)
