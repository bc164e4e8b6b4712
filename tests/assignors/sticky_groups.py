"""Small groups written down briefly, for the tests of the assignors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assignors.model import Claim, GroupSpec, MemberSpec, TopicSpec

Owned = Mapping[str, Sequence[int]]


def topics(**partitions: int) -> tuple[TopicSpec, ...]:
    return tuple(TopicSpec(name=name, partitions=count) for name, count in partitions.items())


def sticky_member(
    id_: str, subscription: str, owned: Owned | None = None, since: int = 1, sent: int | None = None
) -> MemberSpec:
    """A member that says in its user data what it owns. Topics stand in one string; `sent` is the generation in
    the subscription where it differs."""
    claim = None if owned is None else Claim(partitions=owned, generation=since)
    generation = since if sent is None else sent
    return MemberSpec(
        id=id_, topics=tuple(subscription.split()), owned=Claim(generation=generation), user_data=claim
    )


def cooperative_member(
    id_: str, subscription: str, owned: Owned | None = None, generation: int = 1
) -> MemberSpec:
    """A member that says in its subscription what it owns."""
    claim = Claim(partitions=owned or {}, generation=generation)
    return MemberSpec(id=id_, topics=tuple(subscription.split()), owned=claim)


def group(of: Sequence[TopicSpec], *members: MemberSpec) -> GroupSpec:
    return GroupSpec(topics=tuple(of), members=members)
