"""What several APIs do with the fields of a request or a response."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar
from uuid import UUID

from coordinator.engine.describe_groups import Described
from coordinator.server.exchange import Exchange
from wire.acls import ResourceType
from wire.errors import ErrorCode

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

NO_OPERATIONS = -(2**31)
"""Authorized operations where nobody asked for them."""
ZERO_ID = UUID(int=0)
MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent "
    "to an incompatible broker. See the broker logs for more details."
)
"""What INVALID_REQUEST says where nothing better is known."""


def group_operations(exchange: Exchange, described: Described) -> int:
    """What who asks may do with a group, where that is asked for and the group is shown."""
    if described.error or not exchange.request.include_authorized_operations:
        return NO_OPERATIONS
    return exchange.operations(ResourceType.GROUP, described.id)


def judged_partition(partition: tuple[int, ErrorCode]) -> Mapping[str, Any]:
    """What became of a partition: number and error."""
    number, error = partition
    return {"partition_index": number, "error_code": error}


class Repeated(dict[str, Any]):
    """The fields of an answer that is given again and again, and not changed: each version is written once."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(fields)
        self.written: dict[int, bytes] = {}
        """By version, from behind the correlation id on."""


class Each(Generic[V]):
    """The fields of many things, made one by one as they are written: all at once may be more than memory holds."""

    def __init__(self, make: Callable[[V], Mapping[str, Any]], things: Sequence[V]) -> None:
        self._make = make
        self._things = things

    def __len__(self) -> int:
        return len(self._things)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return map(self._make, self._things)


def by_topic(entries: Iterable[tuple[K, V]]) -> Iterable[tuple[K, list[V]]]:
    """(topic, what there is of it) gathered by topic, in the order in which topics first come."""
    found: dict[K, list[V]] = {}
    for topic, one in entries:
        found.setdefault(topic, []).append(one)
    return found.items()
