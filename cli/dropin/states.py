"""`--describe --state`."""

from __future__ import annotations

from cli.dropin.tables import or_missing, row, width_of
from cli.render.cells import MISSING
from groups.model import Group

_COORDINATOR = 25


def state_table(group: Group, *, verbose: bool) -> list[str]:
    """The heading and one line."""
    node = group.coordinator
    coordinator = MISSING if node is None else f"{node.host}:{node.port}  ({node.id})"
    columns = [
        ("GROUP", width_of([group.id]), group.id),
        ("COORDINATOR (ID)", width_of([coordinator], _COORDINATOR), coordinator),
        ("ASSIGNMENT-STRATEGY", 20, or_missing(group.protocol)),
        ("STATE", 20, group.state.value),
    ]
    if verbose:
        columns += [
            ("GROUP-EPOCH", 15, or_missing(group.group_epoch)),
            ("TARGET-ASSIGNMENT-EPOCH", 25, or_missing(group.assignment_epoch)),
        ]
    widths = [width for _, width, _ in columns]
    headings, values = [heading for heading, _, _ in columns], [value for _, _, value in columns]
    return [row([*headings, "#MEMBERS"], widths), row([*values, str(len(group.members))], widths)]
