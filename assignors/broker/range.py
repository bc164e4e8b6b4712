"""The broker's range assignor: plain ranges, by topic. It looks neither at racks nor at what is owned.

Source: org.apache.kafka.coordinator.group.assignor.RangeAssignor.
"""

from __future__ import annotations

from functools import partial

from assignors.assignor import Assignor, Side
from assignors.broker.map_order import put
from assignors.member_order import static_first
from assignors.model import DenseGroup, Result
from assignors.plain_ranges import plain_ranges


def assign(group: DenseGroup) -> Result:
    """Assign as the broker's RangeAssignor does."""
    order = static_first(group.spec.members)
    assignment = plain_ranges(group, order)
    return Result(assignment=assignment, map_order=partial(put, assignment, order))


ASSIGNORS = (Assignor(name="range", side=Side.BROKER, leader=None, protocols=frozenset(), assign=assign),)
