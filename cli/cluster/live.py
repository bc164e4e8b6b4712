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

from cli.cluster.port import Read
from cli.errors import CommandError
from coordinator.model import Cluster, Group, GroupListing, GroupType, Offsets, Problem, Topic
from coordinator.wire.client import Client
from coordinator.wire.errors import UnsupportedMechanism
from coordinator.wire.security import ConnectionSettings
from migration.access import Access

if TYPE_CHECKING:
    from cli.cluster.admin import AdminReader
    from cli.cluster.wire_reader import WireReader
    from cli.options import SourceOptions


class LiveSource:
    """A `Source` over a cluster."""

    def __init__(self, settings: ConnectionSettings, timeout_ms: int) -> None:
        """Connect; a WireError says why that fails."""
        self.name = ",".join(settings.bootstrap_servers)
        self.settings, self.timeout_ms = settings, timeout_ms
        self.client: Client | None = None
        try:
            self.client = Client.connect(settings, timeout_ms=timeout_ms)
        except UnsupportedMechanism as error:
            self._log_in_without_wire(error)
            from cli.output import notice

            notice(
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
            from cli.cluster.properties import load_properties

            settings = load_properties(command_config)
        if bootstrap_server:
            servers = tuple(part.strip() for part in bootstrap_server.split(",") if part.strip())
            settings = replace(settings, bootstrap_servers=servers)
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
        from cli.cluster.admin import AdminReader
        from cli.cluster.librdkafka import librdkafka_config

        return AdminReader(librdkafka_config(self.settings), self.timeout_ms / 1000)

    @cached_property
    def wire(self) -> WireReader | None:
        if self.client is None:
            return None
        from cli.cluster.wire_reader import WireReader

        return WireReader(self.client, self.timeout_ms)

    @property
    def groups(self) -> WireReader | AdminReader:
        """Who tells of groups and topics."""
        return self.wire or self.admin

    def cluster(self) -> Cluster:
        return self.groups.cluster()

    def list_groups(self) -> Read[GroupListing]:
        return self.groups.list_groups()

    def describe(self, groups: Sequence[str], *, offsets: bool) -> Read[Group]:
        described = self.groups.describe(groups)
        if not offsets:
            return described
        committed, problems = self._committed(described.items)
        found = tuple(replace(group, offsets=committed.get(group.id)) for group in described.items)
        return Read(found, described.problems + problems)

    def with_leaders(self, groups: Sequence[Group]) -> tuple[Group, ...]:
        from cli.cluster.leader_records import read_leaders, with_leader
        from cli.cluster.librdkafka import librdkafka_config

        classic = [group.id for group in groups if group.type is GroupType.CLASSIC and group.members]
        if not classic:
            return tuple(groups)
        told = read_leaders(librdkafka_config(self.settings), classic, self.timeout_ms / 1000)
        return tuple(with_leader(group, told[group.id]) if group.id in told else group for group in groups)

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
        return Read(read.items, _in_lines(read.problems))

    def group_settings(self, groups: Sequence[str], /) -> Mapping[str, Mapping[str, str]]:
        return {} if self.wire is None else self.wire.group_settings(groups)

    def access(self) -> Access | None:
        if self.client is None:
            return None
        from cli.cluster.access import read_access

        return read_access(self.client, self.timeout_ms)

    def close(self) -> None:
        if self.client is not None:
            self.client.close()


def _in_lines(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """One line for the same problem of many partitions, or of many topics."""
    places: dict[str, list[str]] = {}
    for problem in problems:
        places.setdefault(problem.message, []).append(problem.subject)
    return tuple(
        Problem(
            subject=", ".join(subjects[:5]) + (f" and {len(subjects) - 5} more" if len(subjects) > 5 else ""),
            message=message,
        )
        for message, subjects in places.items()
    )
