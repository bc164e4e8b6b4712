"""Java's ssl.truststore.* and ssl.keystore.*, and librdkafka's names for the same. PEM is passed on by its path, PKCS12
as the PEM that it contains (with the extra `keystores`). Only Java reads JKS."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from wire.client.config.config_file import Properties
from wire.client.security import Secret, TlsSettings
from wire.extras import install_command, is_installed
from wire.files import MEBIBYTE, open_regular, read_bounded

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates
    from cryptography.x509 import Certificate

MOST_BYTES = 16 * MEBIBYTE
_TRUST, _KEYS = "ssl.truststore", "ssl.keystore"
_TO_PKCS12 = "  keytool -importkeystore -srckeystore {source} -destkeystore store.p12 -deststoretype PKCS12"
_TRUST_FROM_JKS = "  keytool -list -rfc -keystore {source} > {target}"
_TRUST_FROM_PKCS12 = "  openssl pkcs12 -in {source} -nokeys -out {target}"
_KEYS_FROM_PKCS12 = "  openssl pkcs12 -in {source} -out {target}"


def tls_settings(properties: Properties) -> TlsSettings:
    """All settings of certificates and keys. Raises ConfigFileError: with the commands to convert a store."""
    trusts_pkcs12 = _is_pkcs12(properties, _TRUST)
    trusted, key, chain, kind = None, None, None, _TRUST
    try:
        if trusts_pkcs12:
            trusted = read_trust_store(
                _location(properties, _TRUST), properties.secret("ssl.truststore.password")
            )
        kind = _KEYS
        if _is_pkcs12(properties, _KEYS):
            password = properties.secret("ssl.keystore.password") or properties.secret("ssl.key.password")
            key, chain = read_key_store(_location(properties, _KEYS), password)
    except UnreadableStore as error:
        check = f". Check {kind}.password." if "password" in str(error) else ""
        problem = f"the PKCS12 store {_location(properties, kind)} cannot be used: {error}{check}"
        raise properties.error(f"{kind}.location", problem) from None
    if properties.text("ssl.keystore.key") and not properties.text("ssl.keystore.certificate.chain"):
        raise properties.error("ssl.keystore.key", "ssl.keystore.certificate.chain is missing.")
    java_store = None if key else properties.text("ssl.keystore.location")
    java_trust = None if trusts_pkcs12 else properties.text("ssl.truststore.location")
    algorithm = properties.text("ssl.endpoint.identification.algorithm")
    return TlsSettings(
        ca_path=java_trust or properties.text("ssl.ca.location") or None,
        ca_pem=trusted
        or properties.text("ssl.truststore.certificates")
        or properties.text("ssl.ca.pem")
        or None,
        certificate_path=java_store or properties.text("ssl.certificate.location") or None,
        certificate_pem=(
            chain
            or properties.text("ssl.keystore.certificate.chain")
            or properties.text("ssl.certificate.pem")
            or None
        ),
        key_path=java_store or properties.text("ssl.key.location") or None,
        key_pem=key or properties.secret("ssl.keystore.key") or properties.secret("ssl.key.pem"),
        key_password=None if key else properties.secret("ssl.key.password"),
        verify_certificate=properties.flag("enable.ssl.certificate.verification", True),
        verify_hostname=algorithm is None or algorithm.lower() not in ("", "none"),
    )


def _is_pkcs12(properties: Properties, kind: str) -> bool:
    """Whether to read a store as PKCS12. Raises ConfigFileError: unknown type, or packages are not installed."""
    inline = f"{kind}.certificates" if kind == _TRUST else f"{kind}.certificate.chain"
    location = properties.text(f"{kind}.location")
    if not location and not properties.text(inline):
        return False
    named_type = (properties.text(f"{kind}.type") or "JKS").upper()
    if named_type == "PEM":
        return False
    if not location:
        raise properties.error(inline, f"certificates in the file itself need {kind}.type=PEM.")
    try:
        store_type = _detect_type(Path(location)) or named_type
    except OSError as error:
        raise properties.error(f"{kind}.location", f"{location}: {error.strerror or error}.") from None
    if store_type == "PEM":
        raise properties.error(f"{kind}.location", f"{location} is PEM: set {kind}.type=PEM.")
    if store_type == "PKCS12" and is_installed("keystores"):
        return True
    advice = (
        f"Run: `{install_command('keystores')}`. Or convert it" if store_type == "PKCS12" else "Convert it"
    )
    target = "truststore.pem" if kind == _TRUST else "keystore.pem"
    password = ", ssl.key.password=<the PEM pass phrase>" if kind == _KEYS else ""
    raise properties.error(
        f"{kind}.location",
        f"{location} is a store of type {store_type}, which cannot be read here. {advice}:\n"
        f"{_commands(kind, store_type, location, target)}\n"
        f"and set {kind}.type=PEM, {kind}.location={target}{password}.",
    )


def _location(properties: Properties, kind: str) -> Path:
    return Path(properties.text(f"{kind}.location") or "")


def _detect_type(path: Path) -> str | None:
    """The store's type according to its first bytes: `keytool` writes PKCS12, and Java reads it under any type."""
    with open_regular(path) as file:  # it is read twice, so it cannot be a pipe
        start = file.read(16)
    if start.startswith(b"\xfe\xed\xfe\xed"):
        return "JKS"
    if start.startswith(b"\x30"):
        return "PKCS12"
    return "PEM" if start.lstrip().startswith(b"-----BEGIN") else None


def _commands(kind: str, store_type: str, source: str, target: str) -> str:
    if kind == _TRUST:
        command = _TRUST_FROM_PKCS12 if store_type == "PKCS12" else _TRUST_FROM_JKS
        return command.format(source=source, target=target)
    convert = "" if store_type == "PKCS12" else _TO_PKCS12.format(source=source) + "\n"
    return convert + _KEYS_FROM_PKCS12.format(source="store.p12" if convert else source, target=target)


class UnreadableStore(ValueError):
    """The store cannot be used; the message says why, without the password."""


def read_key_store(path: Path, password: Secret | None) -> tuple[Secret, str]:
    """The private key of a store, and its certificates, the client's own first, in PEM. Raises UnreadableStore: it has
    no key, or its certificate has expired."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    store = _loaded(path, password)
    if store.key is None or store.cert is None:
        raise UnreadableStore("it contains no private key with a certificate; it may be a trust store")
    certificate = store.cert.certificate
    if certificate.not_valid_after_utc <= datetime.now(UTC):
        raise UnreadableStore(
            f"its certificate, {certificate.subject.rfc4514_string()}, "
            f"expired on {certificate.not_valid_after_utc:%Y-%m-%d}. Renew it."
        )
    key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return Secret(key), _pem([certificate, *(entry.certificate for entry in store.additional_certs)])


def read_trust_store(path: Path, password: Secret | None) -> str:
    certificates = [entry.certificate for entry in _loaded(path, password).additional_certs]
    if not certificates:
        raise UnreadableStore("it contains no trusted certificate; it may be a key store")
    return _pem(certificates)


def _loaded(path: Path, password: Secret | None) -> PKCS12KeyAndCertificates:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

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
    from cryptography.hazmat.primitives.serialization import Encoding

    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in certificates).decode()
