"""Who reads a topic: what is known of members and of offsets, and what is not."""

from typing import Any

import pytest

from groups.model import CommittedOffset, Group, GroupState, GroupType, Member, Subscription
from groups.use import TopicUse, topic_use, unsubscribed_topics

BARE = Member(id="a", owned={}, subscription=Subscription(topics=("other",)))
OWNER = Member(id="a", owned={"orders": (1,)})
NEXT_OWNER = Member(id="a", owned={}, target={"orders": (1,)}, subscription=Subscription(regex="x"))
WITHOUT_SHARE = Member(id="b", owned={}, subscription=Subscription(topics=("orders",)))
BY_REGEX = Member(id="c", owned={}, subscription=Subscription(regex="^ord.*"))
NO_WHOLE_MATCH = Member(id="c", owned={}, subscription=Subscription(regex="ord"))
BROKEN_REGEX = Member(id="c", owned={}, subscription=Subscription(regex="(?=a)"))
REBALANCING = Member(id="d")
OWNS_OTHER = Member(id="e", owned={"other": (0,)})
UNREADABLE = Member(id="f", owned={"other": (0,)}, unreadable="its subscription cannot be read")
COMMITS = {"orders": {0: CommittedOffset(offset=5)}}
ELSEWHERE = {"other": {0: CommittedOffset(offset=5)}}
PREPARING = {"state": GroupState.PREPARING_REBALANCE}
CONNECT = {"protocol_type": "connect"}
SHARE = {"type": GroupType.SHARE, "protocol_type": "share"}

CASES: dict[str, tuple[tuple[Member, ...], dict[str, Any], TopicUse | None]] = {
    "owned": ((BARE, OWNER), {}, TopicUse.ASSIGNED),
    "to-be-owned": ((NEXT_OWNER,), {}, TopicUse.ASSIGNED),
    "owned-by-another": ((WITHOUT_SHARE, OWNER), {"offsets": COMMITS}, TopicUse.ASSIGNED),
    "only-subscribed": ((WITHOUT_SHARE,), {"offsets": COMMITS}, TopicUse.SUBSCRIBED),
    "by-regex": ((BY_REGEX,), {}, TopicUse.SUBSCRIBED),
    "a-regex-matches-whole-names": ((NO_WHOLE_MATCH,), {}, None),
    "a-regex-that-is-none": ((BROKEN_REGEX,), {}, TopicUse.UNKNOWN),
    "no-member-left": ((), {"offsets": COMMITS}, TopicUse.COMMITTED),
    "stale-offsets": ((BARE,), {"offsets": COMMITS}, TopicUse.COMMITTED),
    "elsewhere": ((BARE,), {"offsets": ELSEWHERE}, None),
    "nothing": ((), {}, None),
    "share-group": ((WITHOUT_SHARE,), SHARE, TopicUse.SUBSCRIBED),
    "while-it-rebalances": ((REBALANCING,), PREPARING, TopicUse.UNKNOWN),
    "while-it-rebalances-with-offsets": ((REBALANCING,), {**PREPARING, "offsets": COMMITS}, TopicUse.COMMITTED),
    "another-known-member": ((REBALANCING, OWNER), PREPARING, TopicUse.ASSIGNED),
    "no-subscription-known": ((OWNS_OTHER,), {}, None),
    "subscription-not-readable": ((UNREADABLE,), {}, TopicUse.UNKNOWN),
    "connect": ((REBALANCING,), CONNECT, None),
    "offsets-unread": ((), {"offsets": None}, TopicUse.UNKNOWN),
    "offsets-unread-of-others": ((BARE,), {"offsets": None}, None),
    "offsets-unread-of-an-owner": ((OWNER,), {"offsets": None}, TopicUse.ASSIGNED),
}  # fmt: skip


@pytest.mark.parametrize(("members", "facts", "use"), CASES.values(), ids=CASES.keys())
def test_how_a_group_reads_a_topic(
    members: tuple[Member, ...], facts: dict[str, Any], use: TopicUse | None
) -> None:
    assert topic_use(group(members, **facts), "orders") is use


def group(members: tuple[Member, ...], **facts: Any) -> Group:
    usual: dict[str, Any] = {
        "type": GroupType.CLASSIC, "protocol_type": "consumer", "state": GroupState.STABLE, "offsets": {},
    }  # fmt: skip
    return Group(id="g", members=members, **usual | facts)


@pytest.mark.parametrize(
    ("members", "topics"),
    [
        ((BARE,), {"orders"}), ((BARE, REBALANCING), None), ((BARE, UNREADABLE), None), ((OWNER, UNREADABLE), set()),
        ((), set()),
    ],
)  # fmt: skip
def test_unsubscribed_topics_are_unknown_with_a_subscription(
    members: tuple[Member, ...], topics: set[str] | None
) -> None:
    assert unsubscribed_topics(group(members, offsets=COMMITS)) == topics
