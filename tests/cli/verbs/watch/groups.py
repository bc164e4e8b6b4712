"""Groups for the tests of `kohort watch`, drawn at random, and the obvious way from one belief to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st

from cli.verbs.watch.events import EventKind, WatchEvent, owners_of, subscription_names
from groups.model import (
    Client,
    CommittedOffset,
    Group,
    GroupState,
    GroupType,
    Member,
    MemberProtocol,
    Node,
    Subscription,
)

TOPICS = ("orders", "payments")
PARTITIONS = 4
NAMES = ("a", "b", "c", "s1", "s2", "s3", "t1", "t2")
"""Ids of members; those of two letters are static, and the first letter is their instance."""
PLACES = [(topic, number) for topic in TOPICS for number in range(PARTITIONS)]


def group(
    *members: Member,
    state: GroupState = GroupState.STABLE,
    kind: GroupType = GroupType.CONSUMER,
    epoch: int | None = None,
    offsets: dict[str, dict[int, int | None]] | None = None,
) -> Group:
    """A group of a few words."""
    return Group(
        id="g",
        type=kind,
        state=state,
        group_epoch=epoch,
        assignment_epoch=epoch,
        members=members,
        offsets=None if offsets is None else committed_offsets(offsets),
    )


def committed_offsets(
    offsets: Mapping[str, Mapping[int, int | None]],
) -> dict[str, dict[int, CommittedOffset]]:
    """What a group has committed, by topic and partition."""
    return {
        topic: {number: CommittedOffset(offset=offset) for number, offset in numbers.items()}
        for topic, numbers in offsets.items()
    }


def member(name: str, *, instance: str | None = None, **owned: tuple[int, ...]) -> Member:
    """A member that subscribes to what it owns, or to `orders`."""
    return Member(
        id=name,
        instance=instance,
        client=Client(id=name),
        protocol=MemberProtocol.CONSUMER,
        subscription=Subscription(topics=tuple(owned) or ("orders",)),
        owned=owned,
        epoch=1,
    )


@st.composite
def groups(draw: st.DrawFn) -> Group | None:
    """Any group, known in whole or in part; None now and then.

    Partitions may have several owners, as in share groups. Static members rejoin with other ids.
    """
    if draw(st.integers(0, 9)) == 0:
        return None
    there = draw(st.lists(st.sampled_from(NAMES), unique_by=lambda name: name[0], max_size=5))
    owners = {partition: draw(st.sampled_from([None, *there])) for partition in PLACES} if there else {}
    also = {partition: draw(st.sampled_from([None, *there])) for partition in PLACES} if there else {}
    members = []
    for name in there:
        mine = sorted(
            {pair for reported in (owners, also) for pair, owner in reported.items() if owner == name}
        )
        owned = {topic: tuple(n for t, n in mine if t == topic) for topic in TOPICS}
        is_shown = draw(st.booleans())
        members.append(
            Member(
                id=name,
                instance=name[0] if len(name) > 1 else None,
                client=Client(id=draw(st.sampled_from(["app", name]))),
                protocol=draw(st.sampled_from([None, *MemberProtocol])),
                subscription=draw(
                    st.sampled_from([None, Subscription(topics=TOPICS), Subscription(regex="^o")])
                ),
                owned={topic: numbers for topic, numbers in owned.items() if numbers} if is_shown else None,
                epoch=draw(st.none() | st.integers(0, 9)),
            )
        )
    offset = st.none() | st.integers(0, 5)
    offsets = {topic: st.dictionaries(st.integers(0, PARTITIONS - 1), offset) for topic in TOPICS}
    committed = draw(st.none() | st.fixed_dictionaries(offsets))
    epoch = draw(st.none() | st.integers(0, 9))
    return Group(
        id="g",
        type=draw(st.sampled_from(list(GroupType))),
        state=draw(st.sampled_from(list(GroupState))),
        generation=draw(st.none() | st.integers(0, 9)),
        protocol=draw(st.sampled_from([None, "range", "uniform"])),
        coordinator=draw(st.sampled_from([None, Node(id=1, host="h", port=1), Node(id=2, host="i", port=1)])),
        group_epoch=epoch,
        assignment_epoch=epoch and draw(st.integers(0, epoch)),
        members=tuple(members),
        offsets=None if committed is None else committed_offsets(committed),
    )


@dataclass(slots=True)
class Facts:
    """What events are about, of a group, in the plainest form there is."""

    group: dict[str, object] = field(default_factory=dict)
    members: dict[str, dict[str, object]] = field(default_factory=dict)
    owners: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    offsets: dict[tuple[str, int], int] = field(default_factory=dict)


def facts_of(view: Group | None) -> Facts | None:
    """The facts of a group."""
    if view is None:
        return None
    node = view.coordinator
    return Facts(
        group={
            "type": view.type.value,
            "state": view.state.value,
            "protocol": view.protocol,
            "coordinator": node and f"{node.host}:{node.port}",
            "epoch": view.generation if view.group_epoch is None else view.group_epoch,
            "assignment_epoch": view.assignment_epoch,
        },
        members={
            entry.id: {
                "instance": entry.instance,
                "protocol": entry.protocol and entry.protocol.value,
                "subscription": subscription_names(entry),
                "epoch": entry.epoch,
            }
            for entry in view.members
        },
        owners=owners_of(view),
        offsets={
            (topic, number): committed.offset
            for topic, numbers in (view.offsets or {}).items()
            for number, committed in numbers.items()
            if committed.offset is not None
        },
    )


_OF_GROUP = {
    EventKind.TYPE_CHANGED: "type",
    EventKind.STATE_CHANGED: "state",
    EventKind.ASSIGNOR_CHANGED: "protocol",
    EventKind.COORDINATOR_MOVED: "coordinator",
    EventKind.EPOCH_CHANGED: "epoch",
    EventKind.GENERATION_CHANGED: "epoch",
    EventKind.ASSIGNMENT_EPOCH_CHANGED: "assignment_epoch",
}
_OF_MEMBER = {
    EventKind.MEMBER_PROTOCOL_CHANGED: "protocol",
    EventKind.SUBSCRIPTION_CHANGED: "subscription",
    EventKind.MEMBER_EPOCH_CHANGED: "epoch",
}


def applied(facts: Facts | None, happened: Iterable[WatchEvent]) -> Facts | None:
    """What events make of facts; AssertionError where one says that something was otherwise than it was."""
    for event in happened:
        facts = _applied(facts, event)
    return facts


def _applied(facts: Facts | None, event: WatchEvent) -> Facts | None:
    if event.kind is EventKind.GROUP_APPEARED:
        assert facts is None
        blank = dict.fromkeys(("protocol", "coordinator", "epoch", "assignment_epoch"))
        return Facts(group={**blank, "type": event.before, "state": event.after})
    assert facts is not None
    if event.kind is EventKind.GROUP_GONE:
        return None
    if event.kind in _OF_GROUP:
        assert facts.group[_OF_GROUP[event.kind]] == event.before
        facts.group[_OF_GROUP[event.kind]] = event.after
    elif event.kind in _OF_MEMBER:
        one = facts.members[event.member or ""]
        assert one[_OF_MEMBER[event.kind]] == event.before
        one[_OF_MEMBER[event.kind]] = event.after
    elif event.kind is EventKind.MEMBER_LEFT:
        assert facts.members.pop(event.member or "")["instance"] == event.before
    elif event.kind is EventKind.MEMBER_JOINED:
        assert event.member not in facts.members
        blank = dict.fromkeys(("protocol", "subscription", "epoch"))
        facts.members[event.member or ""] = {**blank, "instance": event.after}
    elif event.kind is EventKind.MEMBER_REPLACED:
        assert isinstance(event.before, str)
        facts.members[event.member or ""] = facts.members.pop(event.before)
        for pair, ids in facts.owners.items():
            facts.owners[pair] = tuple(sorted(event.member or "" if i == event.before else i for i in ids))
    else:
        _apply_places(facts, event)
    return facts


def _apply_places(facts: Facts, event: WatchEvent) -> None:
    for number in event.partitions:
        partition = (event.topic or "", number)
        if event.kind.value.startswith("partitions-"):
            assert isinstance(event.after, tuple)
            assert facts.owners.pop(partition, ()) == event.before
            if event.after:
                facts.owners[partition] = event.after
        else:
            assert facts.offsets.pop(partition, None) == event.before
            if isinstance(event.after, int):
                facts.offsets[partition] = event.after
