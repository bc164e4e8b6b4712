"""The embedded consumer protocol: the subscriptions that members send, and the assignments that a leader computes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from assignors.assignor import Assignor, Leader, Side
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, TopicSpec
from assignors.registry import find
from assignors.rules import checked
from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.records import ClassicMemberValue, JoinProtocol
from coordinator.engine.topics import TopicImage
from wire.messages import embedded_protocol as embedded
from wire.messages.reader import DecodeError

STICKY, COOPERATIVE_STICKY = "sticky", "cooperative-sticky"


def subscriptions(
    assignors: Sequence[str],
    leader: Leader,
    topics: Sequence[str],
    owned: Partitions,
    last: Partitions,
    generation: int,
    rack: str | None,
    version: int,
) -> tuple[JoinProtocol, ...]:
    """The subscription for each assignor; `owned` is kept, a sticky member claims `last` again."""
    protocols = []
    for name in assignors:
        user_data = None
        if name == COOPERATIVE_STICKY and leader is Leader.JAVA:
            user_data = embedded.write_generation(generation)
        elif last and name in (STICKY, COOPERATIVE_STICKY):
            user_data = embedded.write_sticky(by_topic(last), generation)
        subscription = embedded.EmbeddedSubscription(
            version=version,
            topics=tuple(topics),
            user_data=user_data,
            owned=by_topic(owned),
            generation=generation,
            rack=rack,
        )
        protocols.append(JoinProtocol(name, embedded.write_subscription(subscription)))
    return tuple(protocols)


def assign(
    name: str,
    leader: Leader,
    members: Sequence[ClassicMemberValue],
    image: TopicImage,
    version: int,
    custom: Sequence[Assignor] = (),
) -> tuple[tuple[str, bytes], ...]:
    """The assignments of a SyncGroup, by member. `custom` are assignors of the application; others are looked up by
    name. Raises AssignorError or DecodeError: the assignor would throw, or a subscription cannot be read."""
    # Assignors other than Kafka's are checked (ConsumerCoordinator.validateCooperativeAssignment), by `find` as well.
    customs = [checked(assignor) for assignor in custom if assignor.name == name]
    assignor = customs[0] if customs else find(name, Side.CLIENT, leader)
    specs = [_spec(member, name) for member in members]
    named = {topic for spec in specs for topic in (*spec.topics, *spec.owned.partitions)}
    topics = tuple(
        TopicSpec(name=topic.name, partitions=topic.partitions, id=topic.id, racks=topic.racks or None)
        for topic in image.topics.values()
        if topic.name in named
    )
    copied: dict[str, bytes | None] = {}
    if name == COOPERATIVE_STICKY and leader is Leader.LIBRDKAFKA:
        # rd_kafka_sticky_assignor_assign_cb; the broker converts no such group online.
        copied = {m.member: embedded.read_subscription(m.subscription).user_data for m in members}
    result = assignor.assign(DenseGroup.of(GroupSpec(topics=topics, members=tuple(specs))))
    assignments = []
    for member, assigned in result.assignment.named().items():
        partitions = {topic: tuple(numbers) for topic, numbers in assigned.items()}
        data = copied.get(member)
        assignment = embedded.EmbeddedAssignment(version=version, partitions=partitions, user_data=data)
        assignments.append((member, embedded.write_assignment(assignment)))
    return tuple(assignments)


def group_topics(members: Iterable[ClassicMemberValue]) -> frozenset[str]:
    """All topics that some member subscribes to; the leader watches them."""
    return frozenset(topic for member in members for topic in subscribed(member.subscription))


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, tuple[int, ...]]:
    """Partition numbers by topic, both ascending."""
    by_name = groupby(sorted(partitions), key=itemgetter(0))
    return {topic: tuple([partition for _, partition in places]) for topic, places in by_name}


def places(partitions: Mapping[str, Iterable[int]]) -> Partitions:
    """The same as `by_topic`, as a set of partitions."""
    return frozenset(
        TopicPartition(topic, number) for topic, numbers in partitions.items() for number in numbers
    )


def _spec(member: ClassicMemberValue, assignor: str) -> MemberSpec:
    subscription = embedded.read_subscription(member.subscription)
    data, claim = subscription.user_data, None
    if data and assignor == COOPERATIVE_STICKY:
        claim = Claim(generation=embedded.read_generation(data))
    elif data and assignor == STICKY:
        partitions, generation = embedded.read_sticky(data)
        claim = Claim(partitions=partitions, generation=generation)
    owned = Claim(partitions=subscription.owned, generation=subscription.generation)
    return MemberSpec(
        id=member.member,
        topics=subscription.topics,
        instance=member.instance,
        rack=subscription.rack,
        owned=owned,
        user_data=claim,
    )


# What is in bytes that others wrote: nothing, if they cannot be read.

REMEMBERED = 1024


@lru_cache(maxsize=REMEMBERED)
def assigned(assignment: bytes) -> Partitions:
    """The partitions of an assignment; none if it is empty."""
    if not assignment:
        return frozenset()
    try:
        return places(embedded.read_assignment(assignment).partitions)
    except DecodeError:
        return frozenset()


@lru_cache(maxsize=REMEMBERED)
def claimed(protocol: str | None, subscription: bytes) -> Partitions:
    """The partitions that a member claims; in an eager sticky group they are in its user data."""
    try:
        said = embedded.read_subscription(subscription)
        return places(embedded.read_sticky(said.user_data or b"")[0] if protocol == "sticky" else said.owned)
    except DecodeError:
        return frozenset()


@lru_cache(maxsize=REMEMBERED)
def subscribed(subscription: bytes) -> tuple[str, ...]:
    """The topics that a member subscribes to."""
    try:
        return embedded.read_subscription(subscription).topics
    except DecodeError:
        return ()
