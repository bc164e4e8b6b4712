"""TLS for a listener, and who a client is by its certificate."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from wire.client.security import TlsSettings
from wire.client.tls import identify, trust

ANONYMOUS = "User:ANONYMOUS"
"""Who a client is that has not shown who it is (KafkaPrincipal.ANONYMOUS)."""


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


_KEYWORDS = {
    "commonName": "CN",
    "countryName": "C",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}
"""RFC 2253's names of what OpenSSL calls by the long ones."""
_EMAIL_ADDRESS = "1.2.840.113549.1.9.1"
_IA5_STRING = 0x16
_SPECIAL = re.compile(r'([,+"\\<>;])')


def principal_of(certificate: Mapping[str, Any] | None) -> str:
    """The principal of `SSLSocket.getpeercert()`: the name as Java's `X500Principal.getName` writes it (RFC 2253).

    Without a certificate it is ANONYMOUS.
    """
    if not certificate:
        return ANONYMOUS
    return "User:" + ",".join(_relative_name(one) for one in reversed(certificate.get("subject", ())))


def _relative_name(attributes: Iterable[tuple[str, str]]) -> str:
    return "+".join(_attribute(name, value) for name, value in attributes)


def _attribute(name: str, value: str) -> str:
    if name == "emailAddress":  # RFC 2253 has no name for it: number and DER
        content = value.encode("latin-1", errors="replace")
        return f"{_EMAIL_ADDRESS}=#{bytes((_IA5_STRING, len(content))).hex()}{content.hex()}"
    return f"{_KEYWORDS.get(name, name)}={_escaped(value)}"


def _escaped(value: str) -> str:
    escaped = _SPECIAL.sub(r"\\\1", value)
    if escaped.endswith(" "):
        escaped = escaped[:-1] + "\\ "
    return f"\\{escaped}" if escaped.startswith(("#", " ")) else escaped
