"""Groups from a snapshot file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from cli.sources.source import FileSource, Read
from groups.model import Cause, Cluster, Group, GroupListing, Problem, Topic, listing_of
from groups.snapshot import Snapshot, read_snapshot


class SavedSource(FileSource):
    """A `Source` over a snapshot."""

    knows_no_records = "a snapshot holds no records"

    def __init__(self, file: Path) -> None:
        self.name = str(file)
        self.snapshot: Snapshot = read_snapshot(file)
        super().__init__(f"{each.subject}: {each.message}" for each in self.snapshot.notices)

    def cluster(self) -> Cluster:
        return self.snapshot.cluster

    def list_groups(self) -> Read[GroupListing]:
        return Read(tuple(listing_of(group) for _, group in sorted(self.snapshot.groups.items())))

    def describe(self, groups: Sequence[str], *, offsets: bool) -> Read[Group]:
        known = self.snapshot.groups
        found = [
            known[name] if offsets else replace(known[name], offsets=None) for name in groups if name in known
        ]
        missing = [
            Problem(subject=name, message=f"no such group in {self.name}", cause=Cause.ABSENT, group=name)
            for name in groups
            if name not in known
        ]
        return Read(tuple(found), tuple(missing))

    def topics(self, names: Collection[str] | None, *, end_offsets: bool) -> Read[Topic]:
        known = self.snapshot.topics
        wanted = known if names is None else known.keys() & set(names)
        found = [
            known[name] if end_offsets else replace(known[name], end_offsets=None) for name in sorted(wanted)
        ]
        return Read(tuple(found))
