"""The SASL conversation of a new connection. Imported only when the settings ask for it."""

from collections.abc import Callable, Sequence
from typing import Any

from wire.client.address import Address
from wire.client.errors import AuthenticationFailed
from wire.client.sasl import Dialogue, dialogue
from wire.client.security import ConnectionSettings
from wire.client.steps import Deadline, Steps
from wire.errors import error_name
from wire.messages.schemas.security import SASL_AUTHENTICATE, SASL_HANDSHAKE

Ask = Callable[..., Steps[Any]]
"""``ask(api, **fields)`` sends one request and returns its response."""


def authenticate(address: Address, settings: ConnectionSettings, ask: Ask, deadline: Deadline) -> Steps[None]:
    """Agree on the mechanism (KIP-43), then let it talk (KIP-152).

    :raises UnsupportedMechanism: this client does not speak the mechanism
    :raises AuthenticationFailed: there is nothing to log in with, the broker does not offer the mechanism, or it
        refuses the user
    :raises Unreachable: whoever gives the token does not answer
    """
    mechanism = dialogue(settings, deadline)
    message = next(mechanism)
    try:
        yield from _talk(settings, mechanism, message, ask)
    except AuthenticationFailed as error:
        raise AuthenticationFailed(f"{address}: {error}", address=str(address)) from None


def _talk(settings: ConnectionSettings, mechanism: Dialogue, message: bytes, ask: Ask) -> Steps[None]:
    offer = yield from ask(SASL_HANDSHAKE, mechanism=settings.sasl_mechanism)
    if offer.error_code:
        raise AuthenticationFailed(_not_offered(settings, offer.mechanisms))
    while True:
        answer = yield from ask(SASL_AUTHENTICATE, auth_bytes=message)
        if answer.error_code:
            reason = answer.error_message or error_name(answer.error_code)
            raise AuthenticationFailed(f"{reason}. {_next_step(settings)}")
        try:
            message = mechanism.send(answer.auth_bytes)
        except StopIteration:
            return


def _next_step(settings: ConnectionSettings) -> str:
    if settings.oauth is None:
        return "Check user name and password."
    return "Check that the token is for this cluster: its issuer, audience, scope and end."


def _not_offered(settings: ConnectionSettings, offered: Sequence[str]) -> str:
    if not offered:
        bare = "SSL" if settings.security_protocol.tls else "PLAINTEXT"
        return (
            f"this listener takes no SASL login. Set security.protocol to {bare}, or name another listener."
        )
    return (
        f"the broker does not offer sasl.mechanism {settings.sasl_mechanism}, only {', '.join(sorted(offered))}. "
        "Set sasl.mechanism to one of these, or name another listener."
    )
