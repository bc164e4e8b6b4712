"""What the script of the story noted down: what it caused, and when."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

FILE = "notes.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caused:
    """A rebalance that an act must make. Members by their client ids.

    Times are ms since 1970: before the act was begun, and when the group was seen to rest behind it.
    """

    protocol: str
    cause: str
    members_before: int
    members: int
    joined: Sequence[str] = ()
    left: Sequence[str] = ()
    began_ms: int
    rested_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What was committed of a partition, as the script counted it."""

    group: str
    topic: str
    partition: int
    commits: int
    resets: int
    deleted: int
    first: int
    last: int


@dataclass(slots=True, kw_only=True)
class Notes:
    """Everything that the script knows.

    Attributes:
        rebalances: of groups by name, in order; those that were compacted away are not among them.
        ids: the client ids of members by the ids that the broker gave them.
        owned: what the clients said that they held when the broker was killed: group → client id → topic → partitions.
        types: of groups by name, at the end; None: it was deleted.
        committed: of groups without members.
        aborted: groups of which there is nothing but offsets in transactions that were aborted.
        erased: groups of which compaction left nothing.
        compacted: partition → where its cleaner stood when the second half began.
    """

    rebalances: dict[str, list[Caused]] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    owned: dict[str, dict[str, dict[str, list[int]]]] = field(default_factory=dict)
    types: dict[str, str | None] = field(default_factory=dict)
    committed: list[Committed] = field(default_factory=list)
    aborted: list[str] = field(default_factory=list)
    erased: list[str] = field(default_factory=list)
    compacted: dict[str, int] = field(default_factory=dict)

    def save(self, directory: Path) -> None:
        """Write them down."""
        (directory / FILE).write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @classmethod
    def load(cls, directory: Path) -> Notes:
        """Read what `save` wrote."""
        kept = json.loads((directory / FILE).read_text(encoding="utf-8"))
        rebalances: Mapping[str, list[dict[str, object]]] = kept.pop("rebalances")
        committed: list[dict[str, object]] = kept.pop("committed")
        return cls(
            rebalances={
                group: [Caused(**row) for row in rows]  # type: ignore[arg-type]
                for group, rows in rebalances.items()
            },
            committed=[Committed(**row) for row in committed],  # type: ignore[arg-type]
            **kept,
        )
