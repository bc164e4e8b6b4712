"""Settings of groups, topics and brokers, access control lists, and the deletion of topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from wire import acls
from wire.acls import ConfigResourceType, Operation
from wire.client.cluster import KafkaClient
from wire.client.connection import Connection
from wire.client.errors import Answers, batches, refused
from wire.client.steps import Deadline, Replies, Steps
from wire.errors import ErrorCode, outcome, refusal
from wire.messages.layout import NO_UUID
from wire.messages.schemas.admin import DELETE_TOPICS, LIST_CONFIG_RESOURCES
from wire.messages.schemas.cluster import DESCRIBE_CONFIGS
from wire.messages.schemas.security import DESCRIBE_ACLS

if TYPE_CHECKING:
    from wire.messages.schemas.cluster import DescribeConfigsResponseResultConfig
    from wire.messages.schemas.security import DescribeAclsResponseResource

Settings: TypeAlias = "dict[str, DescribeConfigsResponseResultConfig]"
"""Settings by name, as in the response; the `value` of an unset or sensitive one is None."""

_FIRST_DELETING_BY_ID = 6


def describe_configs(
    client: KafkaClient, kind: ConfigResourceType, names: Iterable[str]
) -> Answers[str, Settings]:
    """All settings of groups, topics or brokers (a broker's name is its node id)."""

    def ask(broker: Connection, names: Sequence[str], deadline: Deadline) -> Replies[str, Settings]:
        more = {"resource_type": kind, "configuration_keys": None}
        resources = [{"resource_name": name, **more} for name in names]
        requests = [{"resources": batch} for batch in batches(resources)]
        answers = yield from broker.ask(DESCRIBE_CONFIGS, requests, deadline)
        return {
            result.resource_name: outcome(result) or {config.name: config for config in result.configs}
            for answer in answers
            for result in answer.results
        }

    if kind is ConfigResourceType.BROKER:
        return client.ask_nodes(names, ask)
    return client.ask_one_broker(names, ask)


_FIRST_LISTING_GROUPS = 1  # KIP-1142: Kafka 4.1


def groups_with_settings(client: KafkaClient) -> frozenset[str] | None:
    """The groups that have settings, even if they do not exist; None if the brokers do not list them, or not to this
    user (DESCRIBE_CONFIGS on the cluster)."""

    def ask(broker: Connection, deadline: Deadline) -> Steps[frozenset[str] | None]:
        yield from broker.open(deadline)
        if not broker.supports(LIST_CONFIG_RESOURCES):
            return None
        if broker.version(LIST_CONFIG_RESOURCES) < _FIRST_LISTING_GROUPS:
            return None
        request = {"resource_types": [ConfigResourceType.GROUP]}
        (response,) = yield from broker.ask(LIST_CONFIG_RESOURCES, [request], deadline)
        listed = frozenset(resource.resource_name for resource in response.config_resources)
        return None if response.error_code else listed

    return client.ask_any(ask)


_NOT_ASKED_FOR = -(2**31)


def operations_in(bits: int) -> tuple[str, ...] | None:
    """The operations whose numbers are set bits (`authorizedOperations`); None if the broker does not report them."""
    if bits == _NOT_ASKED_FOR:
        return None
    return tuple(one.name for one in Operation if one >= Operation.ALL and bits >> one & 1)


def describe_acls(client: KafkaClient, kind: acls.ResourceType) -> tuple[DescribeAclsResponseResource, ...]:
    """All topics or groups, or patterns of them, with their access control entries. Raises KafkaError: 54, 31."""
    request = {
        "resource_type_filter": kind,
        "resource_name_filter": None,
        "pattern_type_filter": acls.PatternType.ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": Operation.ANY,
        "permission_type": acls.Permission.ANY,
    }

    def ask(broker: Connection, deadline: Deadline) -> Steps[tuple[DescribeAclsResponseResource, ...]]:
        (response,) = yield from broker.ask(DESCRIBE_ACLS, [request], deadline)
        if response.error_code:
            raise refused(broker.address, DESCRIBE_ACLS.name, response.error_code, response.error_message)
        return response.resources

    return client.ask_any(ask)


def delete_topics(client: KafkaClient, topics: Mapping[str, UUID | None]) -> Answers[str, bool]:
    """Delete topics; True for each that is gone. One whose id is known is deleted only if it has it (Kafka 2.8)."""

    def ask(broker: Connection, names: Sequence[str], deadline: Deadline) -> Replies[str, bool]:
        yield from broker.open(deadline)
        takes_ids = broker.version(DELETE_TOPICS) >= _FIRST_DELETING_BY_ID
        ids = {name: id_ for name in names if takes_ids and (id_ := topics[name]) is not None}
        entries = [
            {"name": None, "topic_id": ids[name]} if name in ids else {"name": name, "topic_id": NO_UUID}
            for name in names
        ]
        request = {"topics": entries, "topic_names": names, "timeout_ms": int(deadline.remaining_ms())}
        (response,) = yield from broker.ask(DELETE_TOPICS, [request], deadline)
        by_id: dict[UUID | None, str] = {topic_id: name for name, topic_id in ids.items()}
        gone = (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return {
            result.name or by_id.get(result.topic_id, ""): result.error_code in gone
            or refusal(result.error_code, result.error_message)
            for result in response.responses
        }

    return client.ask_one_broker(topics, ask)
