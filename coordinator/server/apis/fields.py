"""Fields of requests and responses that several APIs share."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar
from uuid import UUID

from coordinator.engine.groups import Described
from coordinator.errors import RequestRefused
from coordinator.server.exchange import AnswerFields, Exchange
from wire.acls import ResourceType
from wire.errors import ErrorCode

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
F = TypeVar("F", covariant=True)

NO_OPERATIONS = -(2**31)  # the value of authorized operations that were not requested
ZERO_ID = UUID(int=0)
MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent "
    "to an incompatible broker. See the broker logs for more details."
)  # the message of INVALID_REQUEST if there is no better one


class DescribesGroups(Protocol):
    @property
    def include_authorized_operations(self) -> bool: ...


def group_operations(exchange: Exchange[DescribesGroups], described: Described) -> int:
    """The caller's authorized operations on a group, if requested and the group was found."""
    if described.error or not exchange.request.include_authorized_operations:
        return NO_OPERATIONS
    return exchange.operations(ResourceType.GROUP, described.id)


def judged(act: Callable[[], object]) -> dict[str, object]:
    try:
        act()
    except RequestRefused as refused:
        return {"error_code": refused.code, "error_message": refused.message}
    return {"error_code": ErrorCode.NONE, "error_message": None}


def judged_partition(partition: tuple[int, ErrorCode]) -> AnswerFields:
    number, error = partition
    return {"partition_index": number, "error_code": error}


class LazyEntries(Collection[F]):
    """Fields of many entries, each built when it is encoded: all at once could exceed the memory."""

    def __init__(self, make: Callable[[V], F], things: Sequence[V]) -> None:
        self._make: Callable[[Any], F] = make
        self._things = things

    def __len__(self) -> int:
        return len(self._things)

    def __iter__(self) -> Iterator[F]:
        return map(self._make, self._things)

    def __contains__(self, entry: object) -> bool:
        return any(other == entry for other in self)


def per_partition(
    topics: Iterable[tuple[str, Iterable[V]]], answer: Callable[[str, V], object], key: str = "name"
) -> list[dict[str, object]]:
    return [{key: name, "partitions": [answer(name, one) for one in some]} for name, some in topics]


def by_topic(entries: Iterable[tuple[K, V]]) -> Iterable[tuple[K, list[V]]]:
    """Group (topic, value) entries by topic, in the order in which topics first appear."""
    grouped: dict[K, list[V]] = {}
    for topic, one in entries:
        grouped.setdefault(topic, []).append(one)
    return grouped.items()
