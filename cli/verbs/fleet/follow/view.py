"""What `kohort fleet follow` tells of a run: a line, or a document."""

from __future__ import annotations

import json
from dataclasses import dataclass

from cli.counts import counted
from cli.render.document import FORMAT_VERSION
from cli.times import format_moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A run that a stream made: what the tables have, and what is new.

    `rebalances_added` None: of the first run of this process it is not known.
    """

    at_ms: int
    out: str
    records: int
    added: int
    rebalances: int
    rebalances_added: int | None
    quarantined: int


def followed_line(seen: Followed) -> str:
    """For people."""
    told = [f"{counted(seen.added, 'new record')}, {seen.records:,} in all"]
    new = "" if not seen.rebalances_added else f" ({seen.rebalances_added:,} new)"
    told.append(counted(seen.rebalances, "rebalance") + new)
    if seen.quarantined:
        told.append(f"{seen.quarantined:,} in quarantine")
    return f"{format_moment(seen.at_ms)}  {'; '.join(told)}"


def followed_document(seen: Followed) -> str:
    """For programs: JSON in one line."""
    return json.dumps(
        {
            "kohort": FORMAT_VERSION,
            "command": "fleet follow",
            "time": format_moment(seen.at_ms),
            "out": seen.out,
            "records": seen.records,
            "added": seen.added,
            "rebalances": seen.rebalances,
            "rebalances_added": seen.rebalances_added,
            "quarantined": seen.quarantined,
        },
        ensure_ascii=False,
    )
