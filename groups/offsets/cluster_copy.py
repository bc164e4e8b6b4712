"""A copy of a group's committed offsets to a group of another cluster, each at the offset that its proof found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from groups.model import Group, GroupType, Problem
from groups.offsets.model import GroupChange, OffsetChange, Place, Positions
from groups.offsets.plan import refusals
from groups.offsets.proof import Proof, Verdict
from groups.offsets.scenarios import name_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicNames:
    """The target's names of the source's topics: the same, or with a prefix, as MirrorMaker 2 copies them."""

    prefix: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)

    def in_target(self, place: Place) -> Place:
        """The name of a source partition in the target."""
        topic, number = place
        return self.renamed.get(topic, f"{self.prefix}{topic}"), number

    def collisions(self, topics: Iterable[str]) -> list[tuple[str, str, str]]:
        """Pairs of topics that would have the same name in the target, with that name."""
        first: dict[str, str] = {}
        found = []
        for topic in sorted(set(topics)):
            copy, _ = self.in_target((topic, 0))
            other = first.setdefault(copy, topic)
            if other != topic:
                found.append((other, topic, copy))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedOffset(OffsetChange):
    """A new offset in the target, with the source offset to which it corresponds."""

    source_topic: str
    source_offset: int
    time_ms: int | None
    """The time of the first unread record in the source, or of the last record if all are read; None if unknown."""
    proof: Proof


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedOffset:
    """The result for one partition of the source."""

    proof: Proof
    time_ms: int | None
    lost: int = 0
    """The number of unread records that are no longer in the source's log."""


def plan_cluster_copy(
    original: Group,
    target: Group,
    proved: Mapping[Place, ProvedOffset],
    names: TopicNames,
    positions: Positions,
    *,
    unproved: bool,
    exists: bool,
    refused: Sequence[Problem] = (),
    problems: Sequence[Problem] = (),
) -> GroupChange:
    """Plan the commits in the target, whose log has the `positions`; `unproved` allows offsets that are not proved.

    `refused` are other reasons not to copy the offsets.
    """
    changes: list[OffsetChange] = []
    refused = [*refusals(target), *refused]
    if target.type is GroupType.SHARE:
        message = (
            "it is a share group, which has start offsets instead of committed ones (offsets reset sets them)"
        )
        refused.append(Problem(subject=target.id, message=message))
    for place, found in proved.items():
        committed = (original.offsets or {})[place[0]][place[1]]
        copy = topic, partition = names.in_target(place)
        before = (target.offsets or {}).get(topic, {}).get(partition)
        proof = found.proof
        lost = f"{found.lost} unread records are no longer in the source" if found.lost else None
        changes.append(
            CopiedOffset(
                topic=topic,
                partition=partition,
                before=None if before is None else before.offset,
                after=proof.offset,
                earliest=positions.earliest.get(copy),
                end=positions.end.get(copy),
                metadata=committed.metadata or "",
                remark="; ".join(filter(None, (proof.remark, lost))) or None,
                source_topic=place[0],
                source_offset=committed.offset or 0,
                time_ms=found.time_ms,
                proof=proof,
            )
        )
        if proof.verdict is not Verdict.PROVED and not unproved:
            message = (
                f"the new offset is not proved ({proof.verdict.value}); --unproved sets it anyway, --topic skips the "
                "partition"
            )
            refused.append(Problem(subject=f"{target.id}, {name_of(copy)}", message=message))
    return GroupChange(
        described=target,
        exists=exists,
        changes=tuple(changes),
        refusals=tuple(refused),
        problems=tuple(problems),
    )
