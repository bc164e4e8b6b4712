"""Stores of type PKCS12, as keytool writes them with any file name. Needs the extra ``keystores``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates, load_pkcs12
from cryptography.x509 import Certificate

from wire.client.security import Secret
from wire.files import MEBIBYTE, read_bounded

MOST_BYTES = 16 * MEBIBYTE
"""Maximum size of a key store."""


class UnreadableStore(ValueError):
    """The store cannot be used; the message says why, without the password."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStore:
    """A private key and its certificates, the client's own first; both in PEM."""

    key: Secret
    chain: str


def read_key_store(path: Path, password: Secret | None) -> KeyStore:
    """The key of a store. :raises UnreadableStore: it has no key, or its certificate has expired"""
    store = _loaded(path, password)
    if store.key is None or store.cert is None:
        raise UnreadableStore("it contains no private key with a certificate; it may be a trust store")
    own = store.cert.certificate
    if own.not_valid_after_utc <= datetime.now(UTC):
        raise UnreadableStore(
            f"its certificate, {own.subject.rfc4514_string()}, expired on {own.not_valid_after_utc:%Y-%m-%d}. Renew it."
        )
    key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return KeyStore(
        key=Secret(key), chain=_pem([own, *(each.certificate for each in store.additional_certs)])
    )


def read_trust_store(path: Path, password: Secret | None) -> str:
    """The certificates of a store, in PEM. :raises UnreadableStore: it has no certificates"""
    certificates = [each.certificate for each in _loaded(path, password).additional_certs]
    if not certificates:
        raise UnreadableStore("it contains no trusted certificate; it may be a key store")
    return _pem(certificates)


def _loaded(path: Path, password: Secret | None) -> PKCS12KeyAndCertificates:
    try:
        return load_pkcs12(
            read_bounded(path, MOST_BYTES), None if password is None else password.reveal().encode()
        )
    except OSError as error:
        raise UnreadableStore(f"it cannot be read ({error.strerror or error})") from None
    except UnsupportedAlgorithm:
        raise UnreadableStore("its encryption is not supported") from None
    except (ValueError, TypeError):
        raise UnreadableStore("the password is wrong, or it is not a PKCS12 store") from None


def _pem(certificates: list[Certificate]) -> str:
    return b"".join(each.public_bytes(Encoding.PEM) for each in certificates).decode()
