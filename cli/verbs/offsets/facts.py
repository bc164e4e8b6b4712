"""Facts for plans of offset changes: groups with their offsets, the partitions of topics; and notices of the plans."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict
from uuid import UUID

from cli.changing import GROUPS_NAMED
from cli.errors import CommandError, UsageError
from cli.output import notice
from cli.selection import with_close_names, without_deleted_groups
from cli.sources.permissions import ending
from cli.sources.source import Source
from groups.counts import first_names
from groups.listing import MALFORMED, shown_id
from groups.model import Cause, Group, GroupType, Problem, TopicPartition, partition_name
from groups.offsets import model
from groups.offsets.model import GroupChange, TopicScope, committed_places
from groups.offsets.plan import absent, is_active
from groups.transactions import pending_remedy, pending_text
from wire.suggestion import SIMILAR, did_you_mean


class PlanFacts(TypedDict):
    exists: bool
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroups:
    """Groups with their offsets; missing groups are in `absent`."""

    groups: tuple[Group, ...]
    absent: frozenset[str] = frozenset()
    problems: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    """Problems of offsets that could not be read, by group."""
    others: tuple[Problem, ...] = ()  # Other problems

    def exists(self, group: Group) -> bool:
        return group.id not in self.absent

    def facts(self, group: Group, missing: tuple[Problem, ...]) -> PlanFacts:
        """More facts for a group's plan: whether it exists, and problems, including `missing` partitions."""
        return {"exists": self.exists(group), "problems": (*self.problems.get(group.id, ()), *missing)}


_ONLY_ASKED_FOR = (GroupType.SHARE, GroupType.STREAMS)


def with_new_share_groups(
    chosen: Sequence[str], problems: Sequence[Problem], types: Collection[GroupType]
) -> tuple[list[str], tuple[Problem, ...]]:
    """The groups to reset, and other problems: `--type share` with an unknown name creates a share group."""
    if {*types} != {GroupType.SHARE}:
        return list(chosen), tuple(problems)
    new = [problem.subject for problem in problems if problem.cause is Cause.ABSENT]
    return [*chosen, *new], tuple(problem for problem in problems if problem.subject not in new)


def left_out(types: Collection[GroupType], *, named: bool) -> frozenset[GroupType]:
    """The excluded types: share and streams groups that are neither named nor selected by type."""
    return frozenset() if named else frozenset(_ONLY_ASKED_FOR).difference(types)


def find_groups(
    source: Source, names: Sequence[str], *, named: bool, types: Collection[GroupType] = ()
) -> FoundGroups:
    """Describe groups with offsets. Unless groups were named, share and streams groups are left out if their types are
    not in `types`. A group that does not exist becomes a share group if only that type was given."""
    new = GroupType.SHARE if {*types} == {GroupType.SHARE} else GroupType.CLASSIC
    read = source.describe(names, offsets=True)
    groups = {group.id: group for group in read.items}
    gone = frozenset(problem.subject for problem in read.problems if problem.cause is Cause.ABSENT)
    gone = gone - groups.keys() if named else frozenset()
    kept: list[Group] = []
    for group in [groups.get(name) or absent(name, new) for name in names if name in groups or name in gone]:
        if group.type in left_out(types, named=named):
            kind = group.type.value
            notice(f"{shown_id(group.id)} is skipped: it is a {kind} group; name it, or add --type {kind}")
        else:
            kept.append(group)
    of_groups: dict[str, tuple[Problem, ...]] = {}
    others: list[Problem] = []
    ids = {group.id for group in kept}
    for problem in without_deleted_groups(read.problems, named=named):
        if problem.error == MALFORMED:  # changes of offsets do not depend on what members sent
            notice(f"{problem.subject}: {problem.message}")
        elif problem.group is None or problem.group not in ids:
            others.append(problem)
        elif problem.group not in gone:  # a missing group is not a problem here
            of_groups[problem.group] = (*of_groups.get(problem.group, ()), problem)
    return FoundGroups(groups=tuple(kept), absent=gone, problems=of_groups, others=tuple(others))


@dataclass(slots=True)
class PartitionCounts:
    """Numbers of partitions of topics, requested once per topic."""

    source: Source
    problems: tuple[Problem, ...] = ()
    ids: dict[str, UUID] = field(default_factory=dict)  # The topics' ids, as far as they are known
    counts: dict[str, int] = field(default_factory=dict)  # Numbers of partitions of the requested topics
    _asked: set[str] = field(default_factory=set)
    _unread: set[str] = field(default_factory=set)  # Topics that may exist, but that could not be read

    def of(self, scopes: Sequence[TopicScope]) -> tuple[tuple[TopicPartition, ...], tuple[Problem, ...]]:
        """The partitions that scopes select."""
        self._ask({scope.topic for scope in scopes})
        read = [scope for scope in scopes if scope.topic not in self._unread]
        places, problems = model.places_in(read, self.counts)
        return places, tuple(map(self._with_close_name, problems))

    def existing(
        self, places: Iterable[TopicPartition]
    ) -> tuple[tuple[TopicPartition, ...], tuple[Problem, ...]]:
        """The partitions that exist, and a problem for each of the others."""
        partitions = list(places)
        self._ask({topic for topic, _ in partitions})
        read = [partition for partition in partitions if partition[0] not in self._unread]
        return model.existing(read, self.counts)

    def _with_close_name(self, problem: Problem) -> Problem:
        if problem != model.unknown_topic(problem.subject):
            return problem
        known = [topic.name for topic in self.source.topics(None, end_offsets=False).items]
        return replace(problem, message=problem.message + did_you_mean(problem.subject, known, SIMILAR))

    def _ask(self, names: set[str]) -> None:
        new = names - self._asked
        if not new:
            return
        self._asked |= new
        read = self.source.topics(new, end_offsets=False)
        self.counts |= {topic.name: topic.partitions for topic in read.items}
        self.ids |= {topic.name: topic.id for topic in read.items if topic.id is not None}
        self.problems += read.problems
        self._unread |= new.intersection(name for problem in read.problems for name in problem.topics)


def committed_of(source: Source, name: str) -> Group:
    """A group whose offsets are read; CommandError if it has none."""
    read = source.describe([name], offsets=True)
    if not read.items:
        raise ending(with_close_names(source, read.problems)[0])
    (group,) = read.items
    if not group.offsets:
        reason = next((problem.message for problem in read.problems), "it has no committed offsets")
        raise CommandError(f"{name}: {reason}")
    return group


def committed_original(source: Source, name: str) -> Group:
    """The group whose offsets are copied; CommandError if it has none."""
    original = committed_of(source, name)
    if original.type is GroupType.SHARE:
        raise CommandError(f"{name}: it is a share group, which has no committed offsets")
    if is_active(original):
        notice(f"{name} has members that continue to commit: its current offsets are copied")
    return original


def parse_scopes(texts: Iterable[str] | None) -> tuple[TopicScope, ...]:
    """The values of `--topic`; UsageError for an invalid one."""
    try:
        return tuple(scope for text in texts or () for scope in model.split_scopes(text))
    except ValueError as error:
        raise UsageError(f"--topic {error}") from None


def notify_kept_offsets(groups: Iterable[Group], set_places: set[TopicPartition]) -> None:
    """Print notices of committed offsets that a copy does not change."""
    for group in groups:
        left = set(committed_places(group.offsets or {})) - set_places
        if left:
            names = first_names([f"{topic}-{number}" for topic, number in sorted(left)], 5)
            notice(f"{shown_id(group.id)} keeps its other committed offsets: {names}")


def notify_new_groups(plans: Iterable[GroupChange]) -> None:
    """Print a notice of the groups that a change would create; only the first ones are named."""
    noted: dict[str, list[str]] = {}
    for plan in plans:
        if not plan.exists and plan.changes:
            makes = (
                "setting start offsets creates a share group"
                if plan.described.type is GroupType.SHARE
                else "committing offsets creates a classic group (for share consumers: offsets reset --type share)"
            )
            noted.setdefault(makes, []).append(plan.group)
    for makes, groups in noted.items():
        notice(f"{first_names(groups, GROUPS_NAMED)}: no such group; {makes}")


def notify_pending(plans: Iterable[GroupChange], now_ms: int) -> None:
    """Print notices of changed partitions with an offset in an open transaction."""
    for plan in plans:
        pending = plan.described.pending
        if pending is None or not any(change.place in pending.places for change in plan.changes):
            continue
        notice(
            f"{plan.group}: {pending_text(pending, now_ms)} {pending_remedy(pending)} The new offsets replace "
            "the pending ones, but consumers still wait, and the application may commit more offsets."
        )


def notify_irreversible(plans: Iterable[GroupChange]) -> None:
    """Print notices of replaced offsets that `kohort undo` refuses to restore."""
    for plan in plans:
        outside = [partition_name(change.place) for change in plan.changes if change.is_outside]
        if outside:
            names = first_names(outside, GROUPS_NAMED)
            notice(f"{plan.group}, {names}: kohort undo cannot restore committed offsets outside the log")


def notify_redelivery(plans: Iterable[GroupChange]) -> None:
    """Print notices that a new start offset, even an equal one, makes share groups deliver records again."""
    for plan in plans:
        if plan.described.type is GroupType.SHARE and plan.exists and plan.applicable:
            notice(
                f"{plan.group}: all records from the new start offset are delivered, including those that it has "
                "acknowledged; delivery counts start again"
            )


def all_places(group: Group) -> tuple[TopicPartition, ...]:
    """The partitions of `--all-topics`: all with committed offsets and, for a streams group, of its input topics."""
    places = committed_places(group.offsets or {})
    if group.topology is None:
        return places
    return tuple(partition for partition in places if partition[0] in group.topology.input_topics)
