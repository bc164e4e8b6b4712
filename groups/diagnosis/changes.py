"""Changes between observations: members that joined and left, by host, and rebalances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from groups.diagnosis.case import Case
from groups.diagnosis.rebalances import is_unsettled
from groups.model import Group, GroupType, Member


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipChange:
    """A member that joined or left between two observations."""

    member: Member
    came: bool
    since_ms: int
    """The time of the last observation before the change."""
    at_ms: int
    """The time of the first observation that shows the change."""


def changes(case: Case) -> Iterator[MembershipChange]:
    """The changes in the order of the observations; at each, departures are before joins.

    A static member that has a new member id neither left nor joined: its restart causes no rebalance (KIP-345).
    """
    for (earlier, before), (later, after) in pairwise(case.seen):
        was, now = ({_key(member): member for member in group.members} for group in (before, after))
        for key in [*(was.keys() - now.keys()), *(now.keys() - was.keys())]:
            came = key in now
            member = now[key] if came else was[key]
            yield MembershipChange(member=member, came=came, since_ms=earlier.at_ms, at_ms=later.at_ms)


def held_ms(case: Case, holds: Callable[[Group], bool] = lambda _: True) -> int:
    """How long every observation has shown a condition, no rebalance, and the last generation of a classic group."""
    last = case.group.generation

    def is_same(group: Group) -> bool:
        is_same_generation = None in (last, group.generation) or group.generation == last
        return not is_unsettled(group) and is_same_generation and holds(group)

    return case.lasted_ms(case.since_ms(is_same))


def assigned_ms(case: Case) -> int:
    """How long every observation has shown the present owners of all partitions, and no rebalance."""
    owners = {member.id: member.owned for member in case.group.members}
    return held_ms(case, lambda group: {member.id: member.owned for member in group.members} == owners)


def host_of(member: Member) -> str:
    """The host of a member's client without the slash that a broker puts before an address without a name."""
    return (member.client.host or "an unknown host").removeprefix("/")


def by_host(found: list[MembershipChange]) -> list[tuple[str, int, int]]:
    """Hosts with the numbers of members that left and joined there, the host with most changes first."""
    left = Counter(host_of(each.member) for each in found if not each.came)
    joined = Counter(host_of(each.member) for each in found if each.came)
    hosts = sorted(left.keys() | joined.keys(), key=lambda host: (-left[host] - joined[host], host))
    return [(host, left[host], joined[host]) for host in hosts]


def rebalances(case: Case) -> int:
    """The least number of rebalances between the first observation and the last.

    Epochs and generations count them. Brokers do not show the generation of a classic group: its count is the number
    of observations with a rebalance, other members or another assignment after an observation without a rebalance.
    """
    groups = [group for _, group in case.seen]
    first, last = _epoch(groups[0]), _epoch(groups[-1])
    if first is not None and last is not None and groups[0].type is groups[-1].type:
        return max(last - first, 0)
    return sum(_rebalanced(before, after) for before, after in pairwise(groups))


def _epoch(group: Group) -> int | None:
    return group.generation if group.type is GroupType.CLASSIC else group.group_epoch


def _rebalanced(before: Group, after: Group) -> bool:
    if is_unsettled(before):
        return False
    return is_unsettled(after) or _assignment(before) != _assignment(after)


def _assignment(group: Group) -> dict[str, object]:
    return {_key(member): member.owned for member in group.members}


def _key(member: Member) -> str:
    return member.instance or member.id
