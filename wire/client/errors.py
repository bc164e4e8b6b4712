"""The errors between this client and a broker, and results next to partial failures. Every message has the broker as
``host:port`` and the next step, and none a password."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from wire.errors import ErrorCode, Failure, error_name
from wire.errors import WireError as WireError
from wire.messages.framing import BadFrame

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", covariant=True)

T = TypeVar("T")

_BATCH = 200


class InvalidAddress(WireError):
    """A bootstrap server is not written as ``host:port`` or ``[ipv6]:port``."""


class Unreachable(WireError):
    """No connection could be made, or it broke: refused, unknown host, closed by the peer."""

    def __init__(self, address: object, reason: str) -> None:
        super().__init__(f"{address}: {reason}", address=address)
        self.reason = reason


class NotConnected(Unreachable):
    """The connection was never made: no part of the request can have reached the broker."""

    is_unsent = True


class NotSent(WireError):
    """The command was stopped before the request was sent."""

    is_unsent = True

    def __init__(self, address: object, request: str) -> None:
        super().__init__(f"{address}: stopped before {request} was sent", address=address)


class RequestTimedOut(WireError):
    """The deadline passed while waiting; the message has the activity."""

    def __init__(self, address: object, activity: str) -> None:
        super().__init__(
            f"{address}: timed out {activity}. Check that the host is up and no firewall drops the "
            "packets, or allow more time.",
            address=address,
        )
        self.activity = activity


class ProtocolError(WireError):
    """The peer's answer is not the Kafka protocol, or does not match the request."""

    def __init__(self, address: object, detail: str) -> None:
        super().__init__(f"{address}: {detail}", address=address)


class AnswerTooLong(ProtocolError):
    """A broker that has answered before announced a response that is too long to read; `frame` has its beginning."""

    def __init__(self, address: object, detail: str, frame: BadFrame) -> None:
        super().__init__(address, detail)
        self.frame = frame


class TlsFailed(WireError):
    """The TLS handshake failed, or the certificates and keys to use could not be loaded."""


class AuthenticationFailed(WireError):
    """The broker refused the user, or does not offer the mechanism."""

    is_refusal = True


class WrongCluster(WireError):
    """The broker belongs to another cluster than the expected one."""


class UnsupportedMechanism(WireError):
    """The settings request a SASL mechanism that this client does not support (librdkafka may)."""


class UnsupportedApi(WireError):
    """The broker does not support a request, or none of the versions that this client supports."""


class KafkaError(WireError):
    """The broker refused a whole request, with Kafka's error code and its name (GROUP_AUTHORIZATION_FAILED)."""

    def __init__(self, address: object, code: int, name: str, message: str) -> None:
        super().__init__(f"{address}: {message}", address=address)
        self.code = code
        self.name = name


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Generic[K, V]):
    """`found` and `failed` together contain every requested key, in the order of the request."""

    found: Mapping[K, V]
    failed: Mapping[K, Failure]

    @classmethod
    def of(cls, outcomes: Mapping[K, V | Failure]) -> "Answers[K, V]":
        return cls(
            found={key: value for key, value in outcomes.items() if not isinstance(value, Failure)},
            failed={key: value for key, value in outcomes.items() if isinstance(value, Failure)},
        )


def refused(address: object, request: str, code: int, message: str | None = None) -> KafkaError:
    """The error for a request that was refused as a whole, with the broker's message if it sent one."""
    name = error_name(code)
    said = f"{message} ({name})" if message else f"{request} was refused: {name}"
    return KafkaError(address, code, name, said)


def failure_of(error: WireError) -> Failure:
    if isinstance(error, KafkaError):
        return Failure(message=str(error), code=error.code, name=error.name)
    if isinstance(error, UnsupportedApi):
        code = ErrorCode.UNSUPPORTED_VERSION
        return Failure(message=str(error), code=int(code), name=code.name)
    return Failure(message=str(error), is_unsent=error.is_unsent)


def raise_if_silent(answers: Answers[K, object]) -> None:
    """Raise a WireError with all reasons if brokers were asked and none of them answered, not even with a refusal."""
    failures = answers.failed.values()
    if failures and not answers.found and all(failure.code is None for failure in failures):
        reasons = list(dict.fromkeys(failure.message for failure in failures))
        lines = f" {reasons[0]}" if len(reasons) == 1 else "".join(f"\n  {reason}" for reason in reasons)
        raise WireError(f"no broker of the cluster answers:{lines}")


def batches(items: Sequence[T], size: int = _BATCH) -> Iterator[Sequence[T]]:
    """`items` in their order, at most `size` at a time: one response stays well below the largest frame."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
