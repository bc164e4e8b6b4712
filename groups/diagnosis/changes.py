"""Changes between observations: members that joined and left, by host, and rebalances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
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
    """The observation before, after which it happened."""
    at_ms: int
    """The observation that shows it."""


def changes(case: Case) -> Iterator[MembershipChange]:
    """In the order of the observations; members that left before those that joined.

    A static member with another id did neither: its restart rebalances nothing (KIP-345).
    """
    for (earlier, before), (later, after) in pairwise(case.seen):
        was, now = ({_key(member): member for member in group.members} for group in (before, after))
        for key in [*(was.keys() - now.keys()), *(now.keys() - was.keys())]:
            came = key in now
            member = now[key] if came else was[key]
            yield MembershipChange(member=member, came=came, since_ms=earlier.at_ms, at_ms=later.at_ms)


def host_of(member: Member) -> str:
    """The host of a member's client as people write it; a broker puts a slash before an address without a name."""
    return (member.client.host or "an unknown host").removeprefix("/")


def by_host(found: list[MembershipChange]) -> list[tuple[str, int, int]]:
    """Hosts with how many members left and joined there, the most restless first."""
    left = Counter(host_of(each.member) for each in found if not each.came)
    joined = Counter(host_of(each.member) for each in found if each.came)
    hosts = sorted(left.keys() | joined.keys(), key=lambda host: (-left[host] - joined[host], host))
    return [(host, left[host], joined[host]) for host in hosts]


def rebalances(case: Case) -> int:
    """How often the group rebalanced between the first observation and the last, at least.

    Epochs and generations count them. Brokers do not show the generation of a classic group: there it is how often a
    observation shows a rebalance, other members or another assignment after one that does not.
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
