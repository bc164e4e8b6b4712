"""Whether a group has come to rest. No step goes on before that.

A state of Stable is not enough by itself: a cooperative group is Stable for a moment between two rebalances, with
partitions that nobody owns; members that are asked to go on meanwhile (aiokafka) stand still until a session ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from groups.model import Group, GroupState, GroupType, Member, Partitions
from migration.gate.answers import Check, await_all, count, name_all, planned
from migration.gate.sight import Sight

NAME = "rest"
SHOWN = 5


def check_rest(sight: Sight) -> Check:
    """Whether no rebalance is under way, no member is on its way, and every partition has an owner."""
    group = sight.group
    if group is None:
        return Check(check=NAME, holds=True, text="there is no group that could be rebalancing")
    if group.state is GroupState.UNKNOWN:
        return Check(check=NAME, holds=None, text="whether a rebalance is under way is not known")
    if not sight.is_at_rest:
        return Check(
            check=NAME, holds=False, text=f"a rebalance is under way: the group is {group.state.value}"
        )
    late = [planned(member) for member in group.members if _is_on_its_way(group, member)]
    if late:
        return Check(
            check=NAME,
            holds=False,
            text=f"{count(len(late), 'member')} still on the way to the target assignment: {name_all(late)}",
            awaited=await_all(late, "has not taken up its target assignment"),
        )
    unowned = list(islice(_unowned(sight), SHOWN + 1))
    if unowned:
        more = " and more" if len(unowned) > SHOWN else ""
        shown = ", ".join(unowned[:SHOWN])
        return Check(check=NAME, holds=False, text=f"nobody owns {shown}{more}: another rebalance is to come")
    return Check(check=NAME, holds=True, text="the group is at rest")


def check_steady(before: Group | None, after: Group | None) -> Check:
    """Whether two looks, a moment apart, show the same."""
    if before == after:
        return Check(check="steady", holds=True, text="two looks show the same")
    return Check(check="steady", holds=False, text="the group changed between two looks: it is not at rest")


def _is_on_its_way(group: Group, member: Member) -> bool:
    if group.type is not GroupType.CONSUMER:
        return False
    if None not in (member.epoch, group.assignment_epoch) and member.epoch != group.assignment_epoch:
        return True
    if member.owned is None or member.target is None:
        return False
    return _taken(member.owned) != _taken(member.target)


def _taken(partitions: Partitions) -> dict[str, tuple[int, ...]]:
    return {topic: tuple(sorted(numbers)) for topic, numbers in partitions.items() if numbers}


def _unowned(sight: Sight) -> Iterator[str]:
    """Partitions that had an owner when the plan was made, and have none.

    Nothing where it had holes then already: a custom assignor, or a topic that the leader may not see.
    """
    baseline = sight.plan.baseline
    if baseline is None or not sight.members or any(member.owned is None for member in sight.members):
        return
    if sum(member.partitions for member in baseline.members) < sum(baseline.partitions.values()):
        return
    owned = {
        (topic, number)
        for member in sight.members
        for topic, numbers in (member.owned or {}).items()
        for number in numbers
    }
    for topic in sorted(baseline.partitions):
        for number in range(sight.partitions.get(topic, 0)):
            if (topic, number) not in owned:
                yield f"{topic}-{number}"
