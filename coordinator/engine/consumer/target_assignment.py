"""The target assignment of a consumer group: the partitions that each member will own in the end. Members are in the
order of the broker's map, a joining member last; topics are the subscribed ones that exist. The order decides
between equally good assignments. Source: KIP-848 "Target Assignment"; modern.TargetAssignmentBuilder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assignors.assignor import Side
from assignors.errors import AssignorError
from assignors.java.hash_map import DEFAULT_CAPACITY, hash_map_order, presized_capacity, spread, string_hashes
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, TopicSpec
from assignors.registry import find
from coordinator.engine.consumer.member import (
    ConsumerMember,
    is_homogeneous,
    subscribed_names,
    subscribed_names_of,
)
from coordinator.engine.records import RegexValue, TopicPartitions
from coordinator.engine.topics import TopicImage
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentInput:
    """The input of the assignor. `members` are in the order in which the assignor processes them."""

    epoch: int
    members: tuple[ConsumerMember, ...]
    targets: Mapping[str, TopicPartitions]  # The current target of each member
    regexes: Mapping[str, RegexValue]
    topics: TopicImage


def in_broker_order(
    known: Sequence[ConsumerMember], members: Mapping[str, ConsumerMember]
) -> tuple[ConsumerMember, ...]:
    """`members` in the broker's order: the `known` members in their order, new members last."""
    ids = {member.id for member in known}
    there = [members[member.id] for member in known if member.id in members]
    return (*there, *(member for member in members.values() if member.id not in ids))


def compute_target(inputs: AssignmentInput, assignor: str) -> dict[str, TopicPartitions]:
    """Every member's new target, in the order of the broker's maps. Raises RequestRefused: the assignor failed."""
    try:
        result = find(assignor, Side.BROKER).assign(DenseGroup.of(_spec(inputs)))
    except AssignorError as error:
        message = f"Failed to compute a new target assignment for epoch {inputs.epoch}: {error}"
        raise RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR, message) from error
    # The order of the records, which affects the next assignment.
    group, named = result.assignment.group, result.assignment.named()
    topics, members = group.spec.topics, group.spec.members
    orders = [range(len(topics))] * len(members) if result.map_order is None else result.map_order()
    targets: dict[str, TopicPartitions] = {}
    for index in hash_map_order(members).tolist():
        has, names = named[members[index].id], [topics[topic].name for topic in orders[index]]
        targets[members[index].id] = {
            inputs.topics.topics[name].id: tuple(has[name]) for name in names if name in has
        }
    return targets


def _spec(inputs: AssignmentInput) -> GroupSpec:
    topics = inputs.topics.topics
    by_regex = _by_regex(inputs)
    names = {name for name in subscribed_names(inputs.members, inputs.regexes) if name in topics}
    members = []
    for member in inputs.members:
        target = inputs.targets.get(member.id, {})
        # A deleted topic gets an impossible name: it still takes a slot in the map of a target.
        owned = {inputs.topics.names.get(topic) or f"/{topic}": numbers for topic, numbers in target.items()}
        names |= owned.keys() & topics.keys()
        members.append(
            MemberSpec(
                id=member.id,
                topics=tuple(sorted(subscribed_names_of(member.metadata, inputs.regexes))),
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


def _by_regex(inputs: AssignmentInput) -> dict[str, tuple[str, ...]]:
    """By member: a regex in addition to a name, or several regexes, which the broker considers unequal."""
    if is_homogeneous(inputs.members):
        return {}
    return {
        member.id: inputs.regexes[regex].topics if regex in inputs.regexes else member.metadata.topics
        for member in inputs.members
        if (regex := member.metadata.regex) or regex in inputs.regexes
    }


def shown_assignor(requested_assignors: Mapping[str, int], default: str | None = None) -> str | None:
    """The assignor that describe shows; `requested_assignors` are in the order of the broker's map."""
    return max(requested_assignors, key=lambda name: requested_assignors[name], default=default)


def chosen_assignor(
    requested_assignors: Mapping[str, int], old: str | None, new: str | None, configured: Sequence[str]
) -> str:
    """The assignor to use when a member requests `new` instead of `old` (None: no request): the first configured one
    if no member requests one, or if the requested one is not configured any more."""
    counts, in_bin = dict(requested_assignors), list(requested_assignors)
    if old is not None and counts.get(old):
        counts[old] -= 1
        if not counts[old]:
            del counts[old]
            in_bin.remove(old)
    if new is not None:
        if new not in counts:
            in_bin.insert(0, new)
        counts[new] = counts.get(new, 0) + 1
    if not counts:
        return configured[0]
    size = len(requested_assignors)
    capacity = presized_capacity(int(size / 0.75 + 1)) if size else DEFAULT_CAPACITY
    bins = dict(zip(in_bin, (spread(string_hashes(in_bin)) & (capacity - 1)).tolist(), strict=True))
    winner = max(sorted(in_bin, key=lambda name: bins[name]), key=lambda name: counts[name])
    return winner if winner in configured else configured[0]
