"""What `kohort offsets import`, `export` and `clone` need beside a reset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cli.errors import CommandError, UsageError
from cli.output import notice
from cli.sources.positions import positions_of
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter
from cli.verbs.offsets.plans import OffsetsChange, Topics, find_groups, say_what_is_new
from cli.verbs.offsets.resets import committed_of
from groups.model import Group, GroupType, Problem
from groups.offsets.model import Place, TopicScope, committed_in, committed_places
from groups.offsets.offsets_csv import OffsetFile
from groups.offsets.plan import is_active, plan_copy


def groups_of_file(file: OffsetFile, named: Sequence[str]) -> list[str]:
    """The groups that an import is for: those named, or those of the file."""
    if file.by_group is None:
        if len(named) != 1:
            raise UsageError("the file names no groups (topic,partition,offset); name the one it is for")
        return list(named)
    strangers = [name for name in named if name not in file.by_group]
    if strangers:
        raise UsageError(f"the file has no offsets for {strangers[0]}")
    return list(dict.fromkeys(named)) or sorted(file.by_group)


def exported(
    groups: Sequence[Group], scopes: Sequence[TopicScope]
) -> tuple[list[tuple[str, Place, int]], tuple[Problem, ...]]:
    """Rows of a CSV file, by group, topic and partition, and what cannot be a row."""
    rows: list[tuple[str, Place, int]] = []
    problems: list[Problem] = []
    for group in groups:
        for place, offset in _offsets(group, scopes):
            if offset is None or offset < 0:
                subject = f"{group.id}, {place[0]}-{place[1]}"
                problems.append(
                    Problem(subject=subject, message=f"its committed offset is {offset or 'not known'}")
                )
            else:
                rows.append((group.id, place, offset))
    return rows, tuple(problems)


def _offsets(group: Group, scopes: Sequence[TopicScope]) -> Iterator[tuple[Place, int | None]]:
    committed = group.offsets or {}
    for topic, number in committed_in(scopes, committed):
        yield (topic, number), committed[topic][number].offset


def plan_clone(
    source: Source, origin: str, target: str, scopes: Sequence[TopicScope], writer: ClusterWriter | None
) -> OffsetsChange:
    """What makes the offsets of one group those of another. CommandError where there are none to take."""
    if origin == target:
        raise UsageError(f"{origin} is both the group to copy from and the one to copy to")
    original = committed_of(source, origin)
    if original.type is GroupType.SHARE:
        raise CommandError(f"{origin}: it is a share group; its offsets mean something else")
    if is_active(original):
        notice(f"{origin} has members: they go on, so its offsets are those of this moment")
    found = find_groups(source, [target], named=True)
    topics = Topics(source)
    wanted = committed_in(scopes, original.offsets or {})
    if not wanted:
        raise CommandError(f"{origin}: has committed nothing in these topics")
    places, missing = topics.existing(wanted)
    positions = positions_of(source, places, None)
    plans = tuple(
        plan_copy(
            original,
            group,
            places,
            positions,
            exists=found.exists(group),
            problems=(*found.problems.get(group.id, ()), *missing),
        )
        for group in found.groups
    )
    say_what_is_new(plans)
    for group in found.groups:
        left = set(committed_places(group.offsets or {})) - set(places)
        if left:
            names = ", ".join(f"{topic}-{number}" for topic, number in sorted(left)[:5])
            more = f" and {len(left) - 5} more" if len(left) > 5 else ""
            notice(f"{group.id} keeps what it has committed elsewhere: {names}{more}")
    return OffsetsChange(
        command="offsets clone",
        plans=plans,
        problems=(*found.others, *topics.problems),
        facts={"from": origin},
        writer=writer,
    )
