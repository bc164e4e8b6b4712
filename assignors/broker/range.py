"""The broker's range assignor (group.assignor.RangeAssignor): plain ranges, by topic, without racks and current
assignments."""

from functools import partial

from assignors.broker.targets import inserted_order
from assignors.java.hash_map import static_first
from assignors.java.range import plain_ranges
from assignors.model import DenseGroup, Result


def assign(group: DenseGroup) -> Result:
    order = static_first(group.spec.members)
    assignment = plain_ranges(group, order)
    return Result(assignment=assignment, map_order=partial(inserted_order, assignment, order))
