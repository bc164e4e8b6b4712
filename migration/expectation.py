"""What the steps of a plan cost: rebalances, partitions moved, partition-seconds without an owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from coordinator.model import Topic
from migration.course import Course
from migration.model import Expectation, Step
from migration.rules import Case


def foresee(
    case: Case, steps: Sequence[Step], *, topics: Mapping[str, Topic], bounce_s: float
) -> tuple[Step, ...]:
    """The steps, each with a course given its expectation; a step starts where the one before has left the group."""
    return tuple(
        step
        if step.course is None
        else replace(step, expectation=expected(case, step.course, topics=topics, bounce_s=bounce_s))
        for step in steps
    )


def expected(
    case: Case, course: Course, *, topics: Mapping[str, Topic], bounce_s: float
) -> Expectation | None:
    """What one course would cost the group as it is; None where there is nothing to compute from."""
    return None
