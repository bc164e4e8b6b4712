"""Groups for the tests of `kohort watch`, drawn at random, and the obvious way from one belief to the next."""

from collections.abc import Iterable, Mapping

from hypothesis import strategies as st

from cli.verbs.watch.events import EventKind, WatchEvent, owners_of, subscription_names
from groups import model

TOPICS = ("orders", "payments")
PARTITIONS = 4
NAMES = ("a", "b", "c", "s1", "s2", "s3", "t1", "t2")
"""Ids of members; those of two letters are static, and the first letter is their instance."""
PLACES = [(topic, number) for topic in TOPICS for number in range(PARTITIONS)]


def group(
    *members: model.Member,
    state: model.GroupState = model.GroupState.STABLE,
    kind: model.GroupType = model.GroupType.CONSUMER,
    epoch: int | None = None,
    offsets: dict[str, dict[int, int | None]] | None = None,
) -> model.Group:
    """A group of a few words."""
    return model.Group(
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
) -> dict[str, dict[int, model.CommittedOffset]]:
    """What a group has committed, by topic and partition."""
    return {
        topic: {number: model.CommittedOffset(offset=offset) for number, offset in numbers.items()}
        for topic, numbers in offsets.items()
    }


def member(name: str, *, instance: str | None = None, **owned: tuple[int, ...]) -> model.Member:
    """A member that subscribes to what it owns, or to `orders`."""
    return model.Member(
        id=name,
        instance=instance,
        client=model.Client(id=name),
        protocol=model.MemberProtocol.CONSUMER,
        subscription=model.Subscription(topics=tuple(owned) or ("orders",)),
        owned=owned,
        epoch=1,
    )


@st.composite
def groups(draw: st.DrawFn) -> model.Group | None:
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
            model.Member(
                id=name,
                instance=name[0] if len(name) > 1 else None,
                client=model.Client(id=draw(st.sampled_from(["app", name]))),
                protocol=draw(st.sampled_from([None, *model.MemberProtocol])),
                subscription=draw(
                    st.sampled_from([None, model.Subscription(topics=TOPICS), model.Subscription(regex="^o")])
                ),
                owned={topic: numbers for topic, numbers in owned.items() if numbers} if is_shown else None,
                epoch=draw(st.none() | st.integers(0, 9)),
            )
        )
    offset = st.none() | st.integers(0, 5)
    offsets = {topic: st.dictionaries(st.integers(0, PARTITIONS - 1), offset) for topic in TOPICS}
    committed = draw(st.none() | st.fixed_dictionaries(offsets))
    epoch = draw(st.none() | st.integers(0, 9))
    return model.Group(
        id="g",
        type=draw(st.sampled_from(list(model.GroupType))),
        state=draw(st.sampled_from(list(model.GroupState))),
        generation=draw(st.none() | st.integers(0, 9)),
        protocol=draw(st.sampled_from([None, "range", "uniform"])),
        coordinator=draw(
            st.sampled_from([None, model.Node(id=1, host="h", port=1), model.Node(id=2, host="i", port=1)])
        ),
        group_epoch=epoch,
        assignment_epoch=epoch and draw(st.integers(0, epoch)),
        members=tuple(members),
        offsets=None if committed is None else committed_offsets(committed),
    )


Facts = dict[tuple[object, ...], object]
"""What events are about, in the plainest form there is, by the kind of fact and what it is of; None is left out."""
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


def facts_of(view: model.Group | None) -> Facts:
    """The facts of a group; none of one that does not exist."""
    if view is None:
        return {}
    node = view.coordinator
    facts: Facts = {
        ("type",): view.type.value,
        ("state",): view.state.value,
        ("protocol",): view.protocol,
        ("coordinator",): node and f"{node.host}:{node.port}",
        ("epoch",): view.generation if view.group_epoch is None else view.group_epoch,
        ("assignment_epoch",): view.assignment_epoch,
    }
    for entry in view.members:
        facts[entry.id, "is there"] = True
        facts[entry.id, "instance"] = entry.instance
        facts[entry.id, "protocol"] = entry.protocol and entry.protocol.value
        facts[entry.id, "subscription"] = subscription_names(entry)
        facts[entry.id, "epoch"] = entry.epoch
    facts |= {("owners", *partition): ids for partition, ids in owners_of(view).items()}
    for topic, numbers in (view.offsets or {}).items():
        facts |= {("offset", topic, number): committed.offset for number, committed in numbers.items()}
    return {key: value for key, value in facts.items() if value is not None}


def applied(facts: Facts, happened: Iterable[WatchEvent]) -> Facts:
    """What events make of facts; AssertionError where one says that something was otherwise than it was."""
    facts = dict(facts)
    for event in happened:
        member = event.member or ""
        if event.kind is EventKind.GROUP_APPEARED:
            assert not facts
            facts = {("type",): event.before, ("state",): event.after}
        elif event.kind is EventKind.GROUP_GONE:
            facts = {}
        elif event.kind in (EventKind.MEMBER_LEFT, EventKind.MEMBER_JOINED):
            joins = event.kind is EventKind.MEMBER_JOINED
            _change(facts, (member, "is there"), None if joins else True, True if joins else None)
            _change(facts, (member, "instance"), event.before, event.after)
            facts = facts if joins else {key: value for key, value in facts.items() if key[0] != member}
        elif event.kind is EventKind.MEMBER_REPLACED:
            former = event.before
            facts = {(member, *key[1:]) if key[0] == former else key: value for key, value in facts.items()}
            for key, ids in facts.items():
                if key[0] == "owners" and isinstance(ids, tuple):
                    facts[key] = tuple(sorted(member if name == former else name for name in ids))
        elif event.kind in _OF_GROUP or event.kind in _OF_MEMBER:
            name = _OF_GROUP.get(event.kind) or _OF_MEMBER[event.kind]
            _change(facts, (name,) if event.member is None else (member, name), event.before, event.after)
        else:
            kind = "owners" if event.kind.value.startswith("partitions-") else "offset"
            before, after = (None if value == () else value for value in (event.before, event.after))
            for number in event.partitions:
                _change(facts, (kind, event.topic, number), before, after)
    return facts


def _change(facts: Facts, key: tuple[object, ...], before: object, after: object) -> None:
    assert facts.pop(key, None) == before
    if after is not None:
        facts[key] = after
