"""Groups for the tests of the assignors, written down briefly, and chosen topic ids."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from uuid import UUID

from assignors.model import Claim, GroupSpec, MemberSpec, Partitions, TopicSpec
from assignors.sticky_user_data import write_claim


def holding(member: MemberSpec, partitions: Partitions, generation: int) -> MemberSpec:
    """The member as it says, in both ways, that it owns the partitions."""
    claim = Claim(partitions=partitions, generation=generation)
    return replace(member, owned=claim, user_data=write_claim(claim))


def topics(**partitions: int) -> tuple[TopicSpec, ...]:
    return tuple(TopicSpec(name=name, partitions=count) for name, count in partitions.items())


def sticky_member(id_: str, subscription: str, owned: Partitions | None = None, since: int = 1) -> MemberSpec:
    """A member that says in its user data what it owns; topics are one string."""
    data = None if owned is None else write_claim(Claim(partitions=owned, generation=since))
    return MemberSpec(
        id=id_, topics=tuple(subscription.split()), owned=Claim(generation=since), user_data=data
    )


def group(of: Sequence[TopicSpec], *members: MemberSpec) -> GroupSpec:
    return GroupSpec(topics=tuple(of), members=members)


def id_hashed(rng: Random, code: int) -> UUID:
    """An id at random of that hash code (`Uuid.hashCode` folds its four words together)."""
    first, second, third = (rng.getrandbits(32) for _ in range(3))
    return UUID(int=first << 96 | second << 64 | third << 32 | first ^ second ^ third ^ code)
