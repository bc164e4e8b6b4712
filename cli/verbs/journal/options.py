"""The options of `kohort journal`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cli.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalOptions:
    """Which journal is read, and which of its entries are listed."""

    journal: Annotated[
        Path | None,
        option("--journal", "Directory of the journal; KOHORT_JOURNAL names another default.", "DIR"),
    ] = None
    groups: Annotated[
        list[str] | None, option("--group", "Only changes of this group; repeatable.", "GROUP")
    ] = None
    since: Annotated[
        str | None, option("--since", "From this time on: 2026-03-01T03:00:00Z, or 2h ago as 2h.", "TIME")
    ] = None
    until: Annotated[str | None, option("--until", "Until this time.", "TIME")] = None
    user: Annotated[str | None, option("--user", "Only changes by this user.", "NAME")] = None
    cluster: Annotated[str | None, option("--cluster", "Only changes of the cluster with this id.", "ID")] = (
        None
    )
