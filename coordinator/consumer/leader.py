"""The embedded consumer protocol: the subscriptions that members send, and the assignments that a leader computes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from assignors.assignor import Assignor, Side
from assignors.errors import AssignmentRule, AssignorFailedError, RuleBrokenError, UnknownAssignorError
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, TopicSpec
from assignors.registry import find
from coordinator.consumer.outputs import Partitions, TopicPartition, in_order
from coordinator.engine.records import ClassicMemberValue
from coordinator.engine.topics import TopicImage
from wire.messages import embedded_protocol as embedded
from wire.messages.reader import DecodeError

REMEMBERED = 1024


def assign(
    assignor: Assignor, members: Sequence[ClassicMemberValue], image: TopicImage, version: int
) -> tuple[tuple[str, bytes], ...]:
    """The assignments of a SyncGroup, by member. Raises AssignorFailedError or DecodeError: the leader would throw, or
    a subscription cannot be read. Raises BrokenAssignorError: a custom assignor cannot be used."""
    specs = [_spec(member) for member in members]
    named = {topic for spec in specs for topic in (*spec.topics, *spec.owned.partitions)}
    topics = tuple(
        TopicSpec(name=topic.name, partitions=topic.partitions, id=topic.id, racks=topic.racks or None)
        for topic in image.topics.values()
        if topic.name in named
    )
    try:
        result = assignor.assign(DenseGroup.of(GroupSpec(topics=topics, members=tuple(specs))))
    except RuleBrokenError as error:
        if error.rule is AssignmentRule.HANDED_OVER:  # ConsumerCoordinator.validateCooperativeAssignment
            raise AssignorFailedError(str(error)) from error
        raise
    assignments = []
    for member, assigned in result.assignment.named().items():
        partitions = {topic: tuple(numbers) for topic, numbers in assigned.items()}
        data = result.user_data.get(member)
        assignments.append((member, _written(version, tuple(partitions.items()), data)))
    return tuple(assignments)


@lru_cache(maxsize=REMEMBERED)
def _written(
    version: int, partitions: tuple[tuple[str, tuple[int, ...]], ...], user_data: bytes | None
) -> bytes:
    """Most members get the same as in the last generation."""
    return embedded.write_assignment(
        embedded.EmbeddedAssignment(version=version, partitions=dict(partitions), user_data=user_data)
    )


def group_topics(members: Iterable[ClassicMemberValue]) -> frozenset[str]:
    """All topics that some member subscribes to; the leader watches them."""
    return frozenset().union(*(subscribed(member.subscription) for member in members))


@lru_cache(maxsize=REMEMBERED)
def by_topic(partitions: Partitions) -> Mapping[str, tuple[int, ...]]:
    """Partition numbers by topic, both ascending."""
    by_name = groupby(in_order(partitions), key=itemgetter(0))
    return {topic: tuple([partition for _, partition in places]) for topic, places in by_name}


def places(partitions: Mapping[str, Iterable[int]]) -> Partitions:
    """The same as `by_topic`, as a set of partitions."""
    return frozenset(
        TopicPartition(topic, number) for topic, numbers in partitions.items() for number in numbers
    )


def _spec(member: ClassicMemberValue) -> MemberSpec:
    subscription = embedded.read_subscription(member.subscription)
    owned = Claim(partitions=subscription.owned, generation=subscription.generation)
    return MemberSpec(
        id=member.member,
        topics=subscription.topics,
        instance=member.instance,
        rack=subscription.rack,
        owned=owned,
        user_data=subscription.user_data,
    )


# What is in bytes that others wrote: nothing, if they cannot be read.


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
    """The partitions that a member claims: in its subscription, or in its assignor's user data."""
    try:
        sent = embedded.read_subscription(subscription)
    except DecodeError:
        return frozenset()
    claim = _claim_of(protocol or "")
    return places(sent.owned if claim is None else claim(sent.user_data or b"").partitions)


@lru_cache(maxsize=REMEMBERED)
def _claim_of(assignor: str) -> Callable[[bytes], Claim] | None:
    try:
        return find(assignor, Side.CLIENT).claim
    except UnknownAssignorError:
        return None


def subscribed(subscription: bytes) -> tuple[str, ...]:
    """The topics that a member subscribes to."""
    try:
        return embedded.read_subscription(subscription).topics
    except DecodeError:
        return ()
