"""Groups for the tests of the assignors: Hypothesis strategies, small ones written down briefly, and chosen topic
ids."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from uuid import UUID

from hypothesis import strategies as st

from assignors.model import Claim, GroupSpec, MemberSpec, Partitions, TopicSpec

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)


@st.composite
def groups(draw: st.DrawFn, *, owned: bool = False, equal: bool = False, idle: bool = True) -> GroupSpec:
    """Groups without racks; `owned`: claims of partitions that exist, each by at most one member. `idle`: some members
    may subscribe to nothing."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    topics = tuple(
        TopicSpec(
            name=name, partitions=draw(st.integers(0, 7)), id=UUID(int=draw(st.integers(1, (1 << 128) - 1)))
        )
        for name in names
    )
    ids = draw(st.lists(NAMES, min_size=1, max_size=7, unique=True))
    static = draw(st.sets(st.sampled_from(ids)))
    common = tuple(draw(st.lists(st.sampled_from(names), unique=True)))
    some = st.lists(st.sampled_from(names), unique=True, min_size=not idle).map(tuple)
    members = [
        MemberSpec(
            id=id_, topics=common if equal else draw(some), instance=f"i-{id_}" if id_ in static else None
        )
        for id_ in ids
    ]
    if owned:
        members = draw(_owning(topics, members))
    return GroupSpec(topics=topics, members=tuple(members))


@st.composite
def _owning(draw: st.DrawFn, topics: tuple[TopicSpec, ...], members: list[MemberSpec]) -> list[MemberSpec]:
    claims: list[dict[str, list[int]]] = [{} for _ in members]
    places = [(topic.name, partition) for topic in topics for partition in range(topic.partitions)]
    owner = st.integers(-1, len(members) - 1)
    for (topic, partition), m in zip(
        places, draw(st.lists(owner, min_size=len(places), max_size=len(places))), strict=True
    ):
        if m >= 0 and topic in members[m].topics:
            claims[m].setdefault(topic, []).append(partition)
    return [holding(m, claim, 1) for m, claim in zip(members, claims, strict=True)]


def holding(member: MemberSpec, partitions: Partitions, generation: int) -> MemberSpec:
    """The member as it says, in both ways, that it owns the partitions."""
    claim = Claim(partitions=partitions, generation=generation)
    return replace(member, owned=claim, user_data=claim)


def topics(**partitions: int) -> tuple[TopicSpec, ...]:
    return tuple(TopicSpec(name=name, partitions=count) for name, count in partitions.items())


def sticky_member(id_: str, subscription: str, owned: Partitions | None = None, since: int = 1) -> MemberSpec:
    """A member that says in its user data what it owns. Topics stand in one string."""
    claim = None if owned is None else Claim(partitions=owned, generation=since)
    return MemberSpec(
        id=id_, topics=tuple(subscription.split()), owned=Claim(generation=since), user_data=claim
    )


def group(of: Sequence[TopicSpec], *members: MemberSpec) -> GroupSpec:
    return GroupSpec(topics=tuple(of), members=members)


def id_hashed(rng: Random, code: int) -> UUID:
    """An id at random of that hash code (`Uuid.hashCode` folds its four words together)."""
    first, second, third = (rng.getrandbits(32) for _ in range(3))
    return UUID(int=first << 96 | second << 64 | third << 32 | first ^ second ^ third ^ code)
