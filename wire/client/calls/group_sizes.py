"""How many members groups have, and which assignor: of the describe answers what a list shows.

They are read without kio's classes (`wire.messages.plain`): a process lists once, and most of what it would
do is to make the classes of four kinds of answers. `tests/wire/client/test_group_sizes.py` compares with kio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wire.client.answers import Failure, refusal
from wire.client.batches import batches
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import (
    CONSUMER_GROUP_DESCRIBE,
    DESCRIBE_GROUPS,
    SHARE_GROUP_DESCRIBE,
    STREAMS_GROUP_DESCRIBE,
    Api,
)
from wire.messages.encode import write_texts
from wire.messages.plain import (
    BOOL,
    BYTES,
    ERROR_CODE,
    INT8,
    INT16,
    INT32,
    INT32S,
    INT64,
    NULLABLE_TEXT,
    TEXT,
    UINT16,
    UUID_OR_NONE,
    many,
    read_answer,
    record,
)
from wire.messages.plain_request import PlainRequest
from wire.messages.primitives import Reader, nullable_message


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSize:
    """`protocol` is the assignor in use: empty before there is one, and in a streams group."""

    protocol: str
    members: int


Sizes = dict[str, GroupSize | Failure]

_ASSIGNMENT = record(many(record(UUID_OR_NONE, TEXT, INT32S)))
_CLASSIC_MEMBERS = many(record(TEXT, NULLABLE_TEXT, TEXT, TEXT, BYTES, BYTES))
_CONSUMER_MEMBER = (
    TEXT, NULLABLE_TEXT, NULLABLE_TEXT, INT32, TEXT, TEXT, many(TEXT), NULLABLE_TEXT, _ASSIGNMENT, _ASSIGNMENT,
)  # fmt: skip
_SHARE_MEMBER = record(TEXT, NULLABLE_TEXT, INT32, TEXT, TEXT, many(TEXT), _ASSIGNMENT)
_PAIR = record(TEXT, TEXT)
_TOPICS = many(record(TEXT, INT32, INT16, many(_PAIR)))
_TOPOLOGY = record(INT32, many(record(TEXT, many(TEXT), many(TEXT), _TOPICS, _TOPICS), nullable=True))
_TASKS = many(record(TEXT, INT32S))
_TASK_OFFSETS = many(record(TEXT, INT32, INT64))
_ALL_TASKS = record(_TASKS, _TASKS, _TASKS)
_STREAMS_MEMBER = record(
    TEXT, INT32, NULLABLE_TEXT, NULLABLE_TEXT, TEXT, TEXT, INT32, TEXT, nullable_message(record(TEXT, UINT16)),
    many(_PAIR), _TASK_OFFSETS, _TASK_OFFSETS, _ALL_TASKS, _ALL_TASKS, BOOL,
)  # fmt: skip


def _no_message(_buffer: bytes, position: int) -> tuple[None, int]:
    return None, position


def _classic(message: Reader) -> Reader:
    """Error code, message, id, state, protocol type, protocol, members, authorized operations."""
    return record(ERROR_CODE, message, TEXT, TEXT, TEXT, TEXT, _CLASSIC_MEMBERS, INT32)


def _newer(plan: Reader, member: Reader) -> Reader:
    """Error code, message, id, state, epoch, assignment epoch, `plan`, members, authorized operations."""
    return record(ERROR_CODE, NULLABLE_TEXT, TEXT, TEXT, INT32, INT32, plan, many(member), INT32)


_GROUPS = {
    (DESCRIBE_GROUPS, 5): _classic(_no_message),
    (DESCRIBE_GROUPS, 6): _classic(NULLABLE_TEXT),
    (CONSUMER_GROUP_DESCRIBE, 0): _newer(TEXT, record(*_CONSUMER_MEMBER)),
    (CONSUMER_GROUP_DESCRIBE, 1): _newer(TEXT, record(*_CONSUMER_MEMBER, INT8)),
    (SHARE_GROUP_DESCRIBE, 1): _newer(TEXT, _SHARE_MEMBER),
    (STREAMS_GROUP_DESCRIBE, 0): _newer(nullable_message(_TOPOLOGY), _STREAMS_MEMBER),
}
"""A group in the answer, by request and version."""


def group_sizes(connection: Connection, api: Api, groups: Sequence[str], deadline: Deadline) -> Steps[Sizes]:
    """Ask one coordinator for `groups`, with the describe request of their type.

    One of another type or that does not exist: failure 69, or no members before 4.0.
    :raises UnsupportedApi: the broker does not know the request
    """
    yield from connection.open(deadline)
    version = connection.version(api)
    if (api, version) not in _GROUPS:
        from wire.client.calls.describe_groups import describe_groups

        return _of_classic((yield from describe_groups(connection, groups, deadline)))
    requests = [sizes_request(version, batch) for batch in batches(groups)]
    answers: list[Sizes] = yield from connection.exchange(
        api, requests, deadline, lambda answer: read_sizes(api, version, answer)
    )
    return {group: size for answer in answers for group, size in answer.items()}


def sizes_request(version: int, groups: Sequence[str]) -> PlainRequest:
    """The four requests have the same fields, in all of their flexible versions."""

    def write(out: bytearray) -> None:
        write_texts(out, groups)
        out += b"\0\0"  # without authorized operations, no tagged fields

    return PlainRequest(version=version, write=write)


def read_sizes(api: Api, version: int, answer: bytes) -> tuple[Sizes, int]:
    """By group, from the tagged fields of the answer's header on; and where the answer ends.

    :raises DecodeError: when the bytes do not hold it
    """
    (_throttle_ms, groups), end = read_answer(record(INT32, many(_GROUPS[api, version])), answer)
    return {group[2]: _size(*group) for group in groups}, end


def _size(code: Any, message: str | None, *told: Any) -> GroupSize | Failure:
    if code:
        return refusal(code, message)
    *_, plan, members, _operations = told
    # A streams group has a topology in the place of an assignor.
    return GroupSize(protocol=plan if isinstance(plan, str) else "", members=len(members))


def _of_classic(told: Mapping[str, Any]) -> Sizes:
    """Of the answers of brokers before 2.4, which are read through kio."""
    return {
        name: group
        if isinstance(group, Failure)
        else GroupSize(protocol=group.protocol, members=len(group.members))
        for name, group in told.items()
    }
