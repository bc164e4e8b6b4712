"""ListGroups: the groups a broker coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coordinator.wire.answers import error_name
from coordinator.wire.apis import LIST_GROUPS
from coordinator.wire.connection import Connection
from coordinator.wire.deadline import Deadline
from coordinator.wire.errors import KafkaError, UnsupportedApi
from coordinator.wire.steps import Steps

_FIRST_WITH_STATES = 4
_FIRST_WITH_TYPES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGroup:
    """One group of a listing. `state` is None below Kafka 2.6, `group_type` below 3.8."""

    group_id: str
    protocol_type: str
    state: str | None
    group_type: str | None


def list_groups(
    connection: Connection, states: Sequence[str], types: Sequence[str], deadline: Deadline
) -> Steps[list[ListedGroup]]:
    """Ask one broker for its groups; empty `states` or `types` let all pass, letter case does not matter.

    A broker that knows no types has classic groups only.
    :raises UnsupportedApi: states are asked of a broker that does not tell them
    :raises KafkaError: when the broker refuses (14 while it loads its groups)
    """
    yield from connection.open(deadline)
    version = connection.version(LIST_GROUPS)
    if states and version < _FIRST_WITH_STATES:
        raise UnsupportedApi(
            f"{connection.address}: this broker does not tell the states of groups; Kafka 2.6 or newer does",
            address=str(connection.address),
        )
    if types and version < _FIRST_WITH_TYPES and "classic" not in {kind.lower() for kind in types}:
        return []
    fields: dict[str, Any] = {}
    if version >= _FIRST_WITH_STATES:
        fields["states_filter"] = tuple(states)
    if version >= _FIRST_WITH_TYPES:
        fields["types_filter"] = tuple(types)
    request = LIST_GROUPS.request_type(version)(**fields)
    (response,) = yield from connection.exchange(LIST_GROUPS, [request], deadline)
    if response.error_code:
        name = error_name(response.error_code)
        raise KafkaError(
            str(connection.address), int(response.error_code), name, f"ListGroups was refused: {name}"
        )
    return [
        ListedGroup(
            group_id=group.group_id,
            protocol_type=group.protocol_type,
            state=getattr(group, "group_state", None),
            group_type=getattr(group, "group_type", None),
        )
        for group in response.groups
    ]
