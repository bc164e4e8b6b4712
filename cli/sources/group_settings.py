"""Settings of a group on a live cluster, through the AdminClient: read, validated, set."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
)

from cli.errors import CommandError, RefusedError
from cli.sources.admin import brokers_settings, failure_reason, is_silence
from cli.sources.permissions import CHANGING_CONFIGS, READING_CONFIGS, with_missing_operations
from cli.sources.source import Notices
from cli.sources.writer import Failed, failed_of
from groups.settings import ConfigOrigin, GroupConfig, bounds, broker_default
from wire.acls import ConfigResourceType, ConfigSource
from wire.client.cluster import KafkaClient
from wire.client.errors import raise_if_silent
from wire.client.settings import describe_configs

_ORIGINS = {ConfigSource.GROUP: ConfigOrigin.GROUP, ConfigSource.DEFAULT: ConfigOrigin.DEFAULT}
"""Origins by the protocol's numbers; confluent-kafka names only some of them."""

_NO_SETTINGS = (
    "these brokers have no settings of groups, which came with Kafka 4.0. Upgrade the brokers first. Until then the "
    "timeouts of a classic group are settings of its clients (session.timeout.ms, heartbeat.interval.ms)."
)
"""The message if brokers before 4.0 return INVALID_REQUEST: they have no resource of type GROUP."""

_IN_A_REQUEST = 500  # Groups per request: an answer has a few kilobytes for each


class GroupSettings:
    """Settings of groups. Every request takes at most `timeout_s`."""

    def __init__(
        self, admin: AdminClient, timeout_s: float, notices: Notices, client: KafkaClient | None = None
    ) -> None:
        """`notices` are the source's notices; `client` finds the brokers that answer, if it can log in."""
        self._admin, self._timeout_s, self._notices, self._client = admin, timeout_s, notices, client
        self._asking: dict[str, object] = {"request_timeout": timeout_s}
        """Options of librdkafka's requests; `read` adds a broker, because librdkafka may choose a silent one."""

    def read(self, groups: Sequence[str]) -> dict[str, dict[str, GroupConfig]]:
        """Every setting by group and name, with known bounds of brokers. Raises CommandError. Raises WireError."""
        known, failed = self.read_each(groups)
        for error in failed.values():
            raise error
        return known

    def read_each(
        self, groups: Sequence[str]
    ) -> tuple[dict[str, dict[str, GroupConfig]], dict[str, CommandError]]:
        """As `read`, with why the settings of other groups are not known. Raises only if those of brokers are not."""
        answered: dict[str, Mapping[str, object]] = {}
        failed: dict[str, CommandError] = {}
        try:
            brokers, unknown = self._brokers()
        except KafkaException as error:
            raise _unread(groups[0], error) from None
        for some in _request_batches(groups):
            resources = [ConfigResource(ConfigResource.Type.GROUP, group) for group in some]
            asked = self._admin.describe_configs(resources, **self._asking)
            for group, resource in zip(some, resources, strict=True):
                try:
                    answered[group] = asked[resource].result()
                except KafkaException as error:
                    failed[group] = _unread(group, error)
        for broker, words in unknown.items():
            self._notices.add(f"the bounds of broker {broker} are not known: {words}")
        names = sorted({name for entries in answered.values() for name in entries})
        limits = {name: (*bounds(name, brokers), broker_default(name, brokers)) for name in names}
        known = {
            group: {name: _config(name, entries[name], *limits[name]) for name in sorted(entries)}
            for group, entries in answered.items()
        }
        return known, failed

    def alter(
        self, changes: Mapping[str, Mapping[str, str | None]], *, validate_only: bool
    ) -> Iterator[dict[str, Failed | None]]:
        """Set settings of groups, all of a group or none; None unsets. Returns the outcome of each request."""
        for groups in _request_batches(list(changes)):
            entries = {group: list(starmap(_entry, changes[group].items())) for group in groups}
            resources = [
                ConfigResource(ConfigResource.Type.GROUP, group, incremental_configs=entries[group])
                for group in groups
            ]
            asked = self._admin.incremental_alter_configs(
                resources, validate_only=validate_only, **self._asking
            )
            outcome: dict[str, Failed | None] = {}
            for group, resource in zip(groups, resources, strict=True):
                try:
                    asked[resource].result()
                    outcome[group] = None
                except KafkaException as error:
                    outcome[group] = failed_of(error, CHANGING_CONFIGS)
            yield outcome

    def _brokers(self) -> tuple[list[Mapping[str, str | None]], dict[str, str]]:
        """The settings of the brokers, and why others are unknown. Raises KafkaException. Raises WireError."""
        if self._client is not None:
            return self._brokers_by_wire(self._client)
        nodes = self._admin.list_topics(timeout=self._timeout_s).brokers
        settings, failed = brokers_settings(self._admin, nodes, self._timeout_s)
        self._send_to([*settings, *(broker for broker, error in failed.items() if not is_silence(error))])
        words = {broker: failure_reason(error, READING_CONFIGS) for broker, error in failed.items()}
        return list(settings.values()), words

    def _brokers_by_wire(self, client: KafkaClient) -> tuple[list[Mapping[str, str | None]], dict[str, str]]:
        """librdkafka would wait for a broker that it cannot reach, longer than asked, and not name its address."""
        nodes = [str(broker.node_id) for broker in client.metadata([]).brokers]
        answers = describe_configs(client, ConfigResourceType.BROKER, nodes)
        raise_if_silent(answers)
        refusing = [node for node, failure in answers.failed.items() if failure.code is not None]
        self._send_to([*answers.found, *refusing])
        words = {
            node: with_missing_operations(failure.name, failure.message, READING_CONFIGS)
            for node, failure in answers.failed.items()
        }
        found = answers.found.values()
        return [{name: entry.value for name, entry in entries.items()} for entries in found], words

    def _send_to(self, answering: Sequence[str]) -> None:
        if answering:
            self._asking["broker"] = int(answering[0])


def _unread(group: str, error: KafkaException) -> CommandError:
    if error.args[0].code() == KafkaError.INVALID_REQUEST:
        return CommandError(f"{group}: {_NO_SETTINGS}")
    kind = RefusedError if failed_of(error, READING_CONFIGS).refused else CommandError
    return kind(f"{group}: its settings cannot be read: {failure_reason(error, READING_CONFIGS)}")


def _request_batches(groups: Sequence[str]) -> Iterator[Sequence[str]]:
    return (groups[start : start + _IN_A_REQUEST] for start in range(0, len(groups), _IN_A_REQUEST))


def _entry(name: str, value: str | None) -> ConfigEntry:
    operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    return ConfigEntry(name, value, incremental_operation=operation)


def _config(name: str, entry: Any, least: int | None, most: int | None, default: str | None) -> GroupConfig:
    return GroupConfig(
        name=name,
        value=entry.value,
        origin=_ORIGINS.get(entry.source, ConfigOrigin.BROKER),
        default=default or _default(entry),
        minimum=least,
        maximum=most,
    )


def _default(entry: Any) -> str | None:
    """The default of a setting that the brokers do not set."""
    if entry.source == ConfigSource.DEFAULT:
        value: str | None = entry.value
        return value
    known = [synonym.value for synonym in entry.synonyms.values() if synonym.source == ConfigSource.DEFAULT]
    return known[0] if known else None
