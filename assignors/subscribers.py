"""The members of a group topic by topic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assignors.model import DenseGroup, Ints, Rows

SPARSE = 16
"""A matrix of members and topics may have this many cells for each subscription before it costs too much."""


def all_alike(group: DenseGroup) -> bool:
    """Whether every member subscribes to the same existing topics."""
    rows = group.subscriptions
    members = len(rows)
    if members == 0:
        return True
    width = int(rows.start[1])
    if len(rows.values) != members * width or not np.array_equal(rows.start, np.arange(members + 1) * width):
        return False
    return bool((rows.values.reshape(members, width) == rows.values[:width]).all())


def homogeneous(group: DenseGroup) -> bool:
    """Whether the broker takes the members' subscriptions for equal (modern.ModernGroup.subscriptionType).

    Topics that do not exist count, and what only a regular expression brings in never counts as subscribed by name.
    """
    members = group.spec.members
    if any(member.by_regex for member in members):
        return False
    named = np.array([len(member.topics) for member in members])
    if np.array_equal(named, group.subscriptions.lengths):
        # Each name is a topic that exists, and none occurs twice.
        return all_alike(group)
    return len({frozenset(member.topics) for member in members}) <= 1


def by_topic(group: DenseGroup, order: Ints) -> Rows:
    """Positions in `order` (a permutation of the members) of each topic's subscribers, ascending."""
    topics = len(group.spec.topics)
    rows = group.subscriptions
    if all_alike(group):
        subscribed = rows.values[: int(rows.start[1])] if len(rows) else rows.values
        lengths = np.zeros(topics, dtype=np.int64)
        lengths[subscribed] = len(order)
        return Rows(_starts(lengths), np.tile(np.arange(len(order)), len(subscribed)))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    positions = np.repeat(rank, rows.lengths)
    lengths = np.bincount(rows.values, minlength=topics)
    if topics * len(order) <= SPARSE * len(rows.values):
        cells = np.zeros((topics, len(order)), dtype=bool)
        cells[rows.values, positions] = True
        return Rows(_starts(lengths), np.nonzero(cells)[1])
    return Rows(_starts(lengths), positions[np.lexsort((positions, rows.values))])


def matrix(group: DenseGroup) -> NDArray[np.bool_]:
    """Members × topics: who subscribes to what. One byte a cell."""
    cells = np.zeros((len(group.spec.members), len(group.spec.topics)), dtype=bool)
    cells[group.subscriptions.row_of, group.subscriptions.values] = True
    return cells


def _starts(lengths: Ints) -> Ints:
    start = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    return start
