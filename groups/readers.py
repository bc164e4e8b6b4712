"""The use of a topic by a group, from its members' partitions and subscriptions and its committed offsets.

A classic group shows neither partitions nor subscriptions while it rebalances (DescribeGroups omits metadata and
assignments unless it is Stable), so unknown and false are different values.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from groups.model import Group, GroupState, GroupType, Member

REBALANCING = (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE)


class TopicUse(Enum):
    """How a group reads a topic; if several values apply, the first of them."""

    ASSIGNED = "assigned"
    """A member owns partitions of it, or has some in its target."""
    SUBSCRIBED = "subscribed"
    """A member subscribes to it, by name or by regex, and no member owns a partition of it."""
    COMMITTED = "committed"
    """Offsets are committed but no member is known to subscribe: members that rejoin may read it again."""
    UNKNOWN = "unknown"
    """A member's subscription is not shown, or the group has no members and its offsets could not be read."""


def topic_use(group: Group, topic: str) -> TopicUse | None:
    """How a group, described with its offsets, reads a topic; None if it does not."""
    found = {_use_by(group, member, topic) for member in group.members}
    if (group.offsets or {}).get(topic):
        found.add(TopicUse.COMMITTED)
    if group.offsets is None and not group.members:
        found.add(TopicUse.UNKNOWN)
    return next((use for use in TopicUse if use in found), None)


def unsubscribed_topics(group: Group) -> frozenset[str] | None:
    """Topics with committed offsets that no member reads; empty if the group has no members.

    None: not known, as a member whose subscription is not known may read a topic that no other member reads.
    """
    if not group.members or group.protocol_type not in ("consumer", "", None):
        return frozenset()
    left = set()
    for topic, offsets in (group.offsets or {}).items():
        uses = {_use_by(group, member, topic) for member in group.members} if offsets else set()
        if uses and uses <= {None, TopicUse.UNKNOWN}:
            if TopicUse.UNKNOWN in uses:
                return None
            left.add(topic)
    return frozenset(left)


def _use_by(group: Group, member: Member, topic: str) -> TopicUse | None:
    if (member.owned or {}).get(topic) or (member.target or {}).get(topic):
        return TopicUse.ASSIGNED
    wanted = member.subscription
    if wanted is not None:
        if topic in wanted.topics:
            return TopicUse.SUBSCRIBED
        return _use_by_regex(wanted.regex, topic) if wanted.regex else None
    if group.type is GroupType.CLASSIC and group.protocol_type not in ("consumer", "", None):
        return None  # its members are no consumers: workers of Connect share connectors
    is_shown = member.owned is not None and member.unreadable is None and group.state not in REBALANCING
    return None if is_shown else TopicUse.UNKNOWN


@lru_cache(maxsize=64)
def _use_by_regex(regex: str, topic: str) -> TopicUse | None:
    from groups.regex.broker import InvalidRegexError, compile_broker_regex

    try:
        return TopicUse.SUBSCRIBED if compile_broker_regex(regex).matches((topic,)) else None
    except InvalidRegexError:
        return TopicUse.UNKNOWN
