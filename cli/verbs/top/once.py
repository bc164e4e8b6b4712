"""The list of `kohort top`, printed once: for a terminal on which no screen can be drawn, and for its readers."""

import time

from cli.options import OutputOptions, SourceOptions
from cli.output import emit
from cli.polls.reading import LagTimes, Scope, read_chosen
from cli.render.document import Column, Document, Table
from cli.selection import is_live, opened
from cli.verbs.top.choice import GroupChoice, opened_group
from cli.verbs.top.group_rows import GroupRows
from cli.verbs.top.options import TopOptions
from cli.verbs.top.sight import Sight

COLUMNS = ("GROUP", "STATE", "MEMBERS", "LAG", "LAG-TIME", "TYPE", "ASSIGNOR")
"""What one reading shows: rates and health need several."""


def print_list(options: TopOptions, source: SourceOptions) -> None:
    """Exits with a status if a group cannot be read, as `kohort list`."""
    choice, only = GroupChoice(options.selection), opened_group(options.selection)
    scope = Scope(is_live=is_live(source), commit_times=not is_live(source))
    with opened(source) as groups:
        listed = choice.read(groups)
        listings = [listing for listing in listed.items if only in (None, listing.id)]
        read = read_chosen(groups, scope, [listing.id for listing in listings], LagTimes(), _now_ms)
    problems = (*listed.problems, *read.problems)
    table = GroupRows().table(Sight().listed(listings, read.at_ms, problems).read(read, None, read.at_ms))
    positions = [position for position, column in enumerate(table.columns) if column.name in COLUMNS]
    columns = tuple(
        Column(column.name, number=column.is_number) for column in table.columns if column.name in COLUMNS
    )
    rows = [[row.cells[position] for position in positions] for row in table.rows]
    emit(
        Document(command="list", data={}, blocks=[Table(columns=columns, rows=rows)], errors=problems),
        OutputOptions(),
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
