"""What ConsumerGroupDescribe, ShareGroupDescribe and StreamsGroupDescribe have in common."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from coordinator.wire.answers import Failure, refusal
from coordinator.wire.apis import Api
from coordinator.wire.batches import batches
from coordinator.wire.connection import Connection
from coordinator.wire.deadline import Deadline
from coordinator.wire.steps import Steps

T = TypeVar("T")


def describe(
    connection: Connection, api: Api, groups: Sequence[str], convert: Callable[[Any], T], deadline: Deadline
) -> Steps[dict[str, T | Failure]]:
    """Ask one coordinator for `groups`; `convert` makes ours of a group that has no error.

    :raises UnsupportedApi: the broker does not know the request
    """
    yield from connection.open(deadline)
    request = api.request_type(connection.version(api))
    requests = [request(group_ids=batch, include_authorized_operations=False) for batch in batches(groups)]
    responses = yield from connection.exchange(api, requests, deadline)
    return {
        group.group_id: refusal(group.error_code, group.error_message) if group.error_code else convert(group)
        for response in responses
        for group in response.groups
    }
