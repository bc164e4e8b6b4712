"""The broker's uniform assignor: everybody gets as many partitions as everybody else, and keeps what it can.

`uniform_homogeneous` and `uniform_heterogeneous` are its two algorithms. The broker takes the first where
every topic is subscribed to by name by all members; topics that do not exist count, and a topic that only a
regular expression brings in never counts as subscribed by name.

Source: org.apache.kafka.coordinator.group.assignor.UniformAssignor, modern.ModernGroup.subscriptionType.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from assignors.assignor import Assignor, Side
from assignors.broker.map_order import changed
from assignors.broker.targets import JAVA_RESIZED_COPIES, Java
from assignors.broker.uniform_heterogeneous import assign_heterogeneous
from assignors.broker.uniform_homogeneous import assign_homogeneous
from assignors.model import Assignment, DenseGroup, Result, Undetermined
from assignors.pairs import from_pairs
from assignors.subscribers import homogeneous


def assign(group: DenseGroup) -> Result:
    """Assign as the broker's UniformAssignor does; the members' `owned` are their present targets."""
    if not group.spec.members:
        return Result(assignment=from_pairs(group, np.zeros(0, dtype=np.int64)), map_order=list)
    algorithm = assign_homogeneous if homogeneous(group) else assign_heterogeneous
    java = Java()
    assignment, changes = algorithm(group, java)
    undetermined = _without_ids(group)
    if java.mattered:
        other, _ = algorithm(group, Java(version=JAVA_RESIZED_COPIES))
        undetermined += _differences(assignment, other)
    return Result(
        assignment=assignment, undetermined=undetermined, map_order=partial(changed, group, changes)
    )


def _without_ids(group: DenseGroup) -> tuple[Undetermined, ...]:
    if all(topic.id is not None for topic in group.spec.topics):
        return ()
    topics = [group.spec.topics[i] for i in np.unique(group.subscriptions.values).tolist()]
    if len(topics) < 2:
        return ()
    why = "its topic id is not known, and the assignor takes topics in the order of their ids"
    return tuple(Undetermined(subject=topic.name, why=why) for topic in topics if topic.id is None)


def _differences(ours: Assignment, other: Assignment) -> tuple[Undetermined, ...]:
    why = (
        f"Java {JAVA_RESIZED_COPIES} and later make a copied HashSet of 12, 24, 48, … elements smaller than "
        "Java 17 does, which changes its order"
    )
    different = np.flatnonzero(ours.owners() != other.owners())
    names = [ours.group.name_of(partition) for partition in different.tolist()]
    return tuple(Undetermined(subject=f"{topic}-{number}", why=why) for topic, number in names)


ASSIGNORS = (Assignor(name="uniform", side=Side.BROKER, leader=None, protocols=frozenset(), assign=assign),)
