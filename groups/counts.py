"""Counts of things as text."""

from collections.abc import Sequence

from groups.listing import shown_id


def counted(count: int, what: str) -> str:
    """`1 offset`, `12 offsets`, `1,200 offsets`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def share(part: int, whole: int, what: str, verbs: tuple[str, str] = ("", "")) -> str:
    """`2 of 3 members have`, `1 of 3 members has`, `0 of 1 member has`; `verbs` are the singular and the plural."""
    one, many = verbs
    return f"{part:,} of {counted(whole, what)} {one if 1 in (part, whole) else many}".rstrip()


def first_names(names: Sequence[str], most: int = 3, what: str = "", of: int | None = None) -> str:
    """The first `most` names, `of` a number: `a, b and 3 more`, with `what` they are: `a, b and 3 more groups`."""
    others = (len(names) if of is None else of) - most
    more = f" and {others:,} more {what}".rstrip() if others > 0 else ""
    return ", ".join(map(shown_id, names[:most])) + more
