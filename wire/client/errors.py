"""What can go wrong between this client and a Kafka broker.

Every message names the broker as ``host:port`` and says what to try next. No message carries a password.
"""

from wire.errors import WireError as WireError


class InvalidAddress(WireError):
    """A bootstrap server is not written as ``host:port`` or ``[ipv6]:port``."""


class Unreachable(WireError):
    """No connection could be made, or it broke: refused, unknown host, closed by the peer."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"{address}: {reason}", address=address)
        self.reason = reason


class NotConnected(Unreachable):
    """The connection was never made: nothing of the request can have reached the broker."""


class RequestTimedOut(WireError):
    """The deadline passed while waiting; the message says for what."""

    def __init__(self, address: str, activity: str) -> None:
        super().__init__(
            f"{address}: timed out {activity}. Check that the host is up and no firewall drops the "
            "packets, or allow more time.",
            address=address,
        )


class ProtocolError(WireError):
    """The peer answered something that is not the Kafka protocol, or not what was asked for."""

    def __init__(self, address: str, detail: str) -> None:
        super().__init__(f"{address}: {detail}", address=address)


class AnswerTooLong(ProtocolError):
    """A broker that has answered before announces an answer that is too long to be read."""


class TlsFailed(WireError):
    """The TLS handshake failed, or the certificates and keys to use could not be loaded."""


class AuthenticationFailed(WireError):
    """The broker refused the user, or does not offer the mechanism."""

    is_refusal = True


class UnsupportedMechanism(WireError):
    """The settings ask for a SASL mechanism this client does not speak (librdkafka may)."""


class UnsupportedApi(WireError):
    """The broker does not know a request, or none of its versions that this client knows."""


class KafkaError(WireError):
    """The broker refused a whole request with an error code.

    `code` is the number of Kafka's protocol, `name` its name (GROUP_AUTHORIZATION_FAILED).
    """

    def __init__(self, address: str, code: int, name: str, message: str) -> None:
        super().__init__(f"{address}: {message}", address=address)
        self.code = code
        self.name = name
