"""Taking a snapshot of a source."""

from __future__ import annotations

from cli.sources.source import Read, Source
from groups.model import Group, Problem
from groups.snapshot import Snapshot


def take_snapshot(
    source: Source, described: Read[Group], *, leaders: bool = False
) -> tuple[Snapshot, tuple[Problem, ...]]:
    """Groups, described with their offsets, and every topic: a regex or an added member may want any of them.

    With the `leaders` of classic groups, or why they are not known, where asked.
    """
    found = source.with_leaders(described.items) if leaders else described.items
    unled = tuple(
        Problem(subject=group.id, message=f"who leads is not known: {group.leader_problem}")
        for group in found
        if group.leader_problem is not None
    )
    topics = source.topics(None, end_offsets=True)
    snapshot = Snapshot(
        cluster=source.cluster(),
        topics={topic.name: topic for topic in topics.items},
        groups={group.id: group for group in found},
    )
    return snapshot, described.problems + unled + topics.problems
