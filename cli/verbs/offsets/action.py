"""What `kohort offsets` would do to groups: from what a source contains to a change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cli.errors import CommandError, UsageError
from cli.options import InternalTopicOptions
from cli.output import notice
from cli.selection import without_vanished
from cli.sources.permissions import ending
from cli.sources.positions import positions_of
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter
from cli.verbs.internal_topics import with_internal_topics
from cli.verbs.offsets.change import OffsetsChange, OffsetsDeletions
from cli.verbs.offsets.reset_request import ResetRequest
from groups.model import NOTHING_COMMITTED, Cause, Group, GroupType, Problem
from groups.offsets.model import (
    GroupChange,
    Place,
    TopicScope,
    committed_in,
    committed_places,
    existing,
    parse_scope,
    places_in,
)
from groups.offsets.offsets_csv import OffsetFile
from groups.offsets.plan import (
    absent,
    is_active,
    plan_copy,
    plan_offsets_deletion,
    plan_reset,
)
from groups.offsets.scenarios import Scenario, ToGroup, ToListed, ToMoment


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroups:
    """Groups with their offsets, those that do not exist as `absent` ones."""

    groups: tuple[Group, ...]
    absent: frozenset[str] = frozenset()
    problems: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    """What of a group's offsets could not be read."""
    others: tuple[Problem, ...] = ()
    """What else could not be read."""

    def exists(self, group: Group) -> bool:
        """Whether the cluster has the group."""
        return group.id not in self.absent

    def facts(self, group: Group, missing: tuple[Problem, ...]) -> dict[str, Any]:
        """What a plan for a group is also given: whether it exists, and problems, `missing` partitions among them."""
        return {"exists": self.exists(group), "problems": (*self.problems.get(group.id, ()), *missing)}


_ONLY_ASKED_FOR = (GroupType.SHARE, GroupType.STREAMS)


def with_new_share_groups(
    chosen: Sequence[str], problems: Sequence[Problem], types: Collection[GroupType]
) -> tuple[list[str], tuple[Problem, ...]]:
    """The names of groups to be reset: `--type share` with a name that no group has makes a share group."""
    if {*types} != {GroupType.SHARE}:
        return list(chosen), tuple(problems)
    new = [each.subject for each in problems if each.cause is Cause.ABSENT]
    return [*chosen, *new], tuple(each for each in problems if each.subject not in new)


def find_groups(
    source: Source, names: Sequence[str], *, named: bool, types: Collection[GroupType] = ()
) -> FoundGroups:
    """Describe groups with offsets.

    Of groups that were only matched, share and streams groups are left out unless their `types` were asked for. A
    group that does not exist is to be a share group where only those are asked for.
    """
    new = GroupType.SHARE if {*types} == {GroupType.SHARE} else GroupType.CLASSIC
    read = source.describe(names, offsets=True)
    groups = {group.id: group for group in read.items}
    gone = frozenset(problem.subject for problem in read.problems if problem.cause is Cause.ABSENT)
    gone = gone - groups.keys() if named else frozenset()
    kept = [groups.get(name) or absent(name, new) for name in names if name in groups or name in gone]
    if not named:
        others = {
            group.id: group.type.value
            for group in kept
            if group.type in _ONLY_ASKED_FOR and group.type not in types
        }
        for name, kind in others.items():
            notice(f"{name} is left out: it is a {kind} group; name it, or add --type {kind}")
        kept = [group for group in kept if group.id not in others]
    problems = without_vanished(read.problems, named=named)
    own, unowned = _sorted_out(problems, [group.id for group in kept], gone)
    return FoundGroups(groups=tuple(kept), absent=gone, problems=own, others=unowned)


def _sorted_out(
    problems: Iterable[Problem], groups: Sequence[str], gone: frozenset[str]
) -> tuple[dict[str, tuple[Problem, ...]], tuple[Problem, ...]]:
    """Problems of groups' offsets, and the others. That a group does not exist is none here."""
    own: dict[str, tuple[Problem, ...]] = {}
    others: list[Problem] = []
    for problem in problems:
        owner = problem.group
        if owner is None or owner not in groups:
            others.append(problem)
        elif owner not in gone:
            own[owner] = (*own.get(owner, ()), problem)
    return own, tuple(others)


def parse_scopes(texts: Iterable[str] | None) -> tuple[TopicScope, ...]:
    """`--topic` as it was given; UsageError for what is no topic."""
    try:
        return tuple(map(parse_scope, texts or ()))
    except ValueError as error:
        raise UsageError(f"--topic {error}") from None


@dataclass(slots=True)
class PartitionCounts:
    """How many partitions topics have, asked once per topic."""

    source: Source
    problems: tuple[Problem, ...] = ()
    _counts: dict[str, int] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _unread: set[str] = field(default_factory=set)
    """What may exist: the cluster does not report it."""

    def of(self, scopes: Sequence[TopicScope]) -> tuple[tuple[Place, ...], tuple[Problem, ...]]:
        """The partitions that scopes mean."""
        self._ask({scope.topic for scope in scopes})
        return places_in([scope for scope in scopes if scope.topic not in self._unread], self._counts)

    def existing(self, places: Iterable[Place]) -> tuple[tuple[Place, ...], tuple[Problem, ...]]:
        """Those of the partitions that exist, and a problem for each of the others."""
        wanted = list(places)
        self._ask({topic for topic, _ in wanted})
        return existing([place for place in wanted if place[0] not in self._unread], self._counts)

    def count(self, topic: str) -> int | None:
        """How many partitions a topic has that was asked for before."""
        return self._counts.get(topic)

    def _ask(self, names: set[str]) -> None:
        new = names - self._asked
        if not new:
            return
        self._asked |= new
        read = self.source.topics(new, end_offsets=False)
        self._counts |= {topic.name: topic.partitions for topic in read.items}
        self.problems += read.problems
        self._unread |= new.intersection(name for problem in read.problems for name in problem.topics)


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
    """What a reset of groups would do; `problems` are those of choosing them, `facts` fields of the document.

    :raises CommandError: nothing is known of what it depends on
    """
    found = find_groups(source, names, named=named, types=types)
    scenario = request.scenario or _resolved(source, request, found)
    topics = PartitionCounts(source)
    scoped = [(group, *_places(request, scenario, group, topics)) for group in found.groups]
    union = sorted({place for _, places, _ in scoped for place in places})
    positions = positions_of(source, union, scenario.at_ms if isinstance(scenario, ToMoment) else None)
    plans = tuple(
        plan_reset(group, scenario, places, positions, **found.facts(group, missing))
        for group, places, missing in scoped
    )
    if internal_topics is not None:
        plans = with_internal_topics(source, plans, internal_topics)
    say_what_is_new(plans)
    say_what_is_delivered_again(plans)
    return OffsetsChange(
        command=command,
        plans=plans,
        problems=(*problems, *found.others, *topics.problems),
        facts={"scenario": request.name} if facts is None else facts,
        writer=writer,
    )


def _places(
    request: ResetRequest, scenario: Scenario, group: Group, topics: PartitionCounts
) -> tuple[Sequence[Place], tuple[Problem, ...]]:
    if isinstance(scenario, ToListed):
        listed = scenario.offsets.get(group.id)
        if listed is None:
            return (), (Problem(subject=group.id, message="the file has no offsets for it"),)
        return topics.existing(listed)
    if isinstance(scenario, ToGroup) and not request.all_topics:
        places, problems = topics.existing(committed_in(request.scopes, scenario.offsets))
        if not places and not problems:
            problems = (Problem(subject=scenario.group, message="has committed nothing in these topics"),)
        return places, problems
    if request.all_topics:
        places, problems = topics.existing(_all_places(group))
        if not places and not problems:
            problems = (
                Problem(subject=group.id, message="shows no committed offsets; name topics (--topic)"),
            )
        return places, problems
    return topics.of(request.scopes)


def _all_places(group: Group) -> tuple[Place, ...]:
    """What `--all-topics` means: everything committed, and of a streams group what it has of its input topics."""
    places = committed_places(group.offsets or {})
    if group.topology is None:
        return places
    return tuple(place for place in places if place[0] in group.topology.input_topics)


def _all_topics(group: Group) -> list[TopicScope]:
    return [TopicScope(topic) for topic in sorted({topic for topic, _ in _all_places(group)})]


def _resolved(source: Source, request: ResetRequest, found: FoundGroups) -> Scenario:
    """The scenarios that depend on more than the groups themselves."""
    if request.file is not None:
        return ToListed(_by_group(request.file, [group.id for group in found.groups]))
    return ToGroup(request.group or "", _committed_of(source, request.group or "").offsets or {})


def _by_group(file: OffsetFile, groups: Sequence[str]) -> Mapping[str, Mapping[Place, int]]:
    if file.by_group is not None:
        return file.by_group
    if len(groups) > 1:
        raise UsageError(
            f"the file names no groups (topic,partition,offset), so it is for one group, not for {len(groups)}"
        )
    return dict.fromkeys(groups, file.of_one_group or {})


def _committed_of(source: Source, name: str) -> Group:
    """A group whose offsets are to be taken; CommandError when there are none to take."""
    read = source.describe([name], offsets=True)
    if not read.items:
        raise ending(read.problems[0])
    (group,) = read.items
    if not group.offsets:
        reason = next((problem.message for problem in read.problems), "it has no committed offsets")
        raise CommandError(f"{name}: {reason}")
    return group


def plan_clone(
    source: Source, origin: str, target: str, scopes: Sequence[TopicScope], writer: ClusterWriter | None
) -> OffsetsChange:
    """What makes the offsets of one group those of another. CommandError where there are none to take."""
    if origin == target:
        raise UsageError(f"{origin} is both the group to copy from and the one to copy to")
    original = committed_original(source, origin)
    found = find_groups(source, [target], named=True)
    topics = PartitionCounts(source)
    wanted = committed_in(scopes, original.offsets or {})
    if not wanted:
        raise CommandError(f"{origin}: has committed nothing in these topics")
    places, missing = topics.existing(wanted)
    positions = positions_of(source, places, None)
    plans = tuple(
        plan_copy(original, group, places, positions, **found.facts(group, missing)) for group in found.groups
    )
    say_what_is_new(plans)
    say_what_stays(found.groups, set(places))
    return OffsetsChange(
        command="offsets clone",
        plans=plans,
        problems=(*found.others, *topics.problems),
        facts={"from": origin},
        writer=writer,
    )


def committed_original(source: Source, name: str) -> Group:
    """The group whose offsets are to be copied; CommandError when there are none to copy."""
    original = _committed_of(source, name)
    if original.type is GroupType.SHARE:
        raise CommandError(f"{name}: it is a share group; its offsets mean something else")
    if is_active(original):
        notice(f"{name} has members: they go on, so its offsets are those of this moment")
    return original


def say_what_stays(groups: Iterable[Group], set_places: set[Place]) -> None:
    """Notices of committed offsets that a copy leaves as they are."""
    for group in groups:
        left = set(committed_places(group.offsets or {})) - set_places
        if left:
            names = ", ".join(f"{topic}-{number}" for topic, number in sorted(left)[:5])
            more = f" and {len(left) - 5} more" if len(left) > 5 else ""
            notice(f"{group.id} keeps what it has committed elsewhere: {names}{more}")


def say_what_is_new(plans: Iterable[GroupChange]) -> None:
    """Notices of groups that a change would make."""
    for plan in plans:
        if not plan.exists and plan.changes:
            makes = (
                "setting start offsets makes a share group"
                if plan.described.type is GroupType.SHARE
                else "committing offsets makes a classic one (for share consumers: offsets reset --type share)"
            )
            notice(f"{plan.group}: no such group; {makes}")


def say_what_is_delivered_again(plans: Iterable[GroupChange]) -> None:
    """Notice of what setting a start offset takes from a share group, also where it stays the same."""
    for plan in plans:
        if plan.described.type is GroupType.SHARE and plan.exists and plan.applicable:
            notice(
                f"{plan.group}: from its new start offsets on every record is delivered, also those that it has "
                "acknowledged; delivery counts start again"
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
    """What deleting offsets of topics would take; a group that has none of them is left out unless named.

    :raises UsageError: not one of `scopes` and `all_topics` is given
    """
    if all_topics == bool(scopes):
        raise UsageError("of which topics? give one of --topic TOPIC[:0,1] (repeatable) and --all-topics")
    found = find_groups(source, names, named=named, types=types)
    missing = [Problem(subject=name, message="no such group") for name in sorted(found.absent)]
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
) -> tuple[list[tuple[str, Place, int]], tuple[Problem, ...]]:
    """Rows of a CSV file, by group, topic and partition, and what cannot be a row."""
    rows: list[tuple[str, Place, int]] = []
    problems: list[Problem] = []
    for group in groups:
        for place, offset in _offsets(group, scopes):
            if offset == NOTHING_COMMITTED:
                continue  # a share group has not begun to deliver there
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
