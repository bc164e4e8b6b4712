"""Groups from a coordinator's own records: a broker's log directories, or the embedded coordinator's."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Self, TypeVar
from uuid import UUID

from cli.errors import CommandError
from cli.sources.source import ReadResult, SettingsOfGroups, Source
from coordinator.store.copies import Notice
from coordinator.store.described_groups import (
    committed_offsets,
    default_assignors,
    described_group,
    listed_group,
    sized_topics,
)
from coordinator.store.directory_files import read_meta_properties
from coordinator.store.loader import LoadedLog, load
from coordinator.store.topic_names import KnownTopic, KnownTopics
from groups.counts import counted
from groups.listing import GroupFilter
from groups.model import Cause, Cluster, Group, GroupListing, GroupType, PendingOffsets, Problem, Topic
from groups.settings import own_configs
from wire.log.errors import DamagedLog

INTERNAL = "__"  # Prefix of the names of Kafka's own topics

AnyGroup = TypeVar("AnyGroup", Group, GroupListing)
EMBEDDED_FEATURES = {"group.version": 1}  # It always supports the consumer protocol; a log lacks them


class ReplayedSource(Source):
    """Log directories. They are only read, and a broker may be running on them."""

    why_no_records = "the log of a coordinator contains no records and no end offsets of topics"

    def __init__(
        self,
        log: LoadedLog,
        *,
        named: tuple[KnownTopic, ...] = (),
        is_embedded: bool = False,
        notices: Iterable[str] = (),
    ) -> None:
        """`named` are topics that the user names; `is_embedded`: the embedded coordinator is the only broker."""
        super().__init__(notices)
        self.name = ", ".join(map(str, log.directories))
        self.log, self.named, self.is_embedded = log, named, is_embedded
        self._assumed: set[str] = set()
        """Groups whose assumed assignor was already reported."""
        self._problems = tuple(_problem(notice) for notice in log.notices if notice.is_problem)
        for notice in log.notices:
            if not notice.is_problem:
                self.notices.add(str(notice))
        for number, count in sorted(log.unknown_keys.items()):
            self.notices.add(f"{count} records of the unknown type {number} are skipped, as a broker does")

    @classmethod
    def read(
        cls,
        directories: Sequence[Path],
        *,
        as_of_ms: int | None = None,
        named: tuple[KnownTopic, ...] = (),
        is_embedded: bool = False,
        notices: Iterable[str] = (),
    ) -> Self:
        """Read the directories. CommandError if they belong to different clusters."""
        clusters = _cluster_ids(directories)
        if len(clusters) > 1:
            places = " and ".join(f"{directory} is of {cluster}" for cluster, directory in clusters.items())
            raise CommandError(f"the directories are of different clusters: {places}")
        return cls(
            load(directories, as_of_ms=as_of_ms), named=named, is_embedded=is_embedded, notices=notices
        )

    def cluster(self) -> Cluster:
        features = EMBEDDED_FEATURES if self.is_embedded else self._topics_in_log.features
        return Cluster(id=next(iter(_cluster_ids(self.log.directories)), None), features=features)

    def list_groups(self) -> ReadResult[GroupListing]:
        return self.select_groups(GroupFilter(), described=True)

    def select_groups(self, query: GroupFilter, /, *, described: bool) -> ReadResult[GroupListing]:  # noqa: ARG002
        log = self.log
        rows = list(map(listed_group, [*log.state.groups.values(), *log.others.values()]))
        defaults = default_assignors(rows)
        listed = (_with_default(row, defaults) for row in sorted(rows, key=lambda row: row.id))
        selected = tuple(filter(query.passes, listed))
        self._notify_defaults({row.id: defaults[row.id] for row in selected if row.id in defaults})
        return ReadResult(selected, self._new_problems())

    def describe(self, groups: Sequence[str], *, offsets: bool) -> ReadResult[Group]:
        items: list[Group] = []
        problems: list[Problem] = []
        for name in groups:
            group, oddities = self._group(name)
            problems += oddities
            if group is not None:
                items.append(self._with_offsets(group) if offsets else group)
        defaults = default_assignors(items)
        self._notify_defaults(defaults)
        groups_found = tuple(_with_default(group, defaults) for group in items)
        return ReadResult(groups_found, (*problems, *self._new_problems()))

    def _notify_defaults(self, defaults: Mapping[str, str]) -> None:
        """Report the groups with the assignor that a broker uses if no member names one; each of them once."""
        new = {group: assignor for group, assignor in defaults.items() if group not in self._assumed}
        if new:
            self._assumed |= new.keys()
            (first, *rest), assumed = new, ", ".join(sorted(set(new.values())))
            who = f"{first} and {counted(len(rest), 'more group')}" if rest else first
            self.notices.add(
                f"{who}: the members name no assignor; assuming {assumed}, the default of brokers"
            )

    def _group(self, name: str) -> tuple[Group | None, tuple[Problem, ...]]:
        group, oddities = described_group(self.log.state, self.log.others, name, self.topic_names)
        if group is not None:
            return group, oddities
        # The group may be in a part of the log that cannot be read.
        where, cause = self.name, Cause.ABSENT
        if self.log.problems:
            where, cause = f"the readable part of {self.name}", Cause.UNREAD
        return None, (Problem(subject=name, message=f"no such group in {where}", cause=cause, group=name),)

    def _with_offsets(self, group: Group) -> Group:
        if group.type is GroupType.SHARE:
            return group  # a share group's offsets are in __share_group_state
        stored = self.log.state.offsets.get(group.id, {})
        pending = PendingOffsets.of(self.log.state.pending.partitions(group.id))
        return replace(group, offsets=committed_offsets(stored), pending=pending)

    def group_settings(self, groups: Sequence[str], /) -> SettingsOfGroups:
        """The groups' settings; logs do not contain the brokers' own settings."""
        known = self._topics_in_log.group_configs
        if known is None and not self.is_embedded:
            return SettingsOfGroups()
        return SettingsOfGroups(
            by_group={group: own_configs((known or {}).get(group, {})) for group in groups}
        )

    def _topics(self, names: Collection[str] | None, requested: Sequence[str]) -> ReadResult[Topic]:
        """Topics without offsets; those of unknown size are left out, with a problem unless only end offsets matter."""
        known = self.known_topics
        topics = [known[name] for name in sorted(known if names is None else known.keys() & set(names))]
        sized = [topic for topic in topics if topic.partitions is not None]
        problems: tuple[Problem, ...] = ()
        if names is None or "end_offsets" not in requested:
            message = "its number of partitions is not known, so it is left out; name it with --topics FILE"
            unsized = [topic.name for topic in topics if topic.partitions is None]
            problems = tuple(Problem(subject=name, topics=(name,), message=message) for name in unsized)
            self._notify_guesses(sized)
        return ReadResult(tuple(sized_topics(sized)), problems)

    @cached_property
    def topic_names(self) -> Mapping[UUID, str]:
        """The known topic names by id; the user's names override others."""
        return {
            **self._topics_in_log.names,
            **{topic.id: topic.name for topic in self.named if topic.id is not None},
        }

    @cached_property
    def known_topics(self) -> Mapping[str, KnownTopic]:
        """The known topics by name; the user's topics override others."""
        known = dict(self._topics_in_log.topics)
        for topic in self.named:
            known[topic.name] = _merged(topic, known.get(topic.name))
        return known

    @cached_property
    def _topics_in_log(self) -> KnownTopics:
        for notice in self.log.topics.notices:
            self.notices.add(str(notice))
        return self.log.topics

    def _new_problems(self) -> tuple[Problem, ...]:
        """Problems of the log that were not returned before."""
        problems, self._problems = self._problems, ()
        return problems

    def _notify_guesses(self, topics: Iterable[KnownTopic]) -> None:
        partial = (topic.name for topic in topics if not topic.is_whole)
        guessed = [name for name in partial if not (self.is_embedded or name.startswith(INTERNAL))]
        if guessed:
            more = f" and {len(guessed) - 3} more" if len(guessed) > 3 else ""
            self.notices.add(
                f"{', '.join(guessed[:3])}{more}: assumed to have the partitions that these directories show; "
                "if another broker has more, name the topics with --topics FILE"
            )


def _with_default(group: AnyGroup, defaults: Mapping[str, str]) -> AnyGroup:
    return replace(group, protocol=defaults[group.id]) if group.id in defaults else group


def _merged(topic: KnownTopic, known: KnownTopic | None) -> KnownTopic:
    """The user's facts about a topic, completed with other known facts unless these are about another topic id."""
    if known is None or known.id not in (None, topic.id):
        return topic
    return replace(topic if topic.is_whole else known, id=topic.id, racks=known.racks)


def _problem(notice: Notice) -> Problem:
    position = "" if notice.position is None else f", byte {notice.position}"
    return Problem(subject=f"{notice.file or 'the log'}{position}", message=notice.message)


def _cluster_ids(directories: Iterable[Path]) -> dict[str, Path]:
    """One directory per cluster; directories without a readable meta.properties are ignored."""
    clusters: dict[str, Path] = {}
    for directory in directories:
        try:
            meta = read_meta_properties(directory)
        except (DamagedLog, OSError):
            continue
        if meta is not None and meta.cluster_id is not None:
            clusters.setdefault(meta.cluster_id, directory)
    return clusters
