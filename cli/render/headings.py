"""What a heading decides about its cells: which are durations, and their colors. docs/headings.md has all headings."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from cli.render.cells import Cell, Duration
from cli.render.lines import Role

DURATIONS = frozenset(
    {
        "CONVERGED",
        "DELAY",
        "DURATION",
        "ENDS-IN",
        "GAIN",
        "GATE-OPEN-AFTER",
        "LAG-TIME",
        "LASTED",
        "MAX-LAG-TIME",
        "MAX-UNOWNED-TIME",
        "REBALANCING",
        "UNOWNED-TIME",
        "UNREAD-TIME",
        "ZERO-IN",
        "ZOMBIE-OVERLAP",
    }
)
"""Durations: tables contain `5 min 8 s`, CSV seconds, and its headings end in -S."""

RoleOf: TypeAlias = Callable[[Cell], Role]
LAG_WARNING, LAG_BAD = 1_000, 100_000
"""Lags, in records, from which a lag is a warning or bad."""
LAG_TIME_WARNING_MS, LAG_TIME_BAD_MS = 60_000, 600_000

_WORDS: Mapping[str, Role] = {
    **dict.fromkeys(("Stable", "ready", "ok", "safe", "yes"), Role.GOOD),
    **dict.fromkeys(("Empty", "Unknown", "info", "note"), Role.FAINT),
    **dict.fromkeys(("Dead", "NotReady", "error", "blocker", "blocked", "not safe", "no"), Role.BAD),
    **dict.fromkeys(("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"), Role.WARNING),
    **dict.fromkeys(("warning", "warnings", "above worst"), Role.WARNING),
}


def _word(cell: Cell) -> Role:
    return _WORDS.get(cell, Role.PLAIN) if isinstance(cell, str) else Role.PLAIN


def _answer(cell: Cell) -> Role:
    """The role of yes, no or unknown."""
    if cell is None:
        return Role.WARNING
    return _word("yes" if cell else "no") if isinstance(cell, bool) else _word(cell)


def _lag(cell: Cell) -> Role:
    """The role of a lag; a negative one, an offset beyond the end of the log, is as bad as a large one."""
    if not isinstance(cell, int):
        return Role.PLAIN
    is_time = isinstance(cell, Duration)
    if cell < 0 or cell >= (LAG_TIME_BAD_MS if is_time else LAG_BAD):
        return Role.BAD
    return Role.WARNING if cell >= (LAG_TIME_WARNING_MS if is_time else LAG_WARNING) else Role.PLAIN


def _any(role: Role) -> RoleOf:
    """A function that returns this role for every number except 0; in a text like `10 (56 %)`, the number counts."""

    def role_of(cell: Cell) -> Role:
        number = cell.partition(" ")[0] if isinstance(cell, str) else cell
        return Role.PLAIN if number in (None, 0, "0", "") else role

    return role_of


_ROLES: Mapping[str, RoleOf] = {
    **dict.fromkeys(("STATE", "VERDICT", "LEVEL", "REHEARSED"), _word),
    **dict.fromkeys(("HOLDS", "VALID", "ARRIVED", "APPLIED", "APPLICABLE"), _answer),
    **dict.fromkeys(("LAG", "MAX-LAG", "LAG-TIME", "MAX-LAG-TIME"), _lag),
    **dict.fromkeys(("#BLOCKERS", "#ERRORS", "#LOST", "VIOLATIONS"), _any(Role.BAD)),
    **dict.fromkeys(("#WARNINGS", "UNOWNED", "LOST", "REVOKES"), _any(Role.WARNING)),
    **dict.fromkeys(("GAINED", "GAINS"), _any(Role.GOOD)),
    **dict.fromkeys(("MOVED",), _any(Role.STRONG)),
}


def role_of(heading: str) -> RoleOf:
    """The role of each cell under a heading."""
    return _ROLES.get(heading.upper(), lambda _: Role.PLAIN)
