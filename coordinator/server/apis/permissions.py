"""Authorization of requests with many entries: forbidden entries are removed first, and refused in the answer.

keeping(RULE, handler)                     each entry of the request is allowed or refused separately
requires_operation(operation, handler)     the request requires an operation on the cluster
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from coordinator.server.exchange import AnswerFields, Exchange
from wire.acls import CLUSTER_NAME, Operation, ResourceType
from wire.errors import ErrorCode
from wire.messages.reader import Fields

if TYPE_CHECKING:
    from wire.messages.schemas.admin import (
        CreatePartitionsRequestTopic,
        CreateTopicsRequestTopic,
        DeleteTopicsRequestTopic,
        DescribeUserScramCredentialsRequest,
        ElectLeadersRequest,
    )
    from wire.messages.schemas.cluster import DescribeConfigsRequestResource
    from wire.messages.schemas.transactions import DescribeProducersRequestTopic


R = TypeVar("R")
Handler: TypeAlias = Callable[[Exchange[R]], Awaitable[AnswerFields]]

MESSAGES = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
}
"""The brokers' messages for these errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRule:
    """`entries` names the request's list; `results` the response's list, which has an entry for each.

    `refusal` returns the result of a forbidden entry, None if it is allowed.
    """

    entries: str
    results: str
    refusal: Callable[[Exchange, Any], AnswerFields | None]


def keeping(rule: EntryRule, answer: Handler[R]) -> Handler[R]:
    """A handler that answers only the entries that the rule allows."""

    @wraps(answer)
    async def kept(exchange: Exchange[R]) -> AnswerFields:
        if not exchange.has_acls:
            return await answer(exchange)
        entries = getattr(exchange.request, rule.entries) or ()
        refusals = [rule.refusal(exchange, entry) for entry in entries]
        refused = [refusal for refusal in refusals if refusal is not None]
        if refused:
            allowed = [element for element, refusal in zip(entries, refusals, strict=True) if refusal is None]
            exchange = replace(exchange, request=_narrowed(exchange.request, rule.entries, allowed))
        answered: Mapping[str, Any] = await answer(exchange)
        return {**answered, rule.results: [*answered[rule.results], *refused]} if refused else answered

    return kept


def requires_operation(operation: Operation, answer: Handler[R], **fields: object) -> Handler[R]:
    """A handler that requires an operation on the cluster.

    `fields` are fields of the refusal besides the error, or functions that derive them from the request.
    """

    @wraps(answer)
    async def kept(exchange: Exchange[R]) -> AnswerFields:
        if exchange.allows(operation, ResourceType.CLUSTER, CLUSTER_NAME):
            return await answer(exchange)
        more = {name: value(exchange.request) if callable(value) else value for name, value in fields.items()}
        return {**_judged(ErrorCode.CLUSTER_AUTHORIZATION_FAILED), **more}

    return kept


def not_elected(request: ElectLeadersRequest) -> Sequence[AnswerFields]:
    """The results of a refused ElectLeaders, one per partition."""
    refused = _judged(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    return [
        {
            "topic": topic.topic,
            "partition_result": [{"partition_id": number, **refused} for number in topic.partitions],
        }
        for topic in request.topic_partitions or ()
    ]


def not_described(request: DescribeUserScramCredentialsRequest) -> Sequence[AnswerFields]:
    """The results of a refused DescribeUserScramCredentials, one per user."""
    refused = {**_judged(ErrorCode.CLUSTER_AUTHORIZATION_FAILED), "credential_infos": ()}
    return [{"user": user.name, **refused} for user in request.users or ()]


def _narrowed(request: R, name: str, entries: Sequence[object]) -> R:
    """The request with only these entries."""
    fields = cast(Fields, request)
    return cast(
        R,
        type(fields)(
            entries if field == name else value for field, value in zip(fields.names, fields, strict=True)
        ),
    )


def _judged(error: ErrorCode) -> dict[str, object]:
    return {"error_code": error, "error_message": MESSAGES[error]}


def may_create(exchange: Exchange, name: str) -> bool:
    """Whether the caller may create a topic of this name."""
    return exchange.allows(Operation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME) or exchange.allows(
        Operation.CREATE, ResourceType.TOPIC, name
    )


NOT_CREATED = {
    "topic_id": None,
    "topic_config_error_code": ErrorCode.NONE,
    "num_partitions": -1,
    "replication_factor": -1,
    "configs": (),
}


def _creation(exchange: Exchange, requested: CreateTopicsRequestTopic) -> AnswerFields | None:
    if may_create(exchange, requested.name):
        return None
    return {
        "name": requested.name,
        **NOT_CREATED,
        "error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        "error_message": "Authorization failed.",
    }


CREATIONS = EntryRule(entries="topics", results="topics", refusal=_creation)
"""CreateTopics requires CREATE on the topic or on the cluster."""


def hiding_configs(create_topics: Handler[R]) -> Handler[R]:
    """CreateTopics returns a new topic's configs only to callers that may describe them."""

    @wraps(create_topics)
    async def kept(exchange: Exchange[R]) -> AnswerFields:
        answered: Mapping[str, Any] = await create_topics(exchange)
        if not exchange.has_acls:
            return answered
        return {**answered, "topics": [_shown(exchange, topic) for topic in answered["topics"]]}

    return kept


def _shown(exchange: Exchange, topic: Mapping[str, Any]) -> Mapping[str, object]:
    if topic["error_code"] or exchange.allows(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic["name"]):
        return topic
    hidden = {"topic_config_error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED}
    return {**topic, **NOT_CREATED, "topic_id": topic["topic_id"], **hidden}


def _deletion(exchange: Exchange, requested: DeleteTopicsRequestTopic | str) -> AnswerFields | None:
    """The refusal of a deletion. A caller that may describe the topic learns that it does not exist."""
    topic_name = requested if isinstance(requested, str) else requested.name
    topic_id = None if isinstance(requested, str) else requested.topic_id
    name = exchange.topic_name(topic_name, topic_id)
    if name is None or exchange.allows(Operation.DELETE, ResourceType.CLUSTER, CLUSTER_NAME):
        return None
    is_described = exchange.allows(Operation.DESCRIBE, ResourceType.TOPIC, name)
    if exchange.allows(Operation.DELETE, ResourceType.TOPIC, name) or (
        is_described and name not in exchange.cluster.topics.image.topics
    ):
        return None
    return {
        "name": name if topic_id is None or is_described else None,
        "topic_id": topic_id,
        **_judged(ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    }


DELETIONS = EntryRule(entries="topics", results="responses", refusal=_deletion)
"""DeleteTopics requires DELETE on the topic or on the cluster."""
DELETIONS_BY_NAME = replace(DELETIONS, entries="topic_names")
"""DeleteTopics before version 6."""


def _growth(exchange: Exchange, requested: CreatePartitionsRequestTopic) -> AnswerFields | None:
    if exchange.allows(Operation.ALTER, ResourceType.TOPIC, requested.name):
        return None
    return {"name": requested.name, **_judged(ErrorCode.TOPIC_AUTHORIZATION_FAILED)}


GROWTHS = EntryRule(entries="topics", results="results", refusal=_growth)
"""The rule of CreatePartitions."""

_OF_CLUSTER = (ResourceType.CLUSTER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
_CONFIGURED = {
    2: (ResourceType.TOPIC, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    4: _OF_CLUSTER,
    8: _OF_CLUSTER,
    16: _OF_CLUSTER,
    32: (ResourceType.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
}
"""The resource to authorize, by ConfigResource.Type; brokers, loggers and client metrics belong to the cluster."""


def _of_settings(
    operation: Operation, extra: AnswerFields
) -> Callable[[Exchange, DescribeConfigsRequestResource], AnswerFields | None]:
    def refusal(exchange: Exchange, requested: DescribeConfigsRequestResource) -> AnswerFields | None:
        kind, error = _CONFIGURED.get(requested.resource_type, (None, ErrorCode.NONE))
        name = CLUSTER_NAME if kind is ResourceType.CLUSTER else requested.resource_name
        if kind is None or exchange.allows(operation, kind, name):
            return None
        of = {"resource_type": requested.resource_type, "resource_name": requested.resource_name}
        return {**of, **_judged(error), **extra}

    return refusal


SHOWN_SETTINGS = EntryRule(
    entries="resources",
    results="results",
    refusal=_of_settings(Operation.DESCRIBE_CONFIGS, {"configs": ()}),
)
"""The rule of DescribeConfigs."""
CHANGED_SETTINGS = EntryRule(
    entries="resources", results="responses", refusal=_of_settings(Operation.ALTER_CONFIGS, {})
)
"""The rule of AlterConfigs and IncrementalAlterConfigs."""


def _producers(exchange: Exchange, requested: DescribeProducersRequestTopic) -> AnswerFields | None:
    if exchange.allows(Operation.READ, ResourceType.TOPIC, requested.name):
        return None
    refused = {"error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED, "active_producers": ()}
    partitions = [{"partition_index": number, **refused} for number in requested.partition_indexes]
    return {"name": requested.name, "partitions": partitions}


PRODUCERS = EntryRule(entries="topics", results="topics", refusal=_producers)
"""The rule of DescribeProducers."""
