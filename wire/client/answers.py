"""What worked and what did not, side by side."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from wire.client.errors import KafkaError, UnsupportedApi, WireError
from wire.errors import RETRIABLE, ErrorCode, error_name

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", covariant=True)

T = TypeVar("T")

_BATCH = 200


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
        return self.code in RETRIABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Generic[K, V]):
    """`found` and `failed` together hold every key that was asked for, in the order asked."""

    found: Mapping[K, V]
    failed: Mapping[K, Failure]


def refusal(code: int, message: str | None = None) -> Failure:
    """The failure of an error code, with the broker's own words where it sent some."""
    name = error_name(code)
    return Failure(message=f"{message} ({name})" if message else name, code=code, name=name)


def outcome(answer: Any) -> Failure | None:
    """The failure of a part of an answer, by its error code."""
    return refusal(answer.error_code) if answer.error_code else None


def refused(address: object, request: str, code: int, message: str | None = None) -> KafkaError:
    """The error for a request that was refused as a whole, with the broker's own words where it sent some."""
    name = error_name(code)
    said = f"{message} ({name})" if message else f"{request} was refused: {name}"
    return KafkaError(str(address), code, name, said)


def failure_of(error: WireError) -> Failure:
    """The failure that stands for an exception."""
    if isinstance(error, KafkaError):
        return Failure(message=str(error), code=error.code, name=error.name)
    if isinstance(error, UnsupportedApi):
        code = ErrorCode.UNSUPPORTED_VERSION
        return Failure(message=str(error), code=int(code), name=code.name)
    return Failure(message=str(error))


def batches(items: Sequence[T], size: int = _BATCH) -> Iterator[Sequence[T]]:
    """`items` in their order, at most `size` at a time: one answer stays well below the largest frame."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
