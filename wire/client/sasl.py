"""The SASL mechanisms this client speaks, sans I/O.

A mechanism is a generator: it yields what to send and is sent what the broker answered.
"""

from collections.abc import Callable, Generator

from wire.client.errors import AuthenticationFailed, UnsupportedMechanism
from wire.client.security import ConnectionSettings, OAuthSettings
from wire.client.steps import Deadline

Dialogue = Generator[bytes, bytes, None]


def dialogue(settings: ConnectionSettings, deadline: Deadline) -> Dialogue:
    """Start the mechanism of `settings`.

    :raises UnsupportedMechanism: it is none of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER, or the token is
        one that only librdkafka can get
    :raises AuthenticationFailed: user name or password are missing, no token is to be had, or (SCRAM) the broker
        does not know them
    :raises Unreachable: whoever gives the token does not answer
    """
    mechanism = settings.sasl_mechanism or "GSSAPI"
    if mechanism == "OAUTHBEARER" and settings.oauth is not None:
        return _oauthbearer(settings.oauth, deadline)
    start = _WITH_PASSWORD.get(mechanism)
    if start is None:
        raise UnsupportedMechanism(_not_spoken(mechanism))
    if not settings.sasl_username or settings.sasl_password is None:
        raise AuthenticationFailed(
            f"sasl.mechanism {mechanism} needs a user name and a password: set sasl.jaas.config, "
            "or sasl.username and sasl.password"
        )
    return start(settings.sasl_username, settings.sasl_password.reveal(), mechanism)


def _not_spoken(mechanism: str) -> str:
    spoken = f"Kohort speaks {', '.join(_WITH_PASSWORD)} and OAUTHBEARER"
    if mechanism == "OAUTHBEARER":
        return (
            "sasl.mechanism OAUTHBEARER is spoken here with a token endpoint (client credentials) or a token's file "
            "only"
        )
    if mechanism == "AWS_MSK_IAM":
        return (
            f"sasl.mechanism AWS_MSK_IAM is spoken by Amazon's Java library only. {spoken}: use OAUTHBEARER with "
            "sasl.oauthbearer.token.endpoint.url=file:///… and a token of aws-msk-iam-sasl-signer, or a listener "
            "for SCRAM or mutual TLS"
        )
    if mechanism == "GSSAPI":
        return (
            "sasl.mechanism GSSAPI (Kerberos, Kafka's default) is spoken by librdkafka only where it is built with it. "
            f"{spoken}: set sasl.mechanism to one that the listener offers"
        )
    return f"sasl.mechanism {mechanism} is not known. {spoken}"


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


_REFUSAL_READ = b"\x01"
"""What a client says when it has read why it was refused (RFC 7628, section 3.2.3)."""


def _oauthbearer(settings: OAuthSettings, deadline: Deadline) -> Dialogue:
    """RFC 7628: the token in one message; a refusal comes as JSON, and is final when the client has read it."""
    from wire.client.token import token_source

    source = token_source(settings)
    token = source.token(deadline)
    extensions = "".join(f"{name}={value}\x01" for name, value in settings.extensions)
    refusal = yield f"n,,\x01auth=Bearer {token.value.reveal()}\x01{extensions}\x01".encode()
    if refusal:
        source.forget(token)
        yield _REFUSAL_READ
        raise AuthenticationFailed(f"the broker refuses the token: {_told(refusal)}")


def _told(refusal: bytes) -> str:
    """The status of a refusal, and the scope that is wanted."""
    import json

    try:
        answer = json.loads(refusal)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or "status" not in answer:
        return "it does not say why"
    scope = answer.get("scope")
    return f"{answer['status']}, it wants scope {scope}" if scope else str(answer["status"])


_WITH_PASSWORD: dict[str, Callable[[str, str, str], Dialogue]] = {
    "PLAIN": _plain,
    "SCRAM-SHA-256": _scram,
    "SCRAM-SHA-512": _scram,
}
