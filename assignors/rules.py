"""The rules of every assignment, for assignors that are not Kafka's own: Kafka's clients check almost none of them, and
if a custom assignor breaks one, two members may read the same partition."""

from collections.abc import Mapping, Sequence

import numpy as np

from assignors.assignor import Assignor, RebalanceProtocol
from assignors.errors import AssignmentRule, RuleBrokenError
from assignors.model import Assignment, DenseGroup, Ints, Rows


def check(assignor: Assignor, assignment: Assignment) -> None:
    """Raise RuleBrokenError for the first rule that is broken."""
    group, rows = assignment.group, assignment.partitions
    members = group.spec.members

    def broken(rule: AssignmentRule, places: Ints) -> None:
        if len(places):
            partition, owner = _name(group, int(partitions[places[0]])), members[int(owners[places[0]])].id
            raise RuleBrokenError(assignor.name, rule, f"{partition} to {owner}")

    if len(rows) != len(members):
        detail = f"{len(rows)} assignments for {len(members)} members"
        raise RuleBrokenError(assignor.name, AssignmentRule.NON_MEMBER, detail)
    partitions, owners = rows.values, rows.row_of
    beyond = (partitions < 0) | (partitions >= group.partition_count)
    broken(AssignmentRule.NO_SUCH_PARTITION, np.flatnonzero(beyond))
    pairs = owners * group.partition_count + partitions if assignor.may_share else partitions
    distinct, counts = np.unique(pairs, return_counts=True)
    again = distinct[counts > 1] % max(1, group.partition_count)
    if len(again):
        raise RuleBrokenError(assignor.name, AssignmentRule.TWICE, _name(group, int(again.min())))
    unsubscribed = ~group.subscribed()[owners, group.partition_topic[partitions]]
    broken(AssignmentRule.NON_SUBSCRIBER, np.flatnonzero(unsubscribed))
    if RebalanceProtocol.COOPERATIVE in assignor.protocols:
        # ConsumerCoordinator.validateCooperativeAssignment: no member may lose what another gains.
        claims, size = group.owned.partitions, group.partition_count + len(group.strays)
        has, had = owners * size + partitions, claims.row_of * size + claims.values
        lost = claims.values[~np.isin(had, has)]
        taken = ~np.isin(has, had) & np.isin(partitions, lost)
        broken(AssignmentRule.HANDED_OVER, np.flatnonzero(taken))


def from_named(name: str, group: DenseGroup, named: Mapping[str, Mapping[str, Sequence[int]]]) -> Assignment:
    """An assignment from names; members left out get nothing. Raises RuleBrokenError: unknown names."""
    member_index = {member.id: i for i, member in enumerate(group.spec.members)}
    rows: list[list[int]] = [[] for _ in group.spec.members]
    for member, topics in named.items():
        if member not in member_index:
            raise RuleBrokenError(name, AssignmentRule.NON_MEMBER, member)
        for topic, partitions in topics.items():
            index = group.topic_index.get(topic)
            count = 0 if index is None else group.spec.topics[index].partitions
            for partition in partitions:
                if index is None or not 0 <= partition < count:
                    message = f"{topic}-{partition} to {member}"
                    raise RuleBrokenError(name, AssignmentRule.NO_SUCH_PARTITION, message)
                rows[member_index[member]].append(int(group.topic_start[index]) + partition)
    return Assignment(group, Rows.of([sorted(row) for row in rows]))


def _name(group: DenseGroup, partition: int) -> str:
    if not 0 <= partition < group.partition_count + len(group.strays):
        return f"partition id {partition}"
    return group.label(partition)
