"""Format counts and lists of names for people."""

from __future__ import annotations

from collections.abc import Sequence

from groups.counts import counted
from groups.listing import shown_id

__all__ = ["counted", "first_names"]


def first_names(names: Sequence[str], most: int, what: str = "") -> str:
    """The first `most` names: `a, b and 3 more`, with `what` the others are: `a, b and 3 more groups`."""
    others = len(names) - most
    return ", ".join(map(shown_id, names[:most])) + (
        f" and {others:,} more {what}".rstrip() if others > 0 else ""
    )
