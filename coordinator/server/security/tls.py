"""TLS for a listener."""

from __future__ import annotations

import ssl
from enum import Enum

from wire.client.security import TlsSettings
from wire.client.tls import identify, trust


class ClientAuth(Enum):
    """Whether clients show a certificate: Kafka's `ssl.client.auth`."""

    NONE = "none"
    REQUESTED = "requested"
    REQUIRED = "required"


_VERIFY = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.REQUESTED: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRED: ssl.CERT_REQUIRED,
}


def server_context(settings: TlsSettings, client_auth: ClientAuth) -> ssl.SSLContext:
    """The TLS context of a listener. :raises TlsFailed: a certificate or key cannot be read"""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.verify_mode = _VERIFY[client_auth]
    if client_auth is not ClientAuth.NONE:
        trust(made, settings)
    identify(made, settings)
    return made
