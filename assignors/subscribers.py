"""The members of a group topic by topic."""

from __future__ import annotations

import numpy as np

from assignors.model import DenseGroup, Ints, Rows


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
    # Sixteen-bit keys are radix sorted: first by position, then, stably, by topic.
    positions = np.repeat(rank, rows.lengths)
    by_position = _stable_argsort(positions)
    values = rows.values[by_position]
    by_value = _stable_argsort(values)
    return Rows(_starts(np.bincount(rows.values, minlength=topics)), positions[by_position][by_value])


def _starts(lengths: Ints) -> Ints:
    start = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    return start


def _stable_argsort(keys: Ints) -> Ints:
    if len(keys) and int(keys.max()) < 2**16:
        return np.argsort(keys.astype(np.uint16), kind="stable")
    return np.argsort(keys, kind="stable")
