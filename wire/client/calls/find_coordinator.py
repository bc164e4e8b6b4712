"""FindCoordinator: which broker coordinates a group."""

from collections.abc import Sequence
from typing import Any

from wire.client.address import Address
from wire.client.answers import Failure, refusal
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import FIND_COORDINATOR

_GROUP = 0
_FIRST_BATCHED = 4
_GROUPS_PER_REQUEST = 1000


def find_coordinators(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, Address | Failure]]:
    """Ask one broker for the coordinators of `groups` (of any type); brokers before 3.0 one by one."""
    yield from connection.open(deadline)
    version = connection.version(FIND_COORDINATOR)
    request = FIND_COORDINATOR.request_type(version)
    if version < _FIRST_BATCHED:
        fields = {"key_type": _GROUP} if version >= 1 else {}
        requests = [request(key=group, **fields) for group in groups]
        responses = yield from connection.exchange(FIND_COORDINATOR, requests, deadline)
        return {group: _place(response) for group, response in zip(groups, responses, strict=True)}
    requests = [
        request(key_type=_GROUP, coordinator_keys=tuple(groups[start : start + _GROUPS_PER_REQUEST]))
        for start in range(0, len(groups), _GROUPS_PER_REQUEST)
    ]
    responses = yield from connection.exchange(FIND_COORDINATOR, requests, deadline)
    return {entry.key: _place(entry) for response in responses for entry in response.coordinators}


def _place(entry: Any) -> Address | Failure:
    if not entry.error_code:
        return Address(entry.host, entry.port)
    return refusal(entry.error_code, getattr(entry, "error_message", None))
