"""Ranges without racks: of each topic, every subscriber in turn gets the next partitions.

With P partitions and n subscribers, P // n each, and one more for the first P % n.
"""

from __future__ import annotations

import numpy as np

from assignors.model import Assignment, DenseGroup, Ints, Rows
from assignors.subscribers import all_alike, by_topic


def plain_ranges(group: DenseGroup, members: Ints) -> Assignment:
    """Hand out all topics; `members` is the order of the members."""
    return _alike(group, members) if all_alike(group) else _differing(group, members)


def counts(partitions: int, members: int) -> Ints:
    """How many partitions each of the members gets."""
    each, extra = divmod(partitions, members)
    result = np.full(members, each, dtype=np.int64)
    result[:extra] += 1
    return result


def _alike(group: DenseGroup, members: Ints) -> Assignment:
    """Every member subscribes to the same topics: all ranges at once, one per member and topic."""
    rows = group.subscriptions
    topics = rows.values[: int(rows.start[1])] if len(members) else rows.values
    rank = np.empty((len(members), 1), dtype=np.int64)
    rank[members, 0] = np.arange(len(members))
    each, extra = np.divmod(np.diff(group.topic_start)[topics], max(1, len(members)))
    length = each + (rank < extra)
    first = group.topic_start[topics] + rank * each + np.minimum(rank, extra)
    start = np.zeros(len(members) + 1, dtype=np.int64)
    np.cumsum(length.sum(axis=1), out=start[1:])
    flat = length.ravel()
    if flat.max(initial=0) == flat.min(initial=1) == 1:
        return Assignment(group, Rows(start, first.ravel()))
    ends = np.cumsum(flat)
    values = np.repeat(first.ravel() - ends + flat, flat)
    values += np.arange(len(values))
    return Assignment(group, Rows(start, values))


def _differing(group: DenseGroup, members: Ints) -> Assignment:
    subscribers = by_topic(group, members)
    owners = np.full(group.partition_count, -1, dtype=np.int32)
    for topic, spec in enumerate(group.spec.topics):
        positions = subscribers[topic]
        if len(positions):
            owners[group.topic_start[topic] : group.topic_start[topic + 1]] = np.repeat(
                members[positions], counts(spec.partitions, len(positions))
            )
    return Assignment.from_owners(group, owners)
