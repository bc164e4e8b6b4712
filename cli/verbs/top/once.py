"""The list of `kohort top`, printed once: for a terminal on which no screen can be drawn, and for its readers."""

import time

from cli.options import OutputOptions, SelectionOptions, SourceOptions
from cli.output import emit
from cli.polls.reading import LagTimes, Scope, read_chosen
from cli.render.document import Column, Document, Table
from cli.selection import describe_chosen, is_live, opened
from cli.verbs.top.group_rows import GroupRows
from cli.verbs.top.sight import Sight
from groups.model import listing_of

COLUMNS = ("GROUP", "STATE", "MEMBERS", "LAG", "LAG-TIME", "TYPE", "ASSIGNOR")
"""What one reading shows: rates and health need several."""


def print_list(selection: SelectionOptions, source: SourceOptions) -> None:
    """Print the selected groups, or all; what cannot be read is reported, and sets the exit status."""
    if not (selection.groups or selection.chooses):
        selection = SelectionOptions(all_groups=True)
    scope = Scope(is_live=is_live(source), commit_times=not is_live(source))
    with opened(source) as groups:
        chosen = describe_chosen(groups, selection, offsets=False)
        read = read_chosen(groups, scope, [group.id for group in chosen.items], LagTimes(), _now_ms)
    sight = Sight().listed(tuple(map(listing_of, chosen.items)), read.at_ms, ()).read(read, None, read.at_ms)
    table = GroupRows().table(sight)
    shown = {column: position for position, column in enumerate(table.columns) if column.name in COLUMNS}
    rows = [[row.cells[position] for position in shown.values()] for row in table.rows]
    columns = tuple(Column(column.name, number=column.is_number) for column in shown)
    problems = tuple(dict.fromkeys((*chosen.problems, *read.problems)))
    blocks = [Table(columns=columns, rows=rows)]
    emit(Document(command="list", data={}, blocks=blocks, errors=problems, more=""), OutputOptions())


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
