"""A live cluster over Kohort's own client, which reports every fact."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.sources import live_answers
from cli.sources.live import LiveSource
from cli.sources.permissions import READING_CONFIGS, cause_of, with_missing_operations
from cli.sources.source import (
    AuthorizedOperations,
    FoundRecords,
    GroupPlaces,
    OpenTransactions,
    ReadResult,
    SettingsOfGroups,
    Source,
)
from groups.counts import first_names
from groups.listing import Cause, GroupFilter, GroupListing, GroupState, GroupType, Problem, state_of, type_of
from wire.client.cluster import KafkaClient
from wire.client.groups import describe_groups, list_groups
from wire.client.security import ConnectionSettings
from wire.errors import ErrorCode, Failure
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE

if TYPE_CHECKING:
    from uuid import UUID

    from cli.sources.live import Committed, LogOffsets, NewOffsets, Places
    from groups.model import Cluster, Group, Topic
    from migration.access import Access
    from wire.client.errors import Answers
    from wire.client.metadata import ClusterMetadata
    from wire.client.offsets import OffsetSpec, Outcomes
    from wire.messages.schemas.groups import ListGroupsResponseGroup

_SHARE_FETCH = 78  # The key of an API whose newest supported version helps to find the Kafka release

CLUSTER_S = 60.0  # For how long facts about the cluster are remembered
_NODES_FAILED = 2  # The status of a topology description that the broker has but could not read (KIP-1331)


class WireSource(LiveSource):
    def __init__(self, settings: ConnectionSettings) -> None:
        """Prepare; the first request connects. Raises InvalidAddress."""
        super().__init__(settings)
        self.client = KafkaClient(settings)
        self._types: dict[str, GroupType] = {}  # Of groups that were described
        self._cluster: tuple[float, Cluster] | None = None  # As last read, and when

    def cluster_id(self) -> str | None:
        return self.client.metadata([]).cluster_id

    def cluster(self) -> Cluster:
        if self._cluster is None or not self.is_followed or time.monotonic() - self._cluster[0] > CLUSTER_S:
            self._cluster = time.monotonic(), self._read_cluster()
        return self._cluster[1]

    def _read_cluster(self) -> Cluster:
        from groups.model import Cluster, Node
        from groups.settings import release_of, with_settings
        from wire.acls import ConfigResourceType
        from wire.client.settings import describe_configs

        home = self.client.home()
        metadata = self.client.metadata([])
        _, newest_records = home.features.supported.get("metadata.version", (None, None))
        bare = Cluster(
            id=metadata.cluster_id,
            kafka=release_of(newest_records, home.newest(_SHARE_FETCH)),
            brokers=tuple(
                Node(id=broker.node_id, host=broker.address.host, port=broker.address.port, rack=broker.rack)
                for broker in sorted(metadata.brokers, key=lambda broker: broker.node_id)
            ),
            features=dict(home.features.levels),
            consumer_protocol=home.supports(CONSUMER_GROUP_DESCRIBE),
        )
        brokers = [str(broker.node_id) for broker in metadata.brokers]
        answers = describe_configs(self.client, ConfigResourceType.BROKER, brokers)
        by_broker = {
            broker: {name: entry.value for name, entry in settings.items()}
            for broker, settings in answers.found.items()
        }
        failed = {name: failure.message for name, failure in answers.failed.items()}
        return with_settings(bare, by_broker, failed)

    def _listed(self, query: GroupFilter, /, *, described: bool) -> ReadResult[GroupListing]:
        listing = list_groups(
            self.client,
            states=() if GroupState.UNKNOWN in query.states else [state.value for state in query.states],
            types=() if GroupType.UNKNOWN in query.types else [type_.value for type_ in query.types],
        )
        if query.types - {GroupType.CLASSIC} and not all(group.group_type for group in listing.groups):
            self.notices.add(
                "this cluster does not report group types, as Kafka 3.8 and later do: all groups count as classic"
            )
        # Only a describe request returns assignors, and the states that brokers before 2.6 do not list.
        has_states = not query.states or all(group.group_state for group in listing.groups)
        if self.is_followed:
            self._types |= {group.group_id: type_of(group.group_type) for group in listing.groups}
        on_list = replace(query, protocols=frozenset(), states=query.states if has_states else frozenset())
        listed: Sequence[ListGroupsResponseGroup] = listing.groups
        if on_list != GroupFilter():
            listed = [group for group in listed if on_list.passes(live_answers.listed_group(group))]
        if has_states and not described and not query.protocols:
            return ReadResult(
                tuple(map(live_answers.listed_group, listed)), live_answers.problems_of(listing.failed)
            )
        facts, problems = live_answers.listed_facts(self.client, listed)
        # The list has what a cluster reports of groups that are turned off; only describing one is an error.
        off = [problem for problem in problems if problem.error == ErrorCode.UNSUPPORTED_VERSION.name]
        for line in live_answers.in_lines(off):
            self.notices.add(f"{line.subject}: assignor and members are not known: {line.message}")
        problems = [problem for problem in problems if problem not in off]
        self._explain_dead(name for name, (state, *_) in facts.items() if state_of(state) is GroupState.DEAD)
        rows = (live_answers.listed_group(group, *facts.get(group.group_id, ())) for group in listed)
        return ReadResult(tuple(rows), (*live_answers.problems_of(listing.failed), *problems))

    def _described(self, groups: Sequence[str], types: Mapping[str, GroupType]) -> ReadResult[Group]:
        from groups.described import as_group

        described = self._described_again(groups) if self.is_followed else {}
        others = [name for name in groups if name not in described]
        if not others:
            return ReadResult(tuple(described[name] for name in groups))
        kinds, unreachable = types, dict[str, Failure]()
        if not types:
            listing = list_groups(self.client)
            kinds = {group.group_id: type_of(group.group_type) for group in listing.groups}
            unreachable = listing.failed
        nodes = live_answers.nodes_of(self.client)
        problems: list[Problem] = []
        for kind, answers in live_answers.described_by_kind(self.client, others, kinds):
            places = self.client.known_coordinators(answers.found)
            for name, group in answers.found.items():
                described[name], oddities = as_group(kind, group, nodes.get(str(places.get(name))))
                problems += oddities
                self._types[name] = kind
            problems += [
                live_answers.group_problem(name, failure) for name, failure in answers.failed.items()
            ]
        at = self.client.known_coordinators(name for name in groups if name not in kinds)
        unlisted = {name: str(address) for name, address in at.items() if str(address) in unreachable}
        problems = [_of_unknown_type(problem, unlisted, unreachable) for problem in problems]
        dead = [name for name, group in described.items() if group.state is GroupState.DEAD]
        self._explain_dead(name for name in dead if name in kinds)
        if missing := first_names(sorted(name for name in dead if name not in kinds), live_answers.SHOWN):
            # Brokers before 4.0 report Dead for groups that do not exist.
            self.notices.add(
                f"{missing}: not listed, and described as Dead: no such group, or the cluster does not list "
                "groups without members"
            )
        return ReadResult(tuple(described[name] for name in groups if name in described), tuple(problems))

    def _described_again(self, groups: Sequence[str]) -> dict[str, Group]:
        """The groups as those of their last types; without those that are of another type now, or have anything to
        report."""
        from groups.described import as_group

        kinds = {name: self._types[name] for name in groups if name in self._types}
        if len(kinds) < len(groups):
            return {}
        nodes = live_answers.nodes_of(self.client)
        described = {}
        for kind, answers in live_answers.described_by_kind(self.client, list(kinds), kinds):
            places = self.client.known_coordinators(answers.found)
            for name, found in answers.found.items():
                group, oddities = as_group(kind, found, nodes.get(str(places.get(name))))
                if not oddities and group.state is not GroupState.DEAD:
                    described[name] = group
        return described

    def _explain_dead(self, listed: Iterable[str]) -> None:
        """Explain a group that the cluster lists but describes as Dead, the state of a group that does not exist. Not
        needed if groups of the consumer protocol can be described: then none is described as a classic group."""
        names = first_names(sorted(listed), live_answers.SHOWN)
        if not names or self.client.home().supports(CONSUMER_GROUP_DESCRIBE):
            return
        self.notices.add(
            f"{names}: listed, but described as Dead. This cluster does not answer {CONSUMER_GROUP_DESCRIBE.name}, so "
            "members of the consumer protocol are not known; a classic group without members is Dead on some "
            "Kafka-compatible services"
        )

    def with_topology_nodes(self, groups: Sequence[Group]) -> ReadResult[Group]:
        topologies = {group.id: group.topology for group in groups if group.topology is not None}
        if not topologies:
            return ReadResult(tuple(groups))
        from groups.described import with_nodes

        answers = describe_groups(self.client, STREAMS_GROUP_DESCRIBE, topologies, nodes=True)
        problems = [live_answers.group_problem(name, failure) for name, failure in answers.failed.items()]
        described = {}
        for name, answer in answers.found.items():
            # The response of brokers before 4.4 lacks the field.
            if description := getattr(answer, "topology_description", None):
                described[name] = with_nodes(topologies[name], description)
            elif getattr(answer, "topology_description_status", 0) == _NODES_FAILED:
                message = (
                    "the nodes of its topology are not known: the broker could not read them; check its log"
                )
                problems.append(Problem(subject=name, message=message, group=name))
        return ReadResult(
            tuple(replace(group, topology=described.get(group.id, group.topology)) for group in groups),
            tuple(problems),
        )

    def next_records(self, offsets: Mapping[tuple[str, int], Collection[int]], /) -> FoundRecords:
        read = live_answers.next_records(self.client, offsets)
        return replace(read, problems=live_answers.in_lines(read.problems))

    def open_transactions(self, places: Collection[tuple[str, int]], /) -> OpenTransactions:
        from cli.sources.transactions import read_open_transactions

        return read_open_transactions(self.client, places)

    def with_pending_offsets(
        self, groups: Sequence[Group], places: GroupPlaces | None = None, /
    ) -> tuple[Group, ...]:
        if not groups:
            return tuple(groups)
        selected = [group for group in groups if group.type is not GroupType.SHARE]
        _, pending = live_answers.fetched_offsets(self.client, selected, places or {})
        return tuple(replace(group, pending=pending.get(group.id)) for group in groups)

    def committed(self, groups: Sequence[Group]) -> Committed:
        from groups.described import committed_offsets, share_offsets
        from wire.client.offsets import fetch_share_offsets

        share = [group.id for group in groups if group.type is GroupType.SHARE]
        answers, pending = live_answers.fetched_offsets(
            self.client, [group for group in groups if group.type is not GroupType.SHARE], {}
        )
        committed, problems = live_answers.offsets_of(answers, committed_offsets)
        if not share:
            return committed, pending, problems
        started, unread = live_answers.offsets_of(fetch_share_offsets(self.client, share), share_offsets)
        return committed | started, pending, problems + unread

    def _bare_topics(self, names: Collection[str] | None) -> tuple[ReadResult[Topic], ClusterMetadata | None]:
        metadata = self.client.metadata(None if names is None else sorted(names))
        problems = [
            live_answers.problem_of(name, failure, topics=(name,))
            for name, failure in sorted(metadata.failed.items())
            if failure.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        ]
        racks = {broker.node_id: broker.rack for broker in metadata.brokers}
        topics = [live_answers.topic_of(metadata.topics[name], racks) for name in sorted(metadata.topics)]
        return ReadResult(tuple(topics), tuple(problems)), metadata

    def group_settings(self, groups: Sequence[str], /) -> SettingsOfGroups:
        from groups.settings import ConfigOrigin, GroupConfig
        from wire.acls import ConfigResourceType, ConfigSource
        from wire.client.settings import describe_configs

        origins = {
            int(ConfigSource.GROUP): ConfigOrigin.GROUP,
            int(ConfigSource.DEFAULT): ConfigOrigin.DEFAULT,
        }
        answers = describe_configs(self.client, ConfigResourceType.GROUP, groups)
        by_group = {
            group: {
                name: GroupConfig(
                    name=name, value=entry.value, origin=origins.get(entry.config_source, ConfigOrigin.BROKER)
                )
                for name, entry in settings.items()
            }
            for group, settings in answers.found.items()
        }
        problems = []
        for group, failure in answers.failed.items():
            if failure.code != ErrorCode.INVALID_REQUEST:  # brokers before 4.0 have no such settings
                why = with_missing_operations(failure.name, failure.message, READING_CONFIGS)
                message, cause = f"its settings are not known: {why}", cause_of(failure.name)
                problems.append(Problem(subject=group, message=message, cause=cause))
        return SettingsOfGroups(by_group=by_group, problems=live_answers.in_lines(problems))

    def authorized_operations(self, groups: Sequence[Group], /) -> AuthorizedOperations:
        from wire.client.settings import operations_in

        by_group: dict[str, tuple[str, ...]] = {}
        problems: list[Problem] = []
        kinds = {group.id: group.type for group in groups}
        for _, answers in live_answers.described_by_kind(self.client, kinds, kinds, operations=True):
            for name, group in answers.found.items():
                operations = operations_in(group.authorized_operations)
                if operations is not None:
                    by_group[name] = operations
            problems += [
                live_answers.group_problem(name, failure) for name, failure in answers.failed.items()
            ]
        return AuthorizedOperations(by_group=by_group, problems=tuple(problems))

    def access(self) -> Access | None:
        from cli.sources.transactions import read_access

        return read_access(self.client)

    def offsets_at(
        self, places: Places, specs: Sequence[OffsetSpec], leaders: ClusterMetadata | None = None, /
    ) -> LogOffsets:
        from wire.client.offsets import offsets_at

        return offsets_at(self.client, places, specs, leaders=leaders)

    def commit_offsets(
        self, offsets: NewOffsets, topic_ids: Mapping[str, UUID] | None = None, /
    ) -> Answers[str, Outcomes]:
        from wire.client.offsets import commit_offsets

        return commit_offsets(self.client, offsets, topic_ids)

    def delete_groups(self, groups: Sequence[str]) -> Answers[str, bool]:
        from wire.client.groups import delete_groups

        return delete_groups(self.client, groups)

    def close(self) -> None:
        self.client.close()


def records_of(source: Source, none: str) -> KafkaClient:
    """A client that reads records. UsageError for a source that has none; `none`: what for, and what to do."""
    if not isinstance(source, LiveSource):
        raise UsageError(f"{source.name} has no records {none} (--bootstrap-server, --context)")
    if not isinstance(source, WireSource):
        raise UsageError(
            f"the records of {source.name} cannot be read: only librdkafka supports this login "
            f"(sasl.mechanism={source.settings.sasl_mechanism})"
        )
    return source.client


def _of_unknown_type(problem: Problem, unlisted: Mapping[str, str], failed: Mapping[str, Failure]) -> Problem:
    """A group whose coordinator (in `unlisted`) lists no groups was described as classic: it may have another type."""
    broker = unlisted.get(problem.group or "")
    if problem.cause is not Cause.ABSENT or broker is None:
        return problem
    why = failed[broker].message.removeprefix(f"{broker}: ")
    message = f"no classic group; whether it has another type is not known: {broker}: {why}"
    return replace(problem, message=message, cause=Cause.UNREAD)
