"""`--command-config`: reads client properties, Java's or librdkafka's, into `ConnectionSettings`."""

from collections.abc import Sequence
from pathlib import Path

from wire.client.config import client_keys
from wire.client.config.config_file import ConfigFileError, Properties, read_text
from wire.client.config.jaas import BadJaas, LoginModule, parse_jaas
from wire.client.config.key_stores import tls_settings
from wire.client.config.oauthbearer import COMMAND, IAM_MECHANISM, IAM_MODULE, PROVIDER, oauth_settings
from wire.client.config.oauthbearer import MODULE as OAUTH_MODULE
from wire.client.security import ConnectionSettings, KerberosSettings, Secret, SecurityProtocol
from wire.java_text import BadProperty, Property, parse_properties

_ALIASES = {
    "metadata.broker.list": "bootstrap.servers",
    "sasl.mechanisms": "sasl.mechanism",
    "socket.timeout.ms": "request.timeout.ms",
    "sasl.oauthbearer.client.id": "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.secret": "sasl.oauthbearer.client.credentials.client.secret",
}
"""librdkafka's names of Java's properties."""

_OWN = """
    bootstrap.servers security.protocol sasl.mechanism sasl.username sasl.password client.id request.timeout.ms
    socket.connection.setup.timeout.ms ssl.ca.location ssl.ca.pem ssl.certificate.location ssl.certificate.pem
    ssl.key.location ssl.key.pem ssl.key.password enable.ssl.certificate.verification
"""
_OWN_KEYS = frozenset(_OWN.split())  # the properties that have a field in `ConnectionSettings`

_BOTH_UNDERSTAND = ("sasl.oauthbearer.", "sasl.kerberos.")
"""Java's keys that librdkafka knows by the same name and with the same meaning."""

KERBEROS_MODULE = "Krb5LoginModule"
_PASSWORD_MODULES = {"PlainLoginModule": ("PLAIN",), "ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512")}
_MODULES = {
    **_PASSWORD_MODULES,
    OAUTH_MODULE: ("OAUTHBEARER",),
    IAM_MODULE: (IAM_MECHANISM,),
    KERBEROS_MODULE: ("GSSAPI",),
}
"""The mechanisms of each login module."""

_KERBEROS_SERVICE = "sasl.kerberos.service.name"
_TOKEN_KEYS = ("sasl.oauthbearer.", "https.ca.")
"""The keys that are not passed to librdkafka if Kohort passes it the token itself."""


def load_properties(path: Path) -> ConnectionSettings:
    """Read a client properties file; `remarks` list unknown keys. Raises ConfigFileError: something is invalid."""
    return settings_of(path, read_entries(path))


def read_entries(path: Path) -> list[Property]:
    try:
        return parse_properties(read_text(path))
    except BadProperty as error:
        raise ConfigFileError(path, error.line, f"{error}.") from None


def read_properties(path: Path) -> Properties:
    return known_properties(path, read_entries(path))


def settings_of(path: Path, entries: Sequence[Property]) -> ConnectionSettings:
    """Settings from properties; the last one of a key counts. Raises ConfigFileError: as `load_properties`."""
    for entry in entries:
        if entry.key == "config.providers":
            raise ConfigFileError(
                path,
                entry.line,
                "config.providers are not supported. Write the values themselves into the file.",
            )
    return _settings(known_properties(path, entries))


def known_properties(path: Path, entries: Sequence[Property]) -> Properties:
    """The last entry of each known key, under Java's name. Raises ConfigFileError: a misspelt key."""
    known = {
        _ALIASES.get(entry.key, entry.key): entry for entry in entries if entry.key in client_keys.ALL_KEYS
    }
    by_key = {entry.key: entry for entry in entries}
    unknown = [entry for key, entry in by_key.items() if key not in client_keys.ALL_KEYS]
    for entry in unknown:
        if client_keys.is_refused(entry.key, by_key):
            raise ConfigFileError(path, entry.line, client_keys.refusal_of(entry))
    remarks = (f"{path}: {client_keys.remark_on(unknown)}",) if unknown else ()
    return Properties(path=path, entries=known, remarks=remarks)


def _settings(properties: Properties) -> ConnectionSettings:
    defaults = ConnectionSettings()
    protocol = _security_protocol(properties)
    module = _login_module(properties)
    username, password = _credentials(properties, module)
    mechanism = _mechanism(properties, module) if protocol.sasl else None
    for key in (COMMAND, PROVIDER):
        if properties.text(key) and mechanism != "OAUTHBEARER":
            message = "a token is used with security.protocol=SASL_SSL and sasl.mechanism=OAUTHBEARER only. Set both."
            raise properties.error(key, message)
    oauth = oauth_settings(properties, module) if mechanism == "OAUTHBEARER" else None
    servers = properties.text("bootstrap.servers") or ""
    return ConnectionSettings(
        bootstrap_servers=tuple(server.strip() for server in servers.split(",") if server.strip()),
        security_protocol=protocol,
        sasl_mechanism=mechanism,
        sasl_username=username,
        sasl_password=password,
        oauth=oauth,
        kerberos=_kerberos(properties, module) if mechanism == "GSSAPI" else None,
        tls=tls_settings(properties),
        client_id=properties.text("client.id") or defaults.client_id,
        connection_setup_timeout_ms=properties.positive(
            "socket.connection.setup.timeout.ms", defaults.connection_setup_timeout_ms
        ),
        request_timeout_ms=properties.positive("request.timeout.ms", defaults.request_timeout_ms),
        api_timeout_ms=properties.positive("default.api.timeout.ms", defaults.api_timeout_ms),
        extra=_extra(properties, () if oauth is None else _TOKEN_KEYS),
        remarks=properties.remarks,
    )


def _security_protocol(properties: Properties) -> SecurityProtocol:
    text = properties.text("security.protocol") or "PLAINTEXT"
    try:
        return SecurityProtocol(text.upper())
    except ValueError:
        names = ", ".join(protocol.value for protocol in SecurityProtocol)
        raise properties.error("security.protocol", f"{text!r} is not one of {names}.") from None


def _login_module(properties: Properties) -> LoginModule | None:
    text = properties.text("sasl.jaas.config")
    if not text:
        return None
    try:
        return parse_jaas(text)
    except BadJaas as error:
        raise properties.error("sasl.jaas.config", f"the value cannot be read: {error}.") from None


def _credentials(properties: Properties, module: LoginModule | None) -> tuple[str | None, Secret | None]:
    username, password = properties.text("sasl.username"), properties.secret("sasl.password")
    if module is not None and module.short_name in _PASSWORD_MODULES:
        options = module.options
        if "username" not in options or "password" not in options:
            raise properties.error("sasl.jaas.config", f"{module.short_name} needs username and password.")
        return username or options["username"].reveal(), password or options["password"]
    return username, password


def _mechanism(properties: Properties, module: LoginModule | None) -> str:
    mechanism = (properties.text("sasl.mechanism") or "").upper()
    fitting = _MODULES.get(module.short_name) if module else None
    if not mechanism and fitting:
        message = f"sasl.mechanism is missing (Kafka's default is GSSAPI). Add sasl.mechanism={fitting[-1]}."
        raise properties.error("sasl.jaas.config", message)
    known = {name for names in _MODULES.values() for name in names}
    if mechanism in known and fitting and mechanism not in fitting:
        raise properties.error(
            "sasl.mechanism", f"{mechanism} does not match the login module of sasl.jaas.config."
        )
    return "OAUTHBEARER" if mechanism == IAM_MECHANISM else mechanism or "GSSAPI"


def _kerberos(properties: Properties, module: LoginModule | None) -> KerberosSettings:
    """The options of Java's Krb5LoginModule, and librdkafka's sasl.kerberos.*. Raises ConfigFileError."""
    options = (
        {name: value.reveal() for name, value in module.options.items()}
        if module is not None and module.short_name == KERBEROS_MODULE
        else {}
    )
    service, of_module = properties.text(_KERBEROS_SERVICE), options.get("serviceName")
    if service and of_module and service != of_module:
        message = "sasl.jaas.config has another serviceName. Remove one of them."
        raise properties.error(_KERBEROS_SERVICE, message)
    keytab = properties.text("sasl.kerberos.keytab")
    if options.get("useKeyTab", "").lower() == "true":
        keytab = keytab or options.get("keyTab", "").removeprefix("file:")
        if not keytab:
            raise properties.error("sasl.jaas.config", "useKeyTab needs keyTab and principal.")
    principal = properties.text("sasl.kerberos.principal") or options.get("principal")
    if keytab and not principal:
        raise properties.error(
            "sasl.kerberos.keytab" if properties.text("sasl.kerberos.keytab") else "sasl.jaas.config",
            "a keytab needs the principal whose key is used.",
        )
    return KerberosSettings(
        service_name=service or of_module or "kafka",
        principal=principal or None,
        keytab=keytab or None,
        ccache=options.get("ticketCache") or None,
    )


def _extra(properties: Properties, left_out: tuple[str, ...]) -> tuple[tuple[str, Secret], ...]:
    """The properties that only librdkafka understands, without keys that start with one of `left_out`."""
    return tuple(
        (key, Secret(entry.value))
        for key, entry in properties.entries.items()
        if key in client_keys.LIBRDKAFKA_KEYS
        and key not in _OWN_KEYS
        and not key.startswith(left_out)
        and (key not in client_keys.JAVA_KEYS or key.startswith(_BOTH_UNDERSTAND))
    )
