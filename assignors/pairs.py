"""Assignments in which a partition may have several owners."""

from __future__ import annotations

import numpy as np

from assignors.model import Assignment, DenseGroup, Ints, Rows


def from_pairs(group: DenseGroup, keys: Ints) -> Assignment:
    """From `member * (partition_count + strays) + partition` of every pair; a pair may occur twice."""
    total = group.partition_count + len(group.strays)
    members, values = np.divmod(np.unique(keys), max(1, total))
    start = np.searchsorted(members, np.arange(len(group.spec.members) + 1))
    return Assignment(group, Rows(start, values))
