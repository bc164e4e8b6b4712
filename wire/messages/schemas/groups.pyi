"""Types of the messages of `groups.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection
from typing import Final, NotRequired, TypedDict

from wire.messages.definition import Api

class FindCoordinatorRequest:
    key: str
    key_type: int
    coordinator_keys: tuple[str, ...]

class FindCoordinatorRequestFields(TypedDict):
    key: NotRequired[str]
    key_type: NotRequired[int]
    coordinator_keys: NotRequired[Collection[str]]

class FindCoordinatorResponseCoordinator:
    key: str
    node_id: int
    host: str
    port: int
    error_code: int
    error_message: str | None

class FindCoordinatorResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    node_id: int
    host: str
    port: int
    coordinators: tuple[FindCoordinatorResponseCoordinator, ...]

class FindCoordinatorResponseCoordinatorFields(TypedDict):
    key: str
    node_id: int
    host: str
    port: int
    error_code: int
    error_message: str | None

class FindCoordinatorResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: NotRequired[int]
    error_message: NotRequired[str | None]
    node_id: NotRequired[int]
    host: NotRequired[str]
    port: NotRequired[int]
    coordinators: NotRequired[Collection[FindCoordinatorResponseCoordinatorFields]]

FIND_COORDINATOR: Final[
    Api[
        FindCoordinatorRequest,
        FindCoordinatorResponse,
        FindCoordinatorRequestFields,
        FindCoordinatorResponseFields,
    ]
]

class ListGroupsRequest:
    states_filter: tuple[str, ...]
    types_filter: tuple[str, ...]

class ListGroupsRequestFields(TypedDict):
    states_filter: NotRequired[Collection[str]]
    types_filter: NotRequired[Collection[str]]

class ListGroupsResponseGroup:
    group_id: str
    protocol_type: str
    group_state: str
    group_type: str

class ListGroupsResponse:
    throttle_time_ms: int
    error_code: int
    groups: tuple[ListGroupsResponseGroup, ...]

class ListGroupsResponseGroupFields(TypedDict):
    group_id: str
    protocol_type: str
    group_state: NotRequired[str]
    group_type: NotRequired[str]

class ListGroupsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    groups: Collection[ListGroupsResponseGroupFields]

LIST_GROUPS: Final[
    Api[ListGroupsRequest, ListGroupsResponse, ListGroupsRequestFields, ListGroupsResponseFields]
]

class DeleteGroupsRequest:
    groups_names: tuple[str, ...]

class DeleteGroupsRequestFields(TypedDict):
    groups_names: Collection[str]

class DeleteGroupsResponseResult:
    group_id: str
    error_code: int
    error_message: str | None

class DeleteGroupsResponse:
    throttle_time_ms: int
    results: tuple[DeleteGroupsResponseResult, ...]

class DeleteGroupsResponseResultFields(TypedDict):
    group_id: str
    error_code: int
    error_message: NotRequired[str | None]

class DeleteGroupsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    results: Collection[DeleteGroupsResponseResultFields]

DELETE_GROUPS: Final[
    Api[DeleteGroupsRequest, DeleteGroupsResponse, DeleteGroupsRequestFields, DeleteGroupsResponseFields]
]
