"""Hypothesis strategies of groups."""

from __future__ import annotations

from uuid import UUID

from hypothesis import strategies as st

from assignors.model import Claim, GroupSpec, MemberSpec, TopicSpec

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)


@st.composite
def groups(draw: st.DrawFn, *, owned: bool = False, equal: bool = False) -> GroupSpec:
    """Groups without racks; `owned`: claims of partitions that exist, each by at most one member."""
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
    some = st.lists(st.sampled_from(names), unique=True).map(tuple)
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
    return [
        MemberSpec(id=m.id, topics=m.topics, instance=m.instance, owned=Claim(partitions=claim))
        for m, claim in zip(members, claims, strict=True)
    ]
