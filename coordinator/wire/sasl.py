"""The SASL mechanisms this client speaks, sans I/O.

A mechanism is a generator: it yields what to send and is sent what the broker answered.
"""

from collections.abc import Callable, Generator

from coordinator.wire.errors import AuthenticationFailed, UnsupportedMechanism
from coordinator.wire.security import ConnectionSettings

Dialogue = Generator[bytes, bytes, None]


def dialogue(settings: ConnectionSettings) -> Dialogue:
    """Start the mechanism of `settings`.

    :raises UnsupportedMechanism: it is none of PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512
    :raises AuthenticationFailed: user name or password are missing, or (SCRAM) the broker does not know them
    """
    mechanism = settings.sasl_mechanism or "GSSAPI"
    start = _MECHANISMS.get(mechanism)
    if start is None:
        raise UnsupportedMechanism(
            f"sasl.mechanism {mechanism} is not spoken here: only {', '.join(_MECHANISMS)}. "
            "Commands that go through librdkafka may still work."
        )
    if not settings.sasl_username or settings.sasl_password is None:
        raise AuthenticationFailed(
            f"sasl.mechanism {mechanism} needs a user name and a password: set sasl.jaas.config, "
            "or sasl.username and sasl.password"
        )
    return start(settings.sasl_username, settings.sasl_password.reveal(), mechanism)


def _plain(user: str, password: str, _mechanism: str) -> Dialogue:
    """RFC 4616: everything in one message; the broker's answer is empty."""
    yield f"\0{user}\0{password}".encode()


def _scram(user: str, password: str, mechanism: str) -> Dialogue:
    """RFC 5802, through scramp: four messages, and the broker proves that it knows the password too."""
    from scramp import ScramClient, ScramException

    try:
        client = ScramClient([mechanism], user, password)
        first = yield client.get_client_first().encode()
        client.set_server_first(first.decode())
        final = yield client.get_client_final().encode()
        client.set_server_final(final.decode())
    except (ScramException, ValueError) as error:
        raise AuthenticationFailed(f"{mechanism} failed: {error}") from None


_MECHANISMS: dict[str, Callable[[str, str, str], Dialogue]] = {
    "PLAIN": _plain,
    "SCRAM-SHA-256": _scram,
    "SCRAM-SHA-512": _scram,
}
