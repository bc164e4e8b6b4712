"""The use of topics by a group, and the last use of a group, for `--unused-for 30d`; unknown is not unused."""

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from groups.model import Group, GroupState, GroupType, Member, each_commit

REBALANCING = (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE)


class TopicUse(Enum):
    """How a group reads a topic; if several values apply, the first of them."""

    ASSIGNED = "assigned"  # a member owns partitions of it, or has some in its target
    SUBSCRIBED = "subscribed"  # by name or regex, and no member owns a partition of it
    COMMITTED = "committed"  # no member is known to subscribe; one that rejoins may read it
    UNKNOWN = "unknown"  # a subscription is not shown, or there are neither members nor offsets


def topic_use(group: Group, topic: str) -> TopicUse | None:
    """How a group, described with its offsets, reads a topic; None if it does not."""
    uses = {_use_by(group, member, topic) for member in group.members}
    if (group.offsets or {}).get(topic):
        uses.add(TopicUse.COMMITTED)
    if group.offsets is None and not group.members:
        uses.add(TopicUse.UNKNOWN)
    return next((use for use in TopicUse if use in uses), None)


def unsubscribed_topics(group: Group) -> frozenset[str] | None:
    """Topics with offsets that no member reads; empty without members. None: a subscription is not known."""
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
    subscription = member.subscription
    if subscription is not None:
        if topic in subscription.topics:
            return TopicUse.SUBSCRIBED
        return _use_by_regex(subscription.regex, topic) if subscription.regex else None
    if not group.shares_partitions:
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


RESTING = (GroupState.EMPTY, GroupState.DEAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastUse:
    last_commit_ms: int | None = None  # None if nothing is committed or no time is known
    emptied_ms: int | None = None  # None if it never had a member, or the time is not known
    in_use: bool = False
    unknown: str | None = None  # the fact that is not known; None if all are known or the group is in use

    @property
    def latest_ms(self) -> int | None:
        """The last known use; if `unknown` is set, there may have been a later one."""
        known = [time_ms for time_ms in (self.last_commit_ms, self.emptied_ms) if time_ms is not None]
        return max(known, default=None)

    def is_before(self, moment_ms: int) -> bool:
        if self.unknown is not None or self.in_use or self.latest_ms is None:
            return False
        return self.latest_ms < moment_ms

    def is_since(self, moment_ms: int) -> bool:
        return self.in_use or (self.latest_ms is not None and self.latest_ms >= moment_ms)


def last_use(group: Group) -> LastUse:
    in_use = bool(group.members) or group.state not in RESTING
    # Before Kafka 2.1, and in some tools, -1 means no time.
    commits = () if group.type is GroupType.SHARE else each_commit(group.offsets)
    times = [None if commit.timestamp == -1 else commit.timestamp for _, commit in commits]
    committed = max((time for time in times if time is not None), default=None)
    unknown = None if in_use else _unknown(group, times)
    return LastUse(last_commit_ms=committed, emptied_ms=group.emptied_ms, in_use=in_use, unknown=unknown)


def _unknown(group: Group, times: list[int | None]) -> str | None:
    only_commits = group.type is GroupType.CLASSIC and group.protocol_type == ""
    if group.emptied_ms is None and not only_commits:
        return "when its last member left is not known"
    if group.offsets is None and group.type is not GroupType.SHARE:
        return "its committed offsets are not known"
    if None in times:
        return "when its offsets were committed is not known"
    if not times and group.emptied_ms is None:
        return "it has committed nothing and never had a member"
    return None
