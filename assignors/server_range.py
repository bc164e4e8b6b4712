"""The broker's range assignor: plain ranges, by topic. It looks neither at racks nor at what is owned.

Source: org.apache.kafka.coordinator.group.assignor.RangeAssignor.
"""

from __future__ import annotations

from assignors.assignor import Assignor, Side
from assignors.member_order import static_first
from assignors.model import DenseGroup, Result
from assignors.plain_ranges import plain_ranges


def assign(group: DenseGroup) -> Result:
    """Assign as the broker's RangeAssignor does."""
    return Result(assignment=plain_ranges(group, static_first(group.spec.members)))


ASSIGNORS = (Assignor(name="range", side=Side.BROKER, leader=None, protocols=frozenset(), assign=assign),)
