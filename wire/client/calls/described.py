"""What ConsumerGroupDescribe, ShareGroupDescribe and StreamsGroupDescribe have in common."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from wire.client.answers import Failure, refusal
from wire.client.batches import batches
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import Api

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
