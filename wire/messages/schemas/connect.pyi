"""Types of the messages of `connect.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection
from typing import Final, NotRequired, TypedDict

from wire.messages.layout import Message

class ConnectWorkerState:
    url: str
    config_offset: int
    allocation: bytes | None

class ConnectWorkerStateFields(TypedDict):
    url: str
    config_offset: int
    allocation: NotRequired[bytes | bytearray | memoryview | None]

WORKER_STATE: Final[Message[ConnectWorkerState, ConnectWorkerStateFields]]

class ConnectAssignmentAssignment:
    connector: str
    tasks: tuple[int, ...]

class ConnectAssignment:
    error: int
    leader: str
    leader_url: str
    config_offset: int
    assignment: tuple[ConnectAssignmentAssignment, ...] | None
    revoked: tuple[ConnectAssignmentAssignment, ...] | None
    delay: int

class ConnectAssignmentAssignmentFields(TypedDict):
    connector: str
    tasks: Collection[int]

class ConnectAssignmentFields(TypedDict):
    error: int
    leader: str
    leader_url: str
    config_offset: int
    assignment: Collection[ConnectAssignmentAssignmentFields] | None
    revoked: NotRequired[Collection[ConnectAssignmentAssignmentFields] | None]
    delay: NotRequired[int]

WORKER_ASSIGNMENT: Final[Message[ConnectAssignment, ConnectAssignmentFields]]
