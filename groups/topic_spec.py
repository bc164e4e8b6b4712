"""Topics as an assignor is told of them, with the racks of partitions that are yet to be made."""

from __future__ import annotations

from collections.abc import Sequence

from assignors.model import TopicSpec, Undetermined
from groups.model import Topic

Racks = tuple[str, ...]


def topic_specs(topics: Sequence[Topic], notes: list[Undetermined]) -> tuple[TopicSpec, ...]:
    """The topics, each partition with the racks of its replicas where any are known.

    A partition without an entry in `Topic.racks` is yet to be made, and the controller places it then. Where all
    others are in all racks it will be too. Else it is taken to stand like those before it, and `notes` says so.
    """
    known = {frozenset(racks) for topic in topics for racks in (topic.racks or {}).values()}
    alike = next(iter(known)) if len(known) == 1 else None
    return tuple(
        TopicSpec(name=t.name, partitions=t.partitions, id=t.id, racks=_racks(t, alike, notes))
        for t in topics
    )


def _racks(topic: Topic, alike: frozenset[str] | None, notes: list[Undetermined]) -> tuple[Racks, ...] | None:
    if topic.racks is None:
        return None
    before = [tuple(topic.racks[partition]) for partition in sorted(topic.racks)]
    racks: list[Racks] = []
    for partition in range(topic.partitions):
        own = topic.racks.get(partition)
        if own is None:
            own = (
                tuple(sorted(alike))
                if alike is not None
                else before[partition % len(before)]
                if before
                else ()
            )
            if alike is None:
                notes.append(Undetermined(subject=f"{topic.name}-{partition}", why=PLACED_LATER))
        racks.append(tuple(own))
    return tuple(racks)


PLACED_LATER = "its replicas are placed when it is made; the racks that they stand in decide who gets it"
