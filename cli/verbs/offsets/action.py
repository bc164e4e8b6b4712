"""Make the plans of `kohort offsets` from the contents of a source."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from cli.errors import CommandError, UsageError
from cli.options import InternalTopicOptions
from cli.selection import with_close_names
from cli.sources.positions import positions_of, unread_logs
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter
from cli.usage_errors import pattern_hint
from cli.verbs.internal_topics import with_internal_topics
from cli.verbs.offsets.change import OffsetsChange, OffsetsDeletions
from cli.verbs.offsets.found import (
    FoundGroups,
    PartitionCounts,
    committed_of,
    committed_original,
    find_groups,
)
from cli.verbs.offsets.notices import (
    notify_kept_offsets,
    notify_new_groups,
    notify_pending,
    notify_redelivery,
)
from cli.verbs.offsets.reset_request import ResetRequest
from groups.listing import Cause
from groups.model import NOTHING_COMMITTED, Group, GroupType, Problem, TopicPartition
from groups.offsets.model import (
    TopicScope,
    committed_in,
    committed_places,
    split_scopes,
)
from groups.offsets.offsets_csv import OffsetFile
from groups.offsets.plan import (
    plan_copy,
    plan_offsets_deletion,
    plan_reset,
)
from groups.offsets.scenarios import Scenario, ToGroup, ToListed, ToTime


def parse_scopes(texts: Iterable[str] | None) -> tuple[TopicScope, ...]:
    """The values of `--topic`; UsageError for an invalid one."""
    try:
        return tuple(scope for text in texts or () for scope in split_scopes(text))
    except ValueError as error:
        raise UsageError(f"--topic {error}") from None


def plan_resets(
    source: Source,
    request: ResetRequest,
    names: Sequence[str],
    *,
    named: bool,
    writer: ClusterWriter | None,
    problems: tuple[Problem, ...] = (),
    command: str = "offsets reset",
    facts: Mapping[str, Any] | None = None,
    types: Collection[GroupType] = (),
    internal_topics: InternalTopicOptions | None = None,
) -> OffsetsChange:
    """Plan a reset of groups; `problems` are problems of selecting them, `facts` are fields of the document.

    :raises CommandError: none of the facts that the reset depends on are known
    """
    found = find_groups(source, names, named=named, types=types)
    scenario = request.scenario or _resolved(source, request, found)
    topics = PartitionCounts(source)
    scoped = [(group, *_places(request, scenario, group, topics)) for group in found.groups]
    union = sorted({place for _, places, _ in scoped for place in places})
    scoped = _with_pending(source, scoped)
    positions = positions_of(source, union, scenario.at_ms if isinstance(scenario, ToTime) else None)
    plans = tuple(
        plan_reset(group, scenario, places, positions, **found.facts(group, missing))
        for group, places, missing in scoped
    )
    if internal_topics is not None:
        plans = with_internal_topics(source, plans, internal_topics)
    notify_new_groups(plans)
    notify_redelivery(plans)
    notify_pending(plans, time.time_ns() // 1_000_000)
    return OffsetsChange(
        command=command,
        plans=plans,
        problems=(*problems, *found.others, *topics.problems),
        facts={"scenario": request.name} if facts is None else facts,
        writer=writer,
        topic_ids=topics.ids,
    )


_Scoped: TypeAlias = list[tuple[Group, Sequence[TopicPartition], tuple[Problem, ...]]]


def _with_pending(source: Source, scoped: _Scoped) -> _Scoped:
    """Groups with offsets in open transactions, also of partitions for which nothing was committed before."""
    bare = {
        group.id: set(places) - set(committed_places(group.offsets or {}))
        for group, places, _ in scoped
        if group.pending is not None
    }
    asked = [group for group, _, _ in scoped if bare.get(group.id)]
    found = {group.id: group for group in source.with_pending_offsets(asked, bare)} if asked else {}
    return [(found.get(group.id, group), places, problems) for group, places, problems in scoped]


def _places(
    request: ResetRequest, scenario: Scenario, group: Group, topics: PartitionCounts
) -> tuple[Sequence[TopicPartition], tuple[Problem, ...]]:
    if isinstance(scenario, ToListed):
        listed = scenario.offsets.get(group.id)
        if listed is None:
            return (), (Problem(subject=group.id, message="the file has no offsets for it"),)
        return topics.existing(listed)
    if isinstance(scenario, ToGroup) and not request.all_topics:
        places, problems = topics.existing(committed_in(request.scopes, scenario.offsets))
        if not places and not problems:
            problems = (Problem(subject=scenario.group, message="has no committed offsets in these topics"),)
        return places, problems
    if request.all_topics:
        places, problems = topics.existing(_all_places(group))
        if not places and not problems:
            problems = (
                Problem(
                    subject=group.id,
                    message=f"shows no committed offsets; name topics (--topic){pattern_hint(group.id)}",
                ),
            )
        return places, problems
    return topics.of(request.scopes)


def _all_places(group: Group) -> tuple[TopicPartition, ...]:
    """The partitions of `--all-topics`: all with committed offsets and, for a streams group, of its input topics."""
    places = committed_places(group.offsets or {})
    if group.topology is None:
        return places
    return tuple(place for place in places if place[0] in group.topology.input_topics)


def _all_topics(group: Group) -> list[TopicScope]:
    return [TopicScope(topic) for topic in sorted({topic for topic, _ in _all_places(group)})]


def _resolved(source: Source, request: ResetRequest, found: FoundGroups) -> Scenario:
    """The scenario; resolves scenarios that depend on more than the groups themselves."""
    if request.file is not None:
        return ToListed(_by_group(request.file, [group.id for group in found.groups]))
    return ToGroup(request.group or "", committed_of(source, request.group or "").offsets or {})


def _by_group(file: OffsetFile, groups: Sequence[str]) -> Mapping[str, Mapping[TopicPartition, int]]:
    if file.by_group is not None:
        return file.by_group
    if len(groups) > 1:
        raise UsageError(
            f"the file names no groups (topic,partition,offset), so it is for one group, not for {len(groups)}"
        )
    return dict.fromkeys(groups, file.of_one_group or {})


def plan_clone(
    source: Source, origin: str, target: str, scopes: Sequence[TopicScope], writer: ClusterWriter | None
) -> OffsetsChange:
    """Plan to copy the offsets of one group to another. CommandError if there are none to copy."""
    if origin == target:
        raise UsageError(f"{origin} is both the source and the target group")
    original = committed_original(source, origin)
    found = find_groups(source, [target], named=True)
    topics = PartitionCounts(source)
    wanted = committed_in(scopes, original.offsets or {})
    if not wanted:
        raise CommandError(f"{origin}: has no committed offsets in these topics")
    places, missing = topics.existing(wanted)
    positions = positions_of(source, places, None)
    plans = tuple(
        plan_copy(original, group, places, positions, **found.facts(group, missing)) for group in found.groups
    )
    notify_new_groups(plans)
    notify_pending(plans, time.time_ns() // 1_000_000)
    notify_kept_offsets(found.groups, set(places))
    return OffsetsChange(
        command="offsets clone",
        plans=plans,
        problems=(*found.others, *topics.problems, *unread_logs(positions)),
        facts={"from": origin},
        writer=writer,
        topic_ids=topics.ids,
    )


def plan_deletions(
    source: Source,
    names: Sequence[str],
    scopes: Sequence[TopicScope],
    *,
    all_topics: bool,
    named: bool,
    types: Collection[GroupType],
    problems: tuple[Problem, ...],
    writer: ClusterWriter | None,
) -> OffsetsDeletions:
    """Plan the deletion of offsets of topics; a group without such offsets is left out unless it is named.

    :raises UsageError: neither `scopes` nor `all_topics` is given
    """
    if all_topics == bool(scopes):
        raise UsageError("--topic TOPIC[:0,1] (repeatable) or --all-topics is required")
    found = find_groups(source, names, named=named, types=types)
    missing = with_close_names(
        source,
        tuple(
            Problem(subject=name, message="no such group", cause=Cause.ABSENT, group=name)
            for name in sorted(found.absent)
        ),
    )
    plans = [
        plan_offsets_deletion(
            group, _all_topics(group) if all_topics else scopes, found.problems.get(group.id, ())
        )
        for group in found.groups
        if found.exists(group)
    ]
    if not named:
        plans = [plan for plan in plans if plan.offsets]
    return OffsetsDeletions(plans=tuple(plans), problems=(*problems, *missing, *found.others), writer=writer)


def exported(
    groups: Sequence[Group], scopes: Sequence[TopicScope]
) -> tuple[list[tuple[str, TopicPartition, int]], tuple[Problem, ...]]:
    """Rows of a CSV file by group, topic and partition, and problems of partitions that have none."""
    rows: list[tuple[str, TopicPartition, int]] = []
    problems: list[Problem] = []
    for group in groups:
        for place, offset in _offsets(group, scopes):
            if offset == NOTHING_COMMITTED:
                continue  # a share group has not started to deliver this partition
            if offset is None or offset < 0:
                subject = f"{group.id}, {place[0]}-{place[1]}"
                problems.append(
                    Problem(subject=subject, message=f"its committed offset is {offset or 'not known'}")
                )
            else:
                rows.append((group.id, place, offset))
    return rows, tuple(problems)


def _offsets(group: Group, scopes: Sequence[TopicScope]) -> Iterator[tuple[TopicPartition, int | None]]:
    committed = group.offsets or {}
    for topic, number in committed_in(scopes, committed):
        yield (topic, number), committed[topic][number].offset
