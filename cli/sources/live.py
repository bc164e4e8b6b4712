"""Groups and topics of a live cluster: over the wire client, or through the AdminClient.

Each fact has one source (docs/decisions/0001). The AdminClient reports groups and topics only if the wire client
cannot authenticate; facts that it does not report stay unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import CommandError
from cli.sources.live_answers import (
    SHOWN,
    described_by_kind,
    fetched_offsets,
    group_problem,
    in_lines,
    listed_facts,
    listed_group,
    next_records,
    nodes_of,
    offsets_of,
    problem_of,
    problems_of,
    topic_of,
    with_offsets,
)
from cli.sources.permissions import READING_CONFIGS, cause_of, with_missing_operations
from cli.sources.source import (
    AuthorizedOperations,
    FoundRecords,
    Notices,
    OpenTransactions,
    ReadResult,
    SettingsOfGroups,
)
from groups.counts import first_names
from groups.listing import (
    Cause,
    GroupFilter,
    GroupListing,
    GroupState,
    GroupType,
    Problem,
    state_of,
    type_of,
)
from wire.client.cluster import KafkaClient
from wire.client.groups import describe_groups, list_groups
from wire.client.security import ConnectionSettings, SecurityProtocol
from wire.errors import ErrorCode, Failure
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE

if TYPE_CHECKING:
    from cli.sources.admin import AdminReader
    from groups.model import Cluster, Group, Offsets, PendingOffsets, Topic
    from migration.access import Access
    from wire.client.metadata import ClusterMetadata


LONGEST_TIMEOUT_MS = 3_600_000
"""librdkafka's maximum timeout; longer timeouts are reduced to an hour."""


_SHARE_FETCH = 78
"""The key of an API whose newest supported version helps to find the Kafka release."""

_NODES_FAILED = 2
"""The status of a topology description that the broker has but could not read (KIP-1331)."""


class LiveSource:
    """A `Source` over a cluster."""

    def __init__(self, settings: ConnectionSettings) -> None:
        """Prepare; the first request connects, and raises a WireError if that fails.

        Every request takes at most the settings' `api_timeout_ms`.
        :raises InvalidAddress: :raises CommandError: neither client supports the mechanism in the settings
        """
        self.name = ",".join(settings.bootstrap_servers)
        self.settings, self.timeout_ms = settings, settings.api_timeout_ms
        self.notices = Notices(settings.remarks)
        self.client: KafkaClient | None = None
        why_not = _why_not_by_wire(settings)
        if why_not is None:
            self.client = KafkaClient(settings)
        else:
            self._log_in_without_wire(why_not)

    @classmethod
    def open(
        cls,
        *,
        bootstrap_server: str | None,
        command_config: Path | None,
        timeout_ms: int,
        settings: ConnectionSettings | None = None,
        cluster_id: str | None = None,
    ) -> LiveSource:
        """Prepare; the named bootstrap servers override the servers in the file. `settings` replace a file.

        With a `cluster_id`, the cluster's id is checked at once.
        :raises CommandError: the cluster has another id :raises WireError: no broker reports one
        """
        settings = settings or ConnectionSettings()
        if command_config is not None:
            from wire.client.config.properties import load_properties

            settings = load_properties(command_config)
        if bootstrap_server:
            servers = tuple(part.strip() for part in bootstrap_server.split(",") if part.strip())
            settings = replace(settings, bootstrap_servers=servers)
        timeout_ms = min(timeout_ms, LONGEST_TIMEOUT_MS)
        source = cls(replace(settings, api_timeout_ms=timeout_ms, cluster_id=cluster_id))
        if cluster_id is not None:
            source.check_cluster(cluster_id)
        return source

    def check_cluster(self, wanted: str) -> None:
        """Refuse a cluster with another id: the address may belong to another cluster by now.

        :raises CommandError: the id is different :raises WireError: no broker reports one
        """
        client = self.client
        found = self.admin.cluster_id() if client is None else client.metadata([]).cluster_id
        if found != wanted:
            self.close()
            raise CommandError(
                f"{self.name} is the cluster {found}, and the context is for {wanted}. Check its bootstrap_server, or "
                "its cluster_id."
            )

    def _log_in_without_wire(self, why_not: str) -> None:
        """Use librdkafka for a mechanism that the wire client does not support; it depends on librdkafka's build."""
        try:
            _ = self.admin
        except CommandError:
            raise CommandError(why_not) from None
        self.notices.add(
            "epochs, subscriptions and share, streams and connect groups are not shown: only the AdminClient "
            f"can log in with sasl.mechanism={self.settings.sasl_mechanism}"
        )

    @cached_property
    def admin(self) -> AdminReader:
        """The AdminClient.

        :raises CommandError: librdkafka cannot be used with these settings, such as GSSAPI in its wheels
        :raises WireError: there is no token to log in with
        """
        from confluent_kafka import KafkaException

        from cli.sources.admin import AdminReader, librdkafka_config

        oauth = self.settings.oauth
        if oauth is not None:
            from wire.client.steps import Deadline
            from wire.client.tokens.source import token_source

            # Otherwise, librdkafka would wait ten seconds for a missing token, and not report why.
            token_source(oauth, self.settings.bootstrap_servers).token(Deadline(self.timeout_ms))
        try:
            return AdminReader(librdkafka_config(self.settings), self.timeout_ms / 1000)
        except KafkaException as error:
            reason = error.args[0].str().removeprefix("Failed to create admin client: ")
            mechanism = self.settings.sasl_mechanism
            login = f" with sasl.mechanism={mechanism}" if mechanism else ""
            raise CommandError(f"this needs librdkafka, which cannot log in{login} here: {reason}") from None

    def cluster(self) -> Cluster:
        if self.client is None:
            return self.admin.cluster()
        from groups.model import Cluster
        from groups.settings import release_of

        home = self.client.home()
        metadata = self.client.metadata([])
        bare = Cluster(
            id=metadata.cluster_id,
            kafka=release_of(home.features.supported.get("metadata.version"), home.newest(_SHARE_FETCH)),
            features=dict(home.features.levels),
            consumer_protocol=home.supports(CONSUMER_GROUP_DESCRIBE),
        )
        return self._with_settings(self.client, bare, [str(broker.node_id) for broker in metadata.brokers])

    def _with_settings(self, client: KafkaClient, cluster: Cluster, brokers: Sequence[str]) -> Cluster:
        from groups.settings import with_settings
        from wire.acls import ConfigResourceType
        from wire.client.settings import describe_configs

        answers = describe_configs(client, ConfigResourceType.BROKER, brokers)
        by_broker = {
            broker: {name: entry.value for name, entry in settings.items()}
            for broker, settings in answers.found.items()
        }
        return with_settings(
            cluster, by_broker, {name: each.message for name, each in answers.failed.items()}
        )

    def list_groups(self) -> ReadResult[GroupListing]:
        return self.select_groups(GroupFilter(), described=True)

    def select_groups(self, wanted: GroupFilter, /, *, described: bool) -> ReadResult[GroupListing]:
        listed = self._listed(wanted, described=described)
        if not listed.items and not listed.problems and wanted == GroupFilter():
            self._notify_hidden("no groups found: there are none, or this user may not describe any")
        return replace(listed, items=tuple(filter(wanted.passes, listed.items)))

    def _listed(self, wanted: GroupFilter, *, described: bool) -> ReadResult[GroupListing]:
        """The groups on every broker that answers; may include some that the filter excludes."""
        if self.client is None:
            return self.admin.list_groups()
        listing = list_groups(
            self.client,
            states=() if GroupState.UNKNOWN in wanted.states else [each.value for each in wanted.states],
            types=() if GroupType.UNKNOWN in wanted.types else [each.value for each in wanted.types],
        )
        if wanted.types - {GroupType.CLASSIC} and not all(group.group_type for group in listing.groups):
            self.notices.add(
                "this cluster does not report group types, as Kafka 3.8 and later do: all groups count as classic"
            )
        # Only a describe request returns assignors, and the states that brokers before 2.6 do not list.
        has_states = not wanted.states or all(group.group_state for group in listing.groups)
        on_list = replace(wanted, protocols=frozenset(), states=wanted.states if has_states else frozenset())
        listed = [group for group in listing.groups if on_list.passes(listed_group(group))]
        if has_states and not described and not wanted.protocols:
            return ReadResult(tuple(map(listed_group, listed)), problems_of(listing.failed))
        facts, problems = listed_facts(
            self.client, {group.group_id: type_of(group.group_type) for group in listed}
        )
        self._explain_dead(name for name, (state, *_) in facts.items() if state_of(state) is GroupState.DEAD)
        rows = (listed_group(group, *facts.get(group.group_id, ())) for group in listed)
        return ReadResult(tuple(rows), (*problems_of(listing.failed), *problems))

    def describe(self, groups: Sequence[str], *, offsets: bool) -> ReadResult[Group]:
        described = self._described(groups)
        if not offsets:
            return described
        committed, pending, problems = self.committed(described.items)
        found = tuple(
            replace(group, offsets=committed.get(group.id), pending=pending.get(group.id))
            for group in described.items
        )
        bare = [group.id for group in found if committed.get(group.id) == {} and not group.members]
        if bare and not problems:
            names = first_names(bare, SHOWN)
            self._notify_hidden(
                f"{names}: no committed offsets found; those of topics that this user may not describe are hidden"
            )
        return ReadResult(found, described.problems + problems)

    def _described(self, groups: Sequence[str]) -> ReadResult[Group]:
        """The named groups, each through the describe request of its type."""
        if self.client is None:
            return self.admin.describe(groups)
        from groups.described import as_group

        listing = list_groups(self.client)
        kinds = {group.group_id: type_of(group.group_type) for group in listing.groups}
        nodes = nodes_of(self.client)
        found: dict[str, Group] = {}
        problems: list[Problem] = []
        for kind, answers in described_by_kind(self.client, groups, kinds):
            places = self.client.known_coordinators(answers.found)
            for name, group in answers.found.items():
                found[name], oddities = as_group(kind, group, nodes.get(str(places.get(name))))
                problems += oddities
            problems += [group_problem(name, failure) for name, failure in answers.failed.items()]
        at = self.client.known_coordinators(name for name in groups if name not in kinds)
        unlisted = {name: str(place) for name, place in at.items() if str(place) in listing.failed}
        problems = [_of_unknown_type(problem, unlisted, listing.failed) for problem in problems]
        dead = [name for name, group in found.items() if group.state is GroupState.DEAD]
        self._explain_dead(name for name in dead if name in kinds)
        self._explain_missing(name for name in dead if name not in kinds)
        return ReadResult(tuple(found[name] for name in groups if name in found), tuple(problems))

    def _explain_dead(self, listed: Iterable[str]) -> None:
        """Explain a group that the cluster lists but describes as Dead, the state of a group that does not exist.

        Not needed if groups of the consumer protocol can be described: then none is described as a classic group.
        """
        names = first_names(sorted(listed), SHOWN)
        if self.client is None or not names or self.client.home().supports(CONSUMER_GROUP_DESCRIBE):
            return
        self.notices.add(
            f"{names}: listed, but described as Dead. This cluster does not answer {CONSUMER_GROUP_DESCRIBE.name}, so "
            "members of the consumer protocol are not known; a classic group without members is Dead on some "
            "Kafka-compatible services"
        )

    def _explain_missing(self, unlisted: Iterable[str]) -> None:
        """Explain Dead for a group that is not listed: brokers before 4.0 report it for groups that do not exist."""
        names = first_names(sorted(unlisted), SHOWN)
        if names:
            self.notices.add(
                f"{names}: not listed, and described as Dead: no such group, or the cluster does not list "
                "groups without members"
            )

    def _notify_hidden(self, message: str) -> None:
        """Brokers silently omit resources that a user may not describe; that is unlikely without a login."""
        if self.settings.security_protocol is not SecurityProtocol.PLAINTEXT:
            self.notices.add(message)

    def with_leaders(self, groups: Sequence[Group]) -> tuple[Group, ...]:
        from cli.sources.admin import librdkafka_config
        from cli.sources.offsets_topic import read_leaders, with_leader

        classic = [group.id for group in groups if group.type is GroupType.CLASSIC and group.members]
        if not classic:
            return tuple(groups)
        leaders = read_leaders(librdkafka_config(self.settings), classic, self.timeout_ms / 1000)
        return tuple(
            with_leader(group, leaders[group.id]) if group.id in leaders else group for group in groups
        )

    def with_topology_nodes(self, groups: Sequence[Group]) -> ReadResult[Group]:
        topologies = {group.id: group.topology for group in groups if group.topology is not None}
        if self.client is None or not topologies:
            return ReadResult(tuple(groups))
        from groups.described import with_nodes

        answers = describe_groups(self.client, STREAMS_GROUP_DESCRIBE, topologies, nodes=True)
        problems = [group_problem(name, failure) for name, failure in answers.failed.items()]
        found = {}
        for name, answer in answers.found.items():
            # The response of brokers before 4.4 lacks the field.
            if description := getattr(answer, "topology_description", None):
                found[name] = with_nodes(topologies[name], description)
            elif getattr(answer, "topology_description_status", 0) == _NODES_FAILED:
                message = (
                    "the nodes of its topology are not known: the broker could not read them; check its log"
                )
                problems.append(Problem(subject=name, message=message, group=name))
        return ReadResult(
            tuple(replace(group, topology=found.get(group.id, group.topology)) for group in groups),
            tuple(problems),
        )

    def with_commit_times(self, groups: Sequence[Group]) -> ReadResult[Group]:
        from cli.sources.admin import librdkafka_config
        from cli.sources.offsets_topic import read_commit_times

        return read_commit_times(librdkafka_config(self.settings), groups, self.timeout_ms / 1000)

    def with_last_use(self, groups: Sequence[Group]) -> ReadResult[Group]:
        from cli.sources.admin import librdkafka_config
        from cli.sources.offsets_topic import read_commit_times

        settings = librdkafka_config(self.settings)
        return read_commit_times(settings, groups, self.timeout_ms / 1000, last_members=True)

    def next_records(self, offsets: Mapping[tuple[str, int], Collection[int]], /) -> FoundRecords:
        if self.client is None:
            why = f"only the AdminClient can log in with sasl.mechanism={self.settings.sasl_mechanism}"
            return FoundRecords(records={}, remark=f"lag time is not known: {why}, which reads no records")
        read = next_records(self.client, offsets)
        return replace(read, problems=in_lines(read.problems))

    def open_transactions(self, places: Collection[tuple[str, int]], /) -> OpenTransactions:
        if self.client is None:
            return OpenTransactions()
        from cli.sources.transactions import read_open_transactions

        return read_open_transactions(self.client, places)

    def with_pending_offsets(
        self, groups: Sequence[Group], places: Mapping[str, Collection[tuple[str, int]]] | None = None, /
    ) -> tuple[Group, ...]:
        if self.client is None or not groups:
            return tuple(groups)
        wanted = [group for group in groups if group.type is not GroupType.SHARE]
        _, pending = fetched_offsets(self.client, wanted, places or {})
        return tuple(replace(group, pending=pending.get(group.id)) for group in groups)

    def committed(
        self, groups: Sequence[Group]
    ) -> tuple[dict[str, Offsets], dict[str, PendingOffsets], tuple[Problem, ...]]:
        """Committed offsets by group, or a share group's start offsets, once it has any; and pending offsets."""
        from wire.client.offsets import fetch_share_offsets

        if self.client is None:
            committed, problems = self.admin.committed([group.id for group in groups])
            return committed, {}, problems
        from groups.described import committed_offsets, share_offsets

        share = [group.id for group in groups if group.type is GroupType.SHARE]
        answers, pending = fetched_offsets(
            self.client, [group for group in groups if group.type is not GroupType.SHARE], {}
        )
        committed, problems = offsets_of(answers, committed_offsets)
        if not share:
            return committed, pending, problems
        started, unread = offsets_of(fetch_share_offsets(self.client, share), share_offsets)
        return committed | started, pending, problems + unread

    def topics(
        self,
        names: Collection[str] | None,
        *,
        end_offsets: bool,
        start_offsets: bool = False,
        stable_offsets: bool = False,
    ) -> ReadResult[Topic]:
        # End offsets are read last, so that none precedes the start or last stable offset shown with it.
        wanted = {
            "start_offsets": start_offsets,
            "stable_offsets": stable_offsets,
            "end_offsets": end_offsets,
        }
        read = self._topics(names, [name for name, is_wanted in wanted.items() if is_wanted])
        if names is None and not read.items and not read.problems:
            self._notify_hidden("no topics found: there are none, or this user may not describe any")
        return ReadResult(read.items, in_lines(read.problems))

    def _topics(self, names: Collection[str] | None, wanted: Sequence[str]) -> ReadResult[Topic]:
        """Topics with ids and racks, and the `wanted` offsets, which are None if no leader answered."""
        from wire.client.offsets import offsets_at

        if names is not None and not names:
            return ReadResult(())
        read, leaders = self._bare_topics(names)
        if not wanted:
            return read
        from wire.client.offsets import EARLIEST, LAST_STABLE, LATEST

        specs = {"start_offsets": EARLIEST, "stable_offsets": LAST_STABLE, "end_offsets": LATEST}
        asked = [specs[name] for name in wanted]
        places = [(topic.name, number) for topic in read.items for number in range(topic.partitions)]
        answers = (
            self.admin.offsets_at(places, asked)
            if self.client is None
            else offsets_at(self.client, places, asked, leaders=leaders)
        )
        problems = [
            problem_of(f"{name}-{number}", failure) for (name, number), failure in answers.failed.items()
        ]
        topics = tuple(with_offsets(topic, wanted, answers.found) for topic in read.items)
        return ReadResult(topics, (*read.problems, *problems))

    def _bare_topics(self, names: Collection[str] | None) -> tuple[ReadResult[Topic], ClusterMetadata | None]:
        """Topics without end offsets, and the leaders of their partitions if they are known."""
        if self.client is None:
            return self.admin.topics(names), None
        metadata = self.client.metadata(None if names is None else sorted(names))
        problems = [
            problem_of(name, failure, topics=(name,))
            for name, failure in sorted(metadata.failed.items())
            if failure.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        ]
        racks = {broker.node_id: broker.rack for broker in metadata.brokers}
        found = [topic_of(metadata.topics[name], racks) for name in sorted(metadata.topics)]
        return ReadResult(tuple(found), tuple(problems)), metadata

    def group_settings(self, groups: Sequence[str], /) -> SettingsOfGroups:
        from wire.client.settings import describe_configs

        if self.client is None:
            return SettingsOfGroups()
        from groups.settings import ConfigOrigin, GroupConfig
        from wire.acls import ConfigResourceType, ConfigSource

        origins: dict[int, ConfigOrigin] = {
            ConfigSource.GROUP: ConfigOrigin.GROUP,
            ConfigSource.DEFAULT: ConfigOrigin.DEFAULT,
        }

        answers = describe_configs(self.client, ConfigResourceType.GROUP, groups)
        found = {
            group: {
                name: GroupConfig(
                    name=name,
                    value=entry.value,
                    origin=origins.get(entry.config_source, ConfigOrigin.BROKER),
                )
                for name, entry in settings.items()
            }
            for group, settings in answers.found.items()
        }
        problems = [
            Problem(
                subject=group,
                message="its settings are not known: "
                + with_missing_operations(failure.name, failure.message, READING_CONFIGS),
                cause=cause_of(failure.name),
            )
            for group, failure in answers.failed.items()
            if failure.code != ErrorCode.INVALID_REQUEST  # brokers before 4.0 have no such settings
        ]
        return SettingsOfGroups(by_group=found, problems=in_lines(problems))

    def authorized_operations(self, groups: Sequence[Group], /) -> AuthorizedOperations:
        if self.client is None:
            return self.admin.authorized_operations([group.id for group in groups])
        from wire.client.settings import operations_in

        found: dict[str, tuple[str, ...]] = {}
        problems: list[Problem] = []
        kinds = {group.id: group.type for group in groups}
        for _, answers in described_by_kind(self.client, kinds, kinds, operations=True):
            for name, group in answers.found.items():
                operations = operations_in(group.authorized_operations)
                if operations is not None:
                    found[name] = operations
            problems += [group_problem(name, failure) for name, failure in answers.failed.items()]
        return AuthorizedOperations(by_group=found, problems=tuple(problems))

    def access(self) -> Access | None:
        if self.client is None:
            return None
        from cli.sources.transactions import read_access

        return read_access(self.client)

    def close(self) -> None:
        if self.client is not None:
            self.client.close()


def _of_unknown_type(problem: Problem, unlisted: Mapping[str, str], failed: Mapping[str, Failure]) -> Problem:
    """The problem of a group whose coordinator, by name in `unlisted`, does not list its groups: it was described as a
    classic group, and may be there with another type.
    """
    place = unlisted.get(problem.group or "")
    if problem.cause is not Cause.ABSENT or place is None:
        return problem
    why = failed[place].message.removeprefix(f"{place}: ")
    message = f"no classic group; whether it has another type is not known: {place}: {why}"
    return replace(problem, message=message, cause=Cause.UNREAD)


def _why_not_by_wire(settings: ConnectionSettings) -> str | None:
    """Why the wire client cannot log in; None if it can, or if no login is needed."""
    if not settings.security_protocol.sasl:
        return None
    from wire.client.sasl import why_unsupported

    return why_unsupported(settings)
