"""What worked and what did not, side by side."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from wire.client.errors import KafkaError, UnsupportedApi, WireError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", covariant=True)

_RETRIABLE = frozenset({5, 6, 9, 13, 14, 15, 16, 72, 74, 76, 78})
"""LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER, REPLICA_NOT_AVAILABLE, NETWORK_EXCEPTION,
COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, LISTENER_NOT_FOUND,
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, OFFSET_NOT_AVAILABLE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why one group, broker or partition has no answer.

    `code` and `name` are Kafka's error code (30, "GROUP_AUTHORIZATION_FAILED"); both are None when no broker
    refused but none could be asked (unreachable, timed out, too old).
    """

    message: str
    code: int | None = None
    name: str | None = None

    @property
    def retriable(self) -> bool:
        """Whether the coordinator or leader moved or is still loading: asking again later may work."""
        return self.code in _RETRIABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Generic[K, V]):
    """`found` and `failed` together hold every key that was asked for, in the order asked."""

    found: Mapping[K, V]
    failed: Mapping[K, Failure]


def refusal(code: Any, message: str | None = None) -> Failure:
    """The failure of a kio `ErrorCode`, with the broker's own words where it sent some."""
    name = error_name(code)
    return Failure(message=f"{message} ({name})" if message else name, code=int(code), name=name)


def error_name(code: Any) -> str:
    """Kafka's spelling of a kio `ErrorCode`: GROUP_AUTHORIZATION_FAILED."""
    return str(code.name).upper()


def failure_of(error: WireError) -> Failure:
    """The failure that stands for an exception."""
    if isinstance(error, KafkaError):
        return Failure(message=str(error), code=error.code, name=error.name)
    if isinstance(error, UnsupportedApi):
        return Failure(message=str(error), code=35, name="UNSUPPORTED_VERSION")
    return Failure(message=str(error))
