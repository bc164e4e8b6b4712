"""Format counts and lists of names for people."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, what: str) -> str:
    """`1 offset`, `12 offsets`, `1,200 offsets`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def first_names(names: Sequence[str], most: int, what: str = "") -> str:
    """The first `most` names: `a, b and 3 more`, with `what` the others are: `a, b and 3 more groups`."""
    others = len(names) - most
    return ", ".join(names[:most]) + (f" and {others:,} more {what}".rstrip() if others > 0 else "")
