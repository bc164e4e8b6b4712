"""Taking a snapshot of a source."""

from __future__ import annotations

from collections.abc import Sequence

from cli.cluster.port import Source
from coordinator.model import Problem
from coordinator.snapshot import Snapshot


def take_snapshot(source: Source, groups: Sequence[str]) -> tuple[Snapshot, tuple[Problem, ...]]:
    """The named groups with offsets, and every topic: a regex or an added member may want any of them."""
    described = source.describe(groups, offsets=True)
    topics = source.topics(None, end_offsets=True)
    snapshot = Snapshot(
        cluster=source.cluster(),
        topics={topic.name: topic for topic in topics.items},
        groups={group.id: group for group in described.items},
    )
    return snapshot, described.problems + topics.problems
