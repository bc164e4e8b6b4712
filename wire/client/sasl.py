"""The SASL login of a new connection, imported only if the settings request it. A mechanism is a generator: it yields
the client's messages and receives the broker's."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from wire.client.address import Address
from wire.client.errors import AuthenticationFailed, UnsupportedMechanism
from wire.client.security import ConnectionSettings, OAuthSettings
from wire.client.steps import Deadline, Steps
from wire.errors import error_name
from wire.extras import install_command, is_installed
from wire.messages.schemas import security as schemas
from wire.messages.schemas.security import SASL_AUTHENTICATE, SASL_HANDSHAKE

Exchange = Generator[bytes, bytes, None]
Ask = Callable[..., Steps[Any]]  # takes an API and the fields of one request


DEFAULT_MECHANISM = "GSSAPI"


def authenticate(address: Address, settings: ConnectionSettings, ask: Ask, deadline: Deadline) -> Steps[int]:
    """Agree on the mechanism, then run it; returns the login's lifetime in ms (KIP-368), 0 without a limit."""
    mechanism = exchange(address, settings, deadline)
    message = next(mechanism)
    try:
        offer = yield from ask(SASL_HANDSHAKE, mechanism=settings.sasl_mechanism)
        if offer.error_code:
            raise AuthenticationFailed(_not_offered(settings, offer.mechanisms))
        while True:
            answer = yield from ask(SASL_AUTHENTICATE, auth_bytes=message)
            if answer.error_code:
                raise AuthenticationFailed(_failure(settings, answer))
            try:
                message = mechanism.send(answer.auth_bytes)
            except StopIteration:
                return int(answer.session_lifetime_ms or 0)
    except AuthenticationFailed as error:
        raise AuthenticationFailed(f"{address}: {error}", address=address) from None


def _failure(settings: ConnectionSettings, answer: schemas.SaslAuthenticateResponse) -> str:
    """Why the login failed, and the next step; for a token the broker's message is the response of RFC 7628."""
    said = answer.error_message or error_name(answer.error_code)
    if settings.oauth is not None and said.startswith("{"):
        said = f"the broker refuses the token: {_refusal_reason(said.encode())}"
    if settings.kerberos is not None:
        return f"{said}. Check that sasl.kerberos.service.name is the broker's, and that its keytab is up to date."
    if settings.oauth is None:
        return f"{said}. Check user name and password."
    return f"{said}. Check that the token is for this cluster: its issuer, audience, scope and expiry."


def _not_offered(settings: ConnectionSettings, offered: Sequence[str]) -> str:
    if not offered:
        bare = "SSL" if settings.security_protocol.tls else "PLAINTEXT"
        return (
            f"this listener accepts no SASL login. Set security.protocol to {bare}, or use another listener."
        )
    return (
        f"the broker does not offer sasl.mechanism {settings.sasl_mechanism}, only {', '.join(sorted(offered))}. "
        "Set sasl.mechanism to one of these, or use another listener."
    )


def exchange(address: Address, settings: ConnectionSettings, deadline: Deadline) -> Exchange:
    """Start the mechanism. Raises UnsupportedMechanism or AuthenticationFailed or Unreachable."""
    why_not = why_unsupported(settings)
    if why_not is not None:
        raise UnsupportedMechanism(why_not)
    if settings.oauth is not None:
        return _oauthbearer(settings.oauth, settings.bootstrap_servers, deadline)
    if settings.kerberos is not None:
        from wire.client.kerberos import gssapi_exchange

        return gssapi_exchange(settings.kerberos, address.host, deadline)
    mechanism = settings.sasl_mechanism or DEFAULT_MECHANISM
    if not settings.sasl_username or settings.sasl_password is None:
        raise AuthenticationFailed(
            f"sasl.mechanism {mechanism} needs a user name and a password: set sasl.jaas.config, "
            "or sasl.username and sasl.password"
        )
    return _WITH_PASSWORD[mechanism](settings.sasl_username, settings.sasl_password.reveal(), mechanism)


def why_unsupported(settings: ConnectionSettings) -> str | None:
    """Why this client does not support the mechanism (a token that only librdkafka can get); None: it does."""
    mechanism = settings.sasl_mechanism or DEFAULT_MECHANISM
    if mechanism in _WITH_PASSWORD or (mechanism == "OAUTHBEARER" and settings.oauth is not None):
        return None
    if mechanism == DEFAULT_MECHANISM:
        if is_installed("kerberos"):
            return None
        return (
            f"sasl.mechanism {DEFAULT_MECHANISM} (Kerberos, Kafka's default) needs packages that are not installed. "
            f"Run: `{install_command('kerberos')}`; or set sasl.mechanism to another that the listener offers"
        )
    if mechanism == "OAUTHBEARER":
        return (
            "Kohort leaves sasl.mechanism OAUTHBEARER with unsecured tokens or another grant to librdkafka. It "
            "supports a token endpoint (client credentials), a file, kohort.token.command and kohort.token.provider"
        )
    supported = ", ".join(_WITH_PASSWORD)
    return f"sasl.mechanism {mechanism} is not known. Kohort supports {supported}, OAUTHBEARER and GSSAPI"


def _plain(user: str, password: str, _mechanism: str) -> Exchange:
    """RFC 4616: everything in one message; the broker's response is empty."""
    yield f"\0{user}\0{password}".encode()


def _scram(user: str, password: str, mechanism: str) -> Exchange:
    """RFC 5802, through scramp: four messages; the broker proves that it knows the password too."""
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
"""The client's response after it has read why it was refused (RFC 7628, section 3.2.3)."""


def _oauthbearer(settings: OAuthSettings, servers: tuple[str, ...], deadline: Deadline) -> Exchange:
    """RFC 7628: the token in one message; a refusal arrives as JSON, and is final once the client has read it."""
    from wire.client.tokens.source import token_source

    source = token_source(settings, servers)
    token = source.token(deadline)
    extensions = "".join(f"{name}={value}\x01" for name, value in settings.extensions)
    refusal = yield f"n,,\x01auth=Bearer {token.value.reveal()}\x01{extensions}\x01".encode()
    if refusal:
        source.forget(token)
        yield _REFUSAL_READ
        raise AuthenticationFailed(f"the broker refuses the token: {_refusal_reason(refusal)}")


def _refusal_reason(refusal: bytes) -> str:
    import json

    try:
        answer = json.loads(refusal)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or "status" not in answer:
        return "it gives no reason"
    scope = answer.get("scope")
    return f"{answer['status']}, it requires scope {scope}" if scope else str(answer["status"])


_WITH_PASSWORD: dict[str, Callable[[str, str, str], Exchange]] = {
    "PLAIN": _plain,
    "SCRAM-SHA-256": _scram,
    "SCRAM-SHA-512": _scram,
}
