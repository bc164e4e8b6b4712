"""The broker's range assignor: plain ranges, by topic. It looks neither at racks nor at what is owned.

Source: org.apache.kafka.coordinator.group.assignor.RangeAssignor.
"""

from __future__ import annotations

from functools import partial

from assignors.broker.targets import put_order
from assignors.java.hash_map import static_first
from assignors.java.range import plain_ranges
from assignors.model import DenseGroup, Result


def assign(group: DenseGroup) -> Result:
    """Assign as the broker's RangeAssignor does."""
    order = static_first(group.spec.members)
    assignment = plain_ranges(group, order)
    return Result(assignment=assignment, map_order=partial(put_order, assignment, order))
