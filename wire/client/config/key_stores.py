"""Trust and key stores: Java's ssl.truststore.* and ssl.keystore.*, and librdkafka's names for the same."""

from pathlib import Path

from wire.client.config.config_file import Properties
from wire.client.security import TlsSettings

_PEM_HINT = (
    "Only PEM is read here. If the file is PEM already, set {kind}.type=PEM. Otherwise convert it:\n"
    "{commands}\nand set {kind}.type=PEM, {kind}.location={target}{password}."
)
_TO_PKCS12 = "  keytool -importkeystore -srckeystore {source} -destkeystore store.p12 -deststoretype PKCS12"
_TRUST_FROM_JKS = "  keytool -list -rfc -keystore {source} > {target}"
_TRUST_FROM_PKCS12 = "  openssl pkcs12 -in {source} -nokeys -out {target}"
_KEYS_FROM_PKCS12 = "  openssl pkcs12 -in {source} -out {target}"


def tls_settings(properties: Properties) -> TlsSettings:
    """Everything about certificates and keys.

    :raises ConfigFileError: a store is not PEM; the message has the commands that convert it
    """
    _want_pem(properties, "ssl.truststore")
    _want_pem(properties, "ssl.keystore")
    if properties.text("ssl.keystore.key") and not properties.text("ssl.keystore.certificate.chain"):
        raise properties.error("ssl.keystore.key", "ssl.keystore.certificate.chain is missing.")
    java_store = properties.text("ssl.keystore.location")
    algorithm = properties.text("ssl.endpoint.identification.algorithm")
    return TlsSettings(
        ca_path=properties.text("ssl.truststore.location") or properties.text("ssl.ca.location") or None,
        ca_pem=properties.text("ssl.truststore.certificates") or properties.text("ssl.ca.pem") or None,
        certificate_path=java_store or properties.text("ssl.certificate.location") or None,
        certificate_pem=(
            properties.text("ssl.keystore.certificate.chain")
            or properties.text("ssl.certificate.pem")
            or None
        ),
        key_path=java_store or properties.text("ssl.key.location") or None,
        key_pem=properties.secret("ssl.keystore.key") or properties.secret("ssl.key.pem"),
        key_password=properties.secret("ssl.key.password"),
        verify_certificate=properties.flag("enable.ssl.certificate.verification", True),
        verify_hostname=algorithm is None or algorithm.lower() not in ("", "none"),
    )


def _want_pem(properties: Properties, kind: str) -> None:
    """`kind` is ssl.truststore or ssl.keystore; librdkafka's ssl.keystore.location (PKCS12) ends here too."""
    inline = f"{kind}.certificates" if kind == "ssl.truststore" else f"{kind}.certificate.chain"
    location = properties.text(f"{kind}.location")
    if not location and not properties.text(inline):
        return
    named_type = (properties.text(f"{kind}.type") or "JKS").upper()
    if named_type == "PEM":
        return
    store_type = named_type if location is None else _found_type(Path(location)) or named_type
    if not location:
        raise properties.error(inline, f"certificates in the file itself need {kind}.type=PEM.")
    if store_type == "PEM":
        raise properties.error(f"{kind}.location", f"{location} is PEM: set {kind}.type=PEM.")
    target = "truststore.pem" if kind == "ssl.truststore" else "keystore.pem"
    commands = _commands(kind, store_type, location, target)
    password = ", ssl.key.password=<the PEM pass phrase>" if kind == "ssl.keystore" else ""
    hint = _PEM_HINT.format(kind=kind, commands=commands, target=target, password=password)
    raise properties.error(f"{kind}.location", f"{location} is a store of type {store_type}. {hint}")


def _found_type(path: Path) -> str | None:
    """What a store is by its first bytes: `keytool` writes PKCS12 and Java reads it, whatever type is named."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError:
        return None
    if start.startswith(b"\xfe\xed\xfe\xed"):
        return "JKS"
    return (
        "PKCS12" if start.startswith(b"\x30") else "PEM" if start.lstrip().startswith(b"-----BEGIN") else None
    )


def _commands(kind: str, store_type: str, source: str, target: str) -> str:
    if kind == "ssl.truststore":
        command = _TRUST_FROM_PKCS12 if store_type == "PKCS12" else _TRUST_FROM_JKS
        return command.format(source=source, target=target)
    if store_type == "PKCS12":
        return _KEYS_FROM_PKCS12.format(source=source, target=target)
    return "\n".join(
        (_TO_PKCS12.format(source=source), _KEYS_FROM_PKCS12.format(source="store.p12", target=target))
    )
