"""The SASL conversation of a new connection. Imported only when the settings ask for it."""

from collections.abc import Callable
from typing import Any

from coordinator.wire.address import Address
from coordinator.wire.apis import SASL_AUTHENTICATE, SASL_HANDSHAKE
from coordinator.wire.errors import AuthenticationFailed
from coordinator.wire.sasl import dialogue
from coordinator.wire.security import ConnectionSettings
from coordinator.wire.steps import Steps

Ask = Callable[..., Steps[Any]]
"""``ask(api, **fields)`` sends one request and returns its response."""


def authenticate(address: Address, settings: ConnectionSettings, ask: Ask) -> Steps[None]:
    """Agree on the mechanism (KIP-43), then let it talk (KIP-152).

    :raises UnsupportedMechanism: this client does not speak the mechanism
    :raises AuthenticationFailed: the broker does not offer it, or refuses the user
    """
    try:
        yield from _authenticate(settings, ask)
    except AuthenticationFailed as error:
        raise AuthenticationFailed(f"{address}: {error}", address=str(address)) from None


def _authenticate(settings: ConnectionSettings, ask: Ask) -> Steps[None]:
    mechanism = dialogue(settings)
    message = next(mechanism)
    offer = yield from ask(SASL_HANDSHAKE, mechanism=settings.sasl_mechanism)
    if offer.error_code:
        raise AuthenticationFailed(
            f"the broker does not offer sasl.mechanism {settings.sasl_mechanism}, "
            f"only {', '.join(offer.mechanisms) or 'none'}"
        )
    while True:
        answer = yield from ask(SASL_AUTHENTICATE, auth_bytes=message)
        if answer.error_code:
            reason = answer.error_message or answer.error_code.name
            raise AuthenticationFailed(f"{reason}. Check user name and password.")
        try:
            message = mechanism.send(answer.auth_bytes)
        except StopIteration:
            return
