"""From what a source tells to changes of offsets, and from there to the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cli.errors import UsageError
from cli.output import notice
from cli.render.document import Document
from cli.selection import without_vanished
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter
from cli.verbs.offsets.group_offsets_change import GroupOffsetsChange
from cli.verbs.offsets.view import Outcome, change_document
from groups.model import Cause, Group, Problem
from groups.offsets.model import GroupChange, Place, TopicScope, existing, parse_scope, places_in
from groups.offsets.plan import absent, other_tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
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


def find_groups(source: Source, names: Sequence[str], *, named: bool) -> Found:
    """Describe groups with offsets. Of groups that were only matched, those with other offsets are left out."""
    read = source.describe(names, offsets=True)
    groups = {group.id: group for group in read.items}
    gone = frozenset(problem.subject for problem in read.problems if problem.cause is Cause.ABSENT)
    gone = gone - groups.keys() if named else frozenset()
    kept = [groups.get(name) or absent(name) for name in names if name in groups or name in gone]
    if not named:
        elsewhere = [group for group in kept if other_tool(group)]
        for group in elsewhere:
            notice(f"{group.id} is left out: it is a {group.type.value} group")
        kept = [group for group in kept if group not in elsewhere]
    problems = without_vanished(read.problems, named=named)
    own, others = _sorted_out(problems, [group.id for group in kept], gone)
    return Found(groups=tuple(kept), absent=gone, problems=own, others=others)


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
class Topics:
    """How many partitions topics have, asked once per topic."""

    source: Source
    problems: tuple[Problem, ...] = ()
    _counts: dict[str, int] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _unread: set[str] = field(default_factory=set)
    """What may exist: the cluster does not say."""

    def of(self, scopes: Sequence[TopicScope]) -> tuple[tuple[Place, ...], tuple[Problem, ...]]:
        """The partitions that scopes mean."""
        self._ask({scope.topic for scope in scopes})
        return places_in([scope for scope in scopes if scope.topic not in self._unread], self._counts)

    def existing(self, places: Iterable[Place]) -> tuple[tuple[Place, ...], tuple[Problem, ...]]:
        """Those of the partitions that exist, and a problem for each of the others."""
        wanted = list(places)
        self._ask({topic for topic, _ in wanted})
        return existing([place for place in wanted if place[0] not in self._unread], self._counts)

    def _ask(self, names: set[str]) -> None:
        new = names - self._asked
        if not new:
            return
        self._asked |= new
        read = self.source.topics(new, end_offsets=False)
        self._counts |= {topic.name: topic.partitions for topic in read.items}
        self.problems += read.problems
        self._unread |= new.intersection(name for problem in read.problems for name in problem.topics)


@dataclass(slots=True, kw_only=True)
class OffsetsChange(GroupOffsetsChange[GroupChange]):
    """Offsets of groups that are to be set."""

    verb, did = "set", "set"

    command: str
    facts: Mapping[str, Any]

    def document(self) -> Document:
        return change_document(self.command, self.plans, self.problems, self.outcome, self.facts)

    def send(self, writer: ClusterWriter) -> Outcome:
        return writer.commit({plan.group: plan.changes for plan in self.going})


def say_what_is_new(plans: Iterable[GroupChange]) -> None:
    """Notices of groups that a change would make."""
    for plan in plans:
        if not plan.exists and plan.changes:
            notice(f"{plan.group}: no such group; committing offsets makes one")
