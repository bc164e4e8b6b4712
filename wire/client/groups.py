"""Groups of every type: finding their coordinators, listing, describing and deleting them.

A described group is what the broker's answer has of it, by the names of Kafka's definitions; a group of another
type than was asked for, or that does not exist, fails with GROUP_ID_NOT_FOUND. Brokers before 4.0 describe a classic
group that does not exist as Dead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wire.client.address import Address
from wire.client.connection import Connection
from wire.client.errors import batches, refused
from wire.client.steps import Deadline, Steps
from wire.errors import Failure, outcome, refusal
from wire.messages.definition import Api
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.groups import DELETE_GROUPS, FIND_COORDINATOR, LIST_GROUPS

_GROUP = 0
_FIRST_FINDING_SEVERAL = 4
_FOUND_PER_REQUEST = 1000


def find_coordinators(
    groups: Sequence[str], connection: Connection, deadline: Deadline
) -> Steps[dict[str, Address | Failure]]:
    """Ask one broker for the coordinators of `groups` (of any type); brokers before 3.0 one by one."""
    yield from connection.open(deadline)
    if connection.version(FIND_COORDINATOR) < _FIRST_FINDING_SEVERAL:
        requests = [{"key_type": _GROUP, "key": group} for group in groups]
        responses = yield from connection.ask(FIND_COORDINATOR, requests, deadline)
        return {group: _place(response) for group, response in zip(groups, responses, strict=True)}
    several = [{"key_type": _GROUP, "coordinator_keys": keys} for keys in batches(groups, _FOUND_PER_REQUEST)]
    responses = yield from connection.ask(FIND_COORDINATOR, several, deadline)
    return {entry.key: _place(entry) for response in responses for entry in response.coordinators}


def _place(entry: Any) -> Address | Failure:
    if entry.error_code:
        return refusal(entry.error_code, entry.error_message)
    return Address(entry.host, entry.port)


def list_groups(connection: Connection, deadline: Deadline) -> Steps[tuple[Any, ...]]:
    """Ask one broker for its groups, of every type and state.

    The state of a listed group is empty below Kafka 2.6, the type below 3.8.
    :raises KafkaError: when the broker refuses (14 while it loads its groups)
    """
    request: dict[str, Any] = {"states_filter": (), "types_filter": ()}
    (response,) = yield from connection.ask(LIST_GROUPS, [request], deadline)
    if response.error_code:
        raise refused(connection.address, LIST_GROUPS.name, response.error_code)
    listed: tuple[Any, ...] = response.groups
    return listed


def describe(
    api: Api, connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, Any | Failure]]:
    """Ask one coordinator for `groups` through the describe request of their type.

    :raises UnsupportedApi: the broker does not know the request
    """
    key = "groups" if api is DESCRIBE_GROUPS else "group_ids"
    requests = [{key: batch, "include_authorized_operations": False} for batch in batches(groups)]
    responses = yield from connection.ask(api, requests, deadline)
    return {
        group.group_id: refusal(group.error_code, group.error_message) if group.error_code else group
        for response in responses
        for group in response.groups
    }


def delete_groups(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, bool | Failure]]:
    """Ask one coordinator to delete groups of any type that have no members; True for each that is gone."""
    (response,) = yield from connection.ask(DELETE_GROUPS, [{"groups_names": groups}], deadline)
    return {result.group_id: outcome(result) or True for result in response.results}
