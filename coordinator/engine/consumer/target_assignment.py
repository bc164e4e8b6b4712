"""The target assignment of a consumer group: what its members are to have in the end.

Members come in the order of the broker's own map, one that joins after the others; topics are those that somebody
subscribes to and that exist. The order decides which of several equal assignments it is.

Source: KIP-848 "Target Assignment"; modern.TargetAssignmentBuilder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from assignors.assignor import Side
from assignors.errors import AssignorError
from assignors.java.hash_map import DEFAULT_CAPACITY, hash_map_order, presized_capacity, spread, string_hashes
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, Result, TopicSpec
from assignors.registry import find
from coordinator.engine.consumer.member import ConsumerMember, is_homogeneous, names_of, subscribed_names
from coordinator.engine.records import RegexValue, TopicPartitions
from coordinator.engine.topics import TopicImage
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentInput:
    """What the assignor is asked. `members` stand in the order in which the assignor is to see them."""

    epoch: int
    members: tuple[ConsumerMember, ...]
    targets: Mapping[str, TopicPartitions]
    """The present target of each member."""
    regexes: Mapping[str, RegexValue]
    topics: TopicImage


def in_broker_order(
    known: Sequence[ConsumerMember], members: Mapping[str, ConsumerMember]
) -> tuple[ConsumerMember, ...]:
    """`members` in the broker's order: those `known` before as it walks through them, newcomers last."""
    ids = {member.id for member in known}
    there = [members[member.id] for member in known if member.id in members]
    return (*there, *(member for member in members.values() if member.id not in ids))


def compute_target(question: AssignmentInput, assignor: str) -> dict[str, TopicPartitions]:
    """The new target of every member, members and topics in the order of the broker's maps.

    :raises RequestRefused: UNKNOWN_SERVER_ERROR, the assignor failed
    """
    group = DenseGroup.of(_spec(question))
    try:
        result = find(assignor, Side.BROKER).assign(group)
    except AssignorError as error:
        raise RequestRefused(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            f"Failed to compute a new target assignment for epoch {question.epoch}: {error}",
        ) from error
    return _in_map_order(question, result)


def _in_map_order(question: AssignmentInput, result: Result) -> dict[str, TopicPartitions]:
    """The assignment as the broker's maps have it: their order is that of the records, and decides the next round."""
    group, named = result.assignment.group, result.assignment.named()
    topics, members = group.spec.topics, group.spec.members
    orders = [range(len(topics))] * len(members) if result.map_order is None else result.map_order()
    targets: dict[str, TopicPartitions] = {}
    for index in hash_map_order(members).tolist():
        has, names = named[members[index].id], [topics[topic].name for topic in orders[index]]
        targets[members[index].id] = {
            question.topics.topics[name].id: tuple(has[name]) for name in names if name in has
        }
    return targets


def _spec(question: AssignmentInput) -> GroupSpec:
    topics = question.topics.topics
    by_regex = _by_regex(question)
    names = {name for name in subscribed_names(question.members, question.regexes) if name in topics}
    members = []
    for member in question.members:
        target = question.targets.get(member.id, {})
        owned = {_name(question.topics, topic): numbers for topic, numbers in target.items()}
        names |= owned.keys() & topics.keys()
        members.append(
            MemberSpec(
                id=member.id,
                topics=tuple(sorted(names_of(member.metadata, question.regexes))),
                instance=member.instance,
                rack=member.metadata.rack,
                owned=Claim(partitions=owned),
                by_regex=by_regex.get(member.id, ()),
            )
        )
    specs = [topics[name] for name in sorted(names)]
    return GroupSpec(
        topics=tuple(
            TopicSpec(name=topic.name, partitions=topic.partitions, id=topic.id, racks=topic.racks or None)
            for topic in specs
        ),
        members=tuple(members),
    )


def _name(image: TopicImage, topic: UUID) -> str:
    """A topic that is gone has one that no topic can have: it still takes room in the map of a target."""
    return image.by_id[topic].name if topic in image.by_id else f"/{topic}"


def _by_regex(question: AssignmentInput) -> dict[str, tuple[str, ...]]:
    """By member what makes the assignor take the subscriptions for unequal; nothing when the broker calls them equal.

    The broker calls one regex for all equal, and a regex beside a name unequal whatever they come to.
    """
    if is_homogeneous(question.members):
        return {}
    found = {
        member.id: question.regexes[member.metadata.regex].topics
        for member in question.members
        if member.metadata.regex in question.regexes
    }
    unresolved = {m.id: m.metadata.topics for m in question.members if m.metadata.regex and m.id not in found}
    return {**found, **unresolved}


def shown_assignor(wishes: Mapping[str, int], default: str | None = None) -> str | None:
    """What describe shows; `wishes` stand in the order of the broker's map."""
    return max(wishes, key=lambda name: wishes[name]) if wishes else default


def chosen_assignor(
    wishes: Mapping[str, int], old: str | None, new: str | None, configured: Sequence[str]
) -> str:
    """What is computed with, after a member wishes for `new` and no longer for `old`; None is no wish.

    The first configured assignor stands for no wish at all, and for one that is not configured any more.
    """
    counts, in_bin = dict(wishes), list(wishes)
    if old is not None and old in counts:
        counts[old] -= 1
        if counts[old] == 0:
            del counts[old]
            in_bin.remove(old)
    if new is not None:
        if new not in counts:
            in_bin.insert(0, new)
        counts[new] = counts.get(new, 0) + 1
    if not counts:
        return configured[0]
    capacity = presized_capacity(int(len(wishes) / 0.75 + 1)) if wishes else DEFAULT_CAPACITY
    bins = dict(zip(in_bin, (spread(string_hashes(in_bin)) & (capacity - 1)).tolist(), strict=True))
    winner = max(sorted(in_bin, key=lambda name: bins[name]), key=lambda name: counts[name])
    return winner if winner in configured else configured[0]
