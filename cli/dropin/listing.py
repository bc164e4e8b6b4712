"""`--list`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from cli.dropin.cluster import list_consumer_groups
from cli.dropin.errors import ToolUsageError
from cli.dropin.parse import Options
from cli.dropin.printing import row, width_of
from cli.render.cells import safe_text
from cli.sources.live import LiveSource
from groups.model import GroupListing, GroupState, GroupType

T = TypeVar("T")

STATES = {
    state.value: state
    for state in (
        GroupState.ASSIGNING,
        GroupState.COMPLETING_REBALANCE,
        GroupState.DEAD,
        GroupState.EMPTY,
        GroupState.PREPARING_REBALANCE,
        GroupState.RECONCILING,
        GroupState.STABLE,
    )
}
TYPES = {kind.value.capitalize(): kind for kind in (GroupType.CLASSIC, GroupType.CONSUMER)}
_COLUMN = 20
_GAP = 10
"""The number of blanks that the tool prints after the longest name."""


def run(options: Options, source: LiveSource) -> int:
    """Print groups of consumers, with type and state if requested, filtered by the given values."""
    types = _chosen(options.type, TYPES, "types list", "types")
    states = _chosen(options.state, STATES, "state list", "states")
    listed, status = list_consumer_groups(source)
    groups = [
        group
        for group in listed
        if (not types or group.type in types) and (not states or group.state in states)
    ]
    if options.type is None and options.state is None:
        lines = [safe_text(group.id) for group in groups]
    else:
        lines = _table(groups, with_type=options.type is not None, with_state=options.state is not None)
    print("".join(line + "\n" for line in lines), end="")
    return status


def _chosen(given: str | None, known: Mapping[str, T], what: str, values: str) -> set[T]:
    """The values of a comma-separated list; an empty one selects all."""
    words = (given or "").rstrip(",")
    if not words:
        return set()
    by_word = {name.lower(): value for name, value in known.items()}
    names = [word.strip().lower() for word in words.split(",")]
    if not by_word.keys() >= set(names):
        raise ToolUsageError(f"Invalid {what} '{given}'. Valid {values} are: {', '.join(known)}")
    return {by_word[name] for name in names}


def _table(groups: Sequence[GroupListing], *, with_type: bool, with_state: bool) -> list[str]:
    rows = [["GROUP", *["TYPE"] * with_type, *["STATE"] * with_state]]
    for group in groups:
        kind, state = group.type.value.capitalize(), group.state.value
        rows.append([group.id, *[kind] * with_type, *[state] * with_state])
    widths = [width_of(group.id for group in groups) + _GAP, _COLUMN, _COLUMN]
    return [row(cells, widths) for cells in rows]
