"""Groups from a snapshot file."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cli.sources.source import ReadResult, SettingsOfGroups, Source
from groups.commits import unreadable
from groups.described import unreadable_members
from groups.model import Cause, Cluster, Group, GroupListing, Problem, Topic, listing_of, partition_name
from groups.settings import own_configs
from groups.snapshot import Snapshot, SnapshotFault, read_snapshot, with_usable_racks


class SavedSource(Source):
    why_no_records = "a snapshot contains no records"

    def __init__(self, file: Path) -> None:
        self.name = str(file)
        self.snapshot: Snapshot = read_snapshot(file)
        of_groups = (fault for fault in self.snapshot.faults if fault.group is not None)
        self._unread = {fault.group: _problem(fault) for fault in of_groups}
        super().__init__(f"{notice.subject}: {notice.message}" for notice in self.snapshot.notices)

    def cluster(self) -> Cluster:
        return self.snapshot.cluster

    def list_groups(self) -> ReadResult[GroupListing]:
        rows = tuple(listing_of(group) for _, group in sorted(self.snapshot.groups.items()))
        return ReadResult(rows, tuple(self._unread.values()))

    def describe(self, groups: Sequence[str], *, offsets: bool) -> ReadResult[Group]:
        known = self.snapshot.groups
        full = [known[name] for name in groups if name in known]
        items = full if offsets else [replace(group, offsets=None) for group in full]
        missing = [
            self._unread.get(name)
            or Problem(subject=name, message=f"no such group in {self.name}", cause=Cause.ABSENT, group=name)
            for name in groups
            if name not in known
        ]
        unread = (
            problem for group in items for problem in (*unreadable_members(group), *_unknown_offsets(group))
        )
        return ReadResult(tuple(items), (*missing, *unread))

    def group_settings(self, groups: Sequence[str], /) -> SettingsOfGroups:
        """The groups' settings when the snapshot was taken."""
        known = self.snapshot.groups
        facts = {name: known[name].settings for name in groups if name in known}
        return SettingsOfGroups(
            by_group={name: own_configs(settings) for name, settings in facts.items() if settings is not None}
        )

    def _topics(self, names: Collection[str] | None, requested: Sequence[str]) -> ReadResult[Topic]:
        known = self.snapshot.topics
        topic_names = known if names is None else known.keys() & set(names)
        topics = [with_usable_racks(known[name]) for name in sorted(topic_names)]
        problems = tuple(
            _problem(fault)
            for fault in self.snapshot.faults
            if fault.topic is not None and (names is None or fault.topic in names)
        )
        kinds = {"start_offsets", "stable_offsets", "end_offsets"}
        unwanted: dict[str, Any] = dict.fromkeys(kinds.difference(requested))
        return ReadResult(tuple(replace(topic, **unwanted) for topic in topics), problems)


def _unknown_offsets(group: Group) -> Iterator[Problem]:
    """A problem for each committed offset that is null in the file."""
    for partition in unreadable(group.offsets or {}):
        subject = f"{group.id}, {partition_name(partition)}"
        message = "its committed offset is not known: it could not be read for the snapshot"
        yield Problem(subject=subject, message=message, group=group.id)


def _problem(fault: SnapshotFault) -> Problem:
    where = fault.error
    return Problem(
        subject=where.place,
        message=f"{where.field}: {where.message}",
        group=fault.group,
        topics=() if fault.topic is None else (fault.topic,),
    )
