"""A live cluster as a source of groups: over Kohort's own client (`cli.sources.wire_source`), or the AdminClient
(`cli.sources.admin`), which reports fewer facts (docs/decisions/0001), if only librdkafka supports the login."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from cli.errors import CommandError
from cli.sources.live_answers import SHOWN, in_lines, problem_of, with_offsets
from cli.sources.source import ReadResult, Source
from groups.counts import first_names
from groups.listing import GroupFilter, GroupListing, GroupType, Problem
from wire.client.security import ConnectionSettings, SecurityProtocol

if TYPE_CHECKING:
    from uuid import UUID

    from groups.model import Group, Offsets, PendingOffsets, Topic
    from wire.client.errors import Answers
    from wire.client.metadata import ClusterMetadata
    from wire.client.offsets import NewOffset, OffsetSpec, Outcomes

    Places: TypeAlias = Collection[tuple[str, int]]
    LogOffsets: TypeAlias = Answers[tuple[str, int], tuple[int, ...]]
    NewOffsets: TypeAlias = Mapping[str, Mapping[tuple[str, int], NewOffset]]
    Committed: TypeAlias = tuple[dict[str, Offsets], dict[str, PendingOffsets], tuple[Problem, ...]]


class LiveSource(Source):
    def __init__(self, settings: ConnectionSettings) -> None:
        """The first request connects, and raises a WireError if that fails; each takes `api_timeout_ms`."""
        super().__init__(settings.remarks)
        self.name = ",".join(settings.bootstrap_servers)
        self.settings, self.timeout_ms = settings, settings.api_timeout_ms
        self._offsets_read: dict[int, int] = {}  # The ends of the offsets topic's partitions when first read

    def check_cluster(self, expected: str) -> None:
        """Refuse a cluster with another id: addresses change hands. Raises CommandError. Raises WireError."""
        reported = self.cluster_id()
        if reported != expected:
            self.close()
            raise CommandError(
                f"{self.name} is the cluster {reported}, and the context is for {expected}. Check its "
                "bootstrap_server, or its cluster_id."
            )

    @abstractmethod
    def cluster_id(self) -> str | None: ...

    @abstractmethod
    def _listed(self, query: GroupFilter, /, *, described: bool) -> ReadResult[GroupListing]:
        """The groups on every broker that answers; may include some that the filter excludes."""

    @abstractmethod
    def _described(self, groups: Sequence[str], types: Mapping[str, GroupType]) -> ReadResult[Group]:
        """The groups; `types` are those of all of them if they were just listed, or empty."""

    @abstractmethod
    def committed(self, groups: Sequence[Group]) -> Committed:
        """Committed offsets by group, or a share group's start offsets, once it has any; and pending offsets."""

    @abstractmethod
    def _bare_topics(self, names: Collection[str] | None) -> tuple[ReadResult[Topic], ClusterMetadata | None]:
        """Topics without offsets, and the leaders of their partitions if they are known."""

    @abstractmethod
    def offsets_at(
        self, places: Places, specs: Sequence[OffsetSpec], leaders: ClusterMetadata | None = None, /
    ) -> LogOffsets:
        """The offsets of each partition that meet the specs."""

    @abstractmethod
    def commit_offsets(
        self, offsets: NewOffsets, topic_ids: Mapping[str, UUID] | None = None, /
    ) -> Answers[str, Outcomes]:
        """Commit offsets of groups without members."""

    @abstractmethod
    def delete_groups(self, groups: Sequence[str]) -> Answers[str, bool]:
        """Delete groups with their offsets."""

    def list_groups(self) -> ReadResult[GroupListing]:
        return self.select_groups(GroupFilter(), described=True)

    def select_groups(self, query: GroupFilter, /, *, described: bool) -> ReadResult[GroupListing]:
        listed = self._listed(query, described=described)
        if not listed.items and not listed.problems and query == GroupFilter():
            self._notify_hidden("no groups found: there are none, or this user may not describe any")
        return replace(listed, items=tuple(filter(query.passes, listed.items)))

    def describe(self, groups: Sequence[str], *, offsets: bool) -> ReadResult[Group]:
        described = self._described(groups, {})
        return self._with_offsets(described) if offsets else described

    def describe_listed(self, listed: Sequence[GroupListing], *, offsets: bool) -> ReadResult[Group]:
        described = self._described(
            [group.id for group in listed], {group.id: group.type for group in listed}
        )
        return self._with_offsets(described) if offsets else described

    def _with_offsets(self, described: ReadResult[Group]) -> ReadResult[Group]:
        committed, pending, problems = self.committed(described.items)
        items = tuple(
            replace(group, offsets=committed.get(group.id), pending=pending.get(group.id))
            for group in described.items
        )
        bare = [group.id for group in items if committed.get(group.id) == {} and not group.members]
        if bare and not problems:
            names = first_names(bare, SHOWN)
            self._notify_hidden(
                f"{names}: no committed offsets found; those of topics that this user may not describe are hidden"
            )
        return ReadResult(items, described.problems + problems)

    def _notify_hidden(self, message: str) -> None:
        """Brokers silently omit resources that a user may not describe; that is unlikely without a login."""
        if self.settings.security_protocol is not SecurityProtocol.PLAINTEXT:
            self.notices.add(message)

    def with_leaders(self, groups: Sequence[Group]) -> tuple[Group, ...]:
        classic = [group.id for group in groups if group.type is GroupType.CLASSIC and group.members]
        if not classic:
            return tuple(groups)
        from cli.sources.librdkafka import librdkafka_config
        from cli.sources.offsets_topic import read_leaders, with_leader

        leaders = read_leaders(librdkafka_config(self.settings), classic, self.timeout_ms / 1000)
        return tuple(
            with_leader(group, leaders[group.id]) if group.id in leaders else group for group in groups
        )

    def with_commit_times(self, groups: Sequence[Group]) -> ReadResult[Group]:
        return self._timed(groups, last_members=False)

    def with_last_use(self, groups: Sequence[Group]) -> ReadResult[Group]:
        return self._timed(groups, last_members=True)

    def _timed(self, groups: Sequence[Group], *, last_members: bool) -> ReadResult[Group]:
        from cli.sources.librdkafka import librdkafka_config
        from cli.sources.offsets_topic import read_commit_times

        config, timeout_s = librdkafka_config(self.settings), self.timeout_ms / 1000
        return read_commit_times(
            config, groups, timeout_s, last_members=last_members, ends=self._offsets_read
        )

    def _topics(self, names: Collection[str] | None, requested: Sequence[str]) -> ReadResult[Topic]:
        if names is not None and not names:
            return ReadResult(())
        read, leaders = self._bare_topics(names)
        if names is None and not read.items and not read.problems:
            self._notify_hidden("no topics found: there are none, or this user may not describe any")
        if not requested:
            return replace(read, problems=in_lines(read.problems))
        from wire.client.offsets import EARLIEST, LAST_STABLE, LATEST

        specs = {"start_offsets": EARLIEST, "stable_offsets": LAST_STABLE, "end_offsets": LATEST}
        asked = [specs[name] for name in requested]
        places = [(topic.name, number) for topic in read.items for number in range(topic.partitions)]
        answers = self.offsets_at(places, asked, leaders)
        problems = [
            problem_of(f"{name}-{number}", failure) for (name, number), failure in answers.failed.items()
        ]
        topics = tuple(with_offsets(topic, requested, answers.found) for topic in read.items)
        return ReadResult(topics, in_lines((*read.problems, *problems)))
