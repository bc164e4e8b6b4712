"""Who may get which topic, for the general sticky algorithm.

Topics with the same subscribers form a class: partitions of one class are interchangeable to everything that asks only
who could take them. Real groups have few classes, however many topics.

Source: topic2AllPotentialConsumers and consumer2AllPotentialTopics of
AbstractStickyAssignor.GeneralAssignmentBuilder.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assignors.java.sticky_group import StickyGroup, places
from assignors.model import Ints, Rows


@dataclass(frozen=True, eq=False, kw_only=True)
class Subscribers:
    """Topics that take part, and their subscribers."""

    question: StickyGroup
    potential: Ints
    """How many subscribers each topic has; one that names a topic twice counts twice, as in Java."""
    class_of: Ints
    """Class of each topic; 0 for topics that take no part."""
    members: Rows
    """Subscribers of each class, by member id."""

    @cached_property
    def in_order(self) -> Ints:
        """Topics that take part, as Java sorts them: those with the fewest subscribers first, then by name."""
        by_name = self.question.by_name[self.question.takes_part[self.question.by_name]]
        return by_name[np.argsort(self.potential[by_name], kind="stable")]

    @cached_property
    def capacity(self) -> Ints:
        """How many partitions each member could have. A list as long as that of all topics counts as all."""
        sizes = np.diff(self.question.group.topic_start)
        listed = self.question.listed
        summed = np.concatenate(([0], np.cumsum(sizes[listed.values])))[listed.start]
        everything = int(sizes[self.question.takes_part].sum())
        return np.where(listed.lengths == len(self.in_order), everything, np.diff(summed))

    @cached_property
    def subscribed(self) -> NDArray[np.bool_]:
        """By member and class."""
        table = np.zeros((self.question.member_count, len(self.members)), dtype=bool)
        table[self.members.values, self.members.row_of] = True
        return table


def subscribers_of(question: StickyGroup) -> Subscribers:
    listed, topics = question.listed, len(question.group.spec.topics)
    rank = places(question.by_id)
    # Two stable sorts: by member id, then by topic.
    by_member = _stable_order(rank[listed.row_of])
    by_topic = by_member[_stable_order(listed.values[by_member])]
    members = listed.row_of[by_topic]
    potential = np.bincount(listed.values, minlength=topics)
    start = np.concatenate(([0], np.cumsum(potential)))
    classes: dict[bytes, int] = {}
    rows: list[Ints] = []
    class_of = np.zeros(topics, dtype=np.int64)
    for topic in np.flatnonzero(question.takes_part).tolist():
        row = members[start[topic] : start[topic + 1]]
        class_of[topic] = classes.setdefault(row.tobytes(), len(classes))
        if len(rows) < len(classes):
            rows.append(row)
    return Subscribers(
        question=question, potential=potential, class_of=class_of, members=Rows.of([_unique(r) for r in rows])
    )


def _unique(row: Ints) -> Ints:
    """Without repetition; equals stand side by side."""
    return row[np.concatenate(([True], row[1:] != row[:-1]))]


def _stable_order(keys: Ints) -> Ints:
    # Sixteen-bit keys are radix sorted.
    if len(keys) and int(keys.max()) < 2**16:
        return np.argsort(keys.astype(np.uint16), kind="stable")
    return np.argsort(keys, kind="stable")
