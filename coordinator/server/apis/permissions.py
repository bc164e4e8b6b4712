"""Authorization of requests with many entries: forbidden entries are removed first, and refused in the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from coordinator.server.exchange import AnswerFields, Exchange
from wire.acls import CLUSTER_NAME, Operation, ResourceType
from wire.errors import ErrorCode
from wire.messages.reader import Fields

if TYPE_CHECKING:
    from wire.messages.schemas import admin as schemas
    from wire.messages.schemas.cluster import DescribeConfigsRequestResource
    from wire.messages.schemas.transactions import DescribeProducersRequestTopic


R = TypeVar("R")
Handler: TypeAlias = Callable[[Exchange[R]], Awaitable[AnswerFields]]

MESSAGES = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Transactional Id authorization failed.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
}  # the brokers' messages for these errors


def keeping(
    entries: str, results: str, refusal: Callable[[Exchange, Any], AnswerFields | None]
) -> Callable[[Handler[R]], Handler[R]]:
    """Answer only the allowed `entries` of a request in its `results`; `refusal` is a forbidden one's, or None."""

    def decorate(answer: Handler[R]) -> Handler[R]:
        @wraps(answer)
        async def kept(exchange: Exchange[R]) -> AnswerFields:
            requested = getattr(exchange.request, entries) or () if exchange.has_acls else ()
            refusals = [refusal(exchange, entry) for entry in requested]
            refused = [one for one in refusals if one is not None]
            if not refused:
                return await answer(exchange)
            allowed = [entry for entry, one in zip(requested, refusals, strict=True) if one is None]
            fields = cast(Fields, exchange.request)
            narrowed = type(fields)(
                allowed if field == entries else value
                for field, value in zip(fields.names, fields, strict=True)
            )
            answered: Mapping[str, Any] = await answer(replace(exchange, request=cast(R, narrowed)))
            return {**answered, results: [*answered[results], *refused]}

        return kept

    return decorate


def requires_operation(operation: Operation, **fields: object) -> Callable[[Handler[R]], Handler[R]]:
    """Require an operation on the cluster. `fields` of the refusal are values, or functions of the request."""

    def decorate(answer: Handler[R]) -> Handler[R]:
        @wraps(answer)
        async def kept(exchange: Exchange[R]) -> AnswerFields:
            if exchange.allows_cluster(operation):
                return await answer(exchange)
            more = {key: make(exchange.request) if callable(make) else make for key, make in fields.items()}
            return {**_judged(ErrorCode.CLUSTER_AUTHORIZATION_FAILED), **more}

        return kept

    return decorate


def not_elected(request: schemas.ElectLeadersRequest) -> Sequence[AnswerFields]:
    refused = _judged(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    return [
        {
            "topic": one.topic,
            "partition_result": [{"partition_id": number, **refused} for number in one.partitions],
        }
        for one in request.topic_partitions or ()
    ]


def not_described(request: schemas.DescribeUserScramCredentialsRequest) -> Sequence[AnswerFields]:
    refused = {**_judged(ErrorCode.CLUSTER_AUTHORIZATION_FAILED), "credential_infos": ()}
    return [{"user": user.name, **refused} for user in request.users or ()]


def _judged(error: ErrorCode) -> dict[str, object]:
    return {"error_code": error, "error_message": MESSAGES[error]}


def may_create(exchange: Exchange, name: str) -> bool:
    return exchange.allows_cluster(Operation.CREATE) or exchange.allows(
        Operation.CREATE, ResourceType.TOPIC, name
    )


NOT_CREATED = {
    "topic_id": None,
    "topic_config_error_code": ErrorCode.NONE,
    "num_partitions": -1,
    "replication_factor": -1,
    "configs": (),
}


def not_created(exchange: Exchange, requested: schemas.CreateTopicsRequestTopic) -> AnswerFields | None:
    if may_create(exchange, requested.name):
        return None
    error = {"error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED, "error_message": "Authorization failed."}
    return {"name": requested.name, **NOT_CREATED, **error}


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


def not_deleted(exchange: Exchange, requested: schemas.DeleteTopicsRequestTopic | str) -> AnswerFields | None:
    """The refusal of a deletion. A caller that may describe the topic learns that it does not exist."""
    topic_name = requested if isinstance(requested, str) else requested.name
    topic_id = None if isinstance(requested, str) else requested.topic_id
    name = exchange.topic_name(topic_name, topic_id)
    if name is None or exchange.allows_cluster(Operation.DELETE):
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


def not_grown(exchange: Exchange, requested: schemas.CreatePartitionsRequestTopic) -> AnswerFields | None:
    if exchange.allows(Operation.ALTER, ResourceType.TOPIC, requested.name):
        return None
    return {"name": requested.name, **_judged(ErrorCode.TOPIC_AUTHORIZATION_FAILED)}


_OF_CLUSTER = (ResourceType.CLUSTER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
_CONFIGURED = {
    2: (ResourceType.TOPIC, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    4: _OF_CLUSTER,
    8: _OF_CLUSTER,
    16: _OF_CLUSTER,
    32: (ResourceType.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
}
"""The resource to authorize, by ConfigResource.Type; brokers, loggers and client metrics belong to the cluster."""


def settings_refused(
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


def producers_hidden(exchange: Exchange, requested: DescribeProducersRequestTopic) -> AnswerFields | None:
    if exchange.allows(Operation.READ, ResourceType.TOPIC, requested.name):
        return None
    refused = {"error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED, "active_producers": ()}
    partitions = [{"partition_index": number, **refused} for number in requested.partition_indexes]
    return {"name": requested.name, "partitions": partitions}
