"""ListGroups: the groups a broker coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wire.client.answers import error_name
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.errors import KafkaError, UnsupportedApi
from wire.client.steps import Steps
from wire.messages.apis import LIST_GROUPS
from wire.messages.encode import write_texts
from wire.messages.plain import ERROR_CODE, INT32, TEXT, many, named, read_answer
from wire.messages.plain_request import PlainRequest

_FIRST_WITH_STATES = 4
_FIRST_WITH_TYPES = 5
_ANSWER = named(
    throttle_time=INT32,
    error_code=ERROR_CODE,
    groups=many(named(group_id=TEXT, protocol_type=TEXT, group_state=TEXT, group_type=TEXT)),
)


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
    if version == _FIRST_WITH_TYPES:
        plain = listing_request(states, types)
        (response,) = yield from connection.exchange(LIST_GROUPS, [plain], deadline, read_listing)
    else:
        fields = {"states_filter": tuple(states)} if version >= _FIRST_WITH_STATES else {}
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


def listing_request(states: Sequence[str], types: Sequence[str]) -> PlainRequest:
    """In version 5."""

    def write(out: bytearray) -> None:
        write_texts(out, states)
        write_texts(out, types)
        out.append(0)

    return PlainRequest(version=_FIRST_WITH_TYPES, write=write)


def read_listing(answer: bytes) -> tuple[Any, int]:
    """An answer in version 5, with the fields of kio's. :raises DecodeError: when the bytes do not hold it"""
    return read_answer(_ANSWER, answer)
