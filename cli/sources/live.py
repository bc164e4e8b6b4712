"""Groups and topics of a live cluster: over the wire client, or through the AdminClient.

Each fact has one source (docs/decisions/0001). The AdminClient tells of groups and topics only where the wire client
cannot authenticate, and what it does not know stays unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import CommandError
from cli.sources.source import Notices, Read, RecordTimes
from groups.listing import Cause, GroupListing, GroupType, Problem
from wire.client.client import Client
from wire.client.errors import UnsupportedMechanism
from wire.client.security import ConnectionSettings, SecurityProtocol

if TYPE_CHECKING:
    from cli.options import SourceOptions
    from cli.sources.admin import AdminReader
    from cli.sources.wire_reader import WireReader
    from groups.model import Cluster, Group, Offsets, Topic
    from migration.access import Access


LONGEST_TIMEOUT_MS = 3_600_000
"""librdkafka takes no longer one; whoever asks for more waits an hour."""


class LiveSource:
    """A `Source` over a cluster."""

    def __init__(self, settings: ConnectionSettings, timeout_ms: int) -> None:
        """Connect; a WireError says why that fails."""
        self.name = ",".join(settings.bootstrap_servers)
        self.settings, self.timeout_ms = settings, timeout_ms
        self.notices = Notices()
        self.client: Client | None = None
        try:
            self.client = Client.connect(settings, timeout_ms=timeout_ms)
        except UnsupportedMechanism as error:
            self._log_in_without_wire(error)
            self.notices.add(
                "epochs, subscriptions and share, streams and connect groups are not shown: only the AdminClient "
                f"can log in with sasl.mechanism={settings.sasl_mechanism}"
            )

    @classmethod
    def connect(cls, options: SourceOptions) -> LiveSource:
        """From the options of a command."""
        return cls.open(
            bootstrap_server=options.bootstrap_server,
            command_config=options.command_config,
            timeout_ms=options.timeout_ms,
            settings=None if options.place is None else options.place.settings(),
        )

    @classmethod
    def open(
        cls,
        *,
        bootstrap_server: str | None,
        command_config: Path | None,
        timeout_ms: int,
        settings: ConnectionSettings | None = None,
    ) -> LiveSource:
        """Connect; the bootstrap servers that are named win over the file's. `settings` take the place of a file."""
        settings = settings or ConnectionSettings()
        if command_config is not None:
            from wire.client.config.properties import load_properties

            settings = load_properties(command_config)
        if bootstrap_server:
            servers = tuple(part.strip() for part in bootstrap_server.split(",") if part.strip())
            settings = replace(settings, bootstrap_servers=servers)
        timeout_ms = min(timeout_ms, LONGEST_TIMEOUT_MS)
        settings = replace(settings, api_timeout_ms=timeout_ms)
        return cls(settings, timeout_ms)

    def _log_in_without_wire(self, unsupported: UnsupportedMechanism) -> None:
        """Whether librdkafka speaks what the wire client does not depends on how it was built."""
        from confluent_kafka import KafkaException

        try:
            _ = self.admin
        except KafkaException:
            raise CommandError(str(unsupported)) from None

    @cached_property
    def admin(self) -> AdminReader:
        from cli.sources.admin import AdminReader
        from cli.sources.librdkafka import librdkafka_config

        return AdminReader(librdkafka_config(self.settings), self.timeout_ms / 1000)

    @cached_property
    def wire(self) -> WireReader | None:
        if self.client is None:
            return None
        from cli.sources.wire_reader import WireReader

        return WireReader(self.client, self.timeout_ms)

    @property
    def groups(self) -> WireReader | AdminReader:
        """Who tells of groups and topics."""
        return self.wire or self.admin

    def cluster(self) -> Cluster:
        return self.groups.cluster()

    def list_groups(self) -> Read[GroupListing]:
        listed = self._listed()
        if not listed.items and not listed.problems:
            self._say_may_be_hidden("no group is listed: there is none, or this user may describe none")
        return listed

    def _listed(self) -> Read[GroupListing]:
        if self.client is None:
            return self.admin.list_groups()
        from cli.sources.wire_listing import list_groups

        return list_groups(self.client, self.timeout_ms)

    def describe(self, groups: Sequence[str], *, offsets: bool) -> Read[Group]:
        described = self.groups.describe(groups)
        if not offsets:
            return described
        committed, problems = self._committed(described.items)
        found = tuple(replace(group, offsets=committed.get(group.id)) for group in described.items)
        bare = [group.id for group in found if committed.get(group.id) == {} and not group.members]
        if bare and not problems:
            names = ", ".join(bare[:5]) + (f" and {len(bare) - 5} more" if len(bare) > 5 else "")
            self._say_may_be_hidden(
                f"{names}: no committed offset is shown; those of topics that this user may not describe are not"
            )
        return Read(found, described.problems + problems)

    def _say_may_be_hidden(self, message: str) -> None:
        """Brokers leave out what a user may not describe, without a word; where nobody logs in that is unlikely."""
        if self.settings.security_protocol is not SecurityProtocol.PLAINTEXT:
            self.notices.add(message)

    def with_leaders(self, groups: Sequence[Group]) -> tuple[Group, ...]:
        from cli.sources.leader_records import read_leaders, with_leader
        from cli.sources.librdkafka import librdkafka_config

        classic = [group.id for group in groups if group.type is GroupType.CLASSIC and group.members]
        if not classic:
            return tuple(groups)
        told = read_leaders(librdkafka_config(self.settings), classic, self.timeout_ms / 1000)
        return tuple(with_leader(group, told[group.id]) if group.id in told else group for group in groups)

    def with_commit_times(self, groups: Sequence[Group]) -> Read[Group]:
        from cli.sources.commit_times import read_commit_times
        from cli.sources.librdkafka import librdkafka_config

        return read_commit_times(librdkafka_config(self.settings), groups, self.timeout_ms / 1000)

    def record_times(self, offsets: Mapping[tuple[str, int], Collection[int]], /) -> RecordTimes:
        if self.client is None:
            why = f"only the AdminClient can log in with sasl.mechanism={self.settings.sasl_mechanism}"
            return RecordTimes(times={}, remark=f"lag time is not known: {why}, which reads no records")
        from cli.sources.record_times import read_record_times

        read = read_record_times(self.client, offsets, self.timeout_ms)
        return replace(read, problems=_in_lines(read.problems))

    def _committed(self, groups: Sequence[Group]) -> tuple[dict[str, Offsets], tuple[Problem, ...]]:
        if self.wire is None:
            return self.admin.committed([group.id for group in groups])
        share = [group.id for group in groups if group.type is GroupType.SHARE]
        others = [group.id for group in groups if group.type is not GroupType.SHARE]
        committed, problems = self.wire.committed(others)
        started, unread = self.wire.share_offsets(share) if share else ({}, ())
        return committed | started, problems + unread

    def topics(self, names: Collection[str] | None, *, end_offsets: bool) -> Read[Topic]:
        read = self.groups.topics(names, end_offsets=end_offsets)
        if names is None and not read.items and not read.problems:
            self._say_may_be_hidden("no topic is shown: there is none, or this user may describe none")
        return Read(read.items, _in_lines(read.problems))

    def group_settings(self, groups: Sequence[str], /) -> Mapping[str, Mapping[str, str]]:
        return {} if self.wire is None else self.wire.group_settings(groups)

    def access(self) -> Access | None:
        if self.client is None:
            return None
        from cli.sources.access import read_access

        return read_access(self.client, self.timeout_ms)

    def close(self) -> None:
        if self.client is not None:
            self.client.close()


def _in_lines(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """One line for the same problem of many partitions, or of many topics."""
    places: dict[tuple[str, Cause], list[str]] = {}
    topics: dict[tuple[str, Cause], tuple[str, ...]] = {}
    for problem in problems:
        alike = problem.message, problem.cause
        places.setdefault(alike, []).append(problem.subject)
        topics[alike] = topics.get(alike, ()) + problem.topics
    return tuple(
        Problem(
            subject=", ".join(subjects[:5]) + (f" and {len(subjects) - 5} more" if len(subjects) > 5 else ""),
            message=message,
            cause=cause,
            topics=topics[message, cause],
        )
        for (message, cause), subjects in places.items()
    )
