"""What the script of the story noted down: what it caused, and when."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

FILE = "notes.pickle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caused:
    """A rebalance that an act must make. Members by their client ids."""

    protocol: str
    cause: str
    members_before: int
    members: int
    joined: Sequence[str] = ()
    left: Sequence[str] = ()
    began_ms: int  # before the act was begun
    rested_ms: int  # when the group was seen to rest behind it


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
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
    # Of groups by name, in order; those that were compacted away are not among them.
    rebalances: dict[str, list[Caused]] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)  # client ids by the ids that the broker gave
    # What the clients held when the broker was killed: group → client id → topic → partitions.
    owned: dict[str, dict[str, dict[str, list[int]]]] = field(default_factory=dict)
    types: dict[str, str | None] = field(default_factory=dict)  # at the end; None: the group was deleted
    committed: list[Committed] = field(default_factory=list)  # of groups without members
    aborted: list[str] = field(default_factory=list)  # groups with nothing but offsets that were rolled back
    erased: list[str] = field(default_factory=list)  # groups of which compaction left nothing
    compacted: dict[str, int] = field(
        default_factory=dict
    )  # where the cleaner stood when the second half began

    def save(self, directory: Path) -> None:
        (directory / FILE).write_bytes(pickle.dumps(self))

    @classmethod
    def load(cls, directory: Path) -> Notes:
        kept: Notes = pickle.loads((directory / FILE).read_bytes())
        return kept
