"""The security settings, by their names in a broker's properties."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from coordinator.configs.settings import parse_integer
from coordinator.errors import InvalidSetting
from coordinator.server.security.principals import DEFAULT, PrincipalRule, parse_rules
from coordinator.server.security.sasl import MECHANISMS
from wire.client.config.config_file import ConfigFileError, Properties
from wire.client.config.key_stores import tls_settings
from wire.client.security import SecurityProtocol, TlsSettings
from wire.java_text import Property

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
SUPER_USERS = "super.users"
ALLOW_IF_NO_ACL = "allow.everyone.if.no.acl.found"
EFFECTIVE = frozenset(
    {
        "authorizer.class.name",
        SUPER_USERS,
        ALLOW_IF_NO_ACL,
        "sasl.enabled.mechanisms",
        "connections.max.reauth.ms",
        "connection.failed.authentication.delay.ms",
        "ssl.client.auth",
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.type",
        "ssl.principal.mapping.rules",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.type",
    }
)  # the settings that are supported here; a broker has no definition of StandardAuthorizer's


class ClientAuth(Enum):
    """Whether clients show a certificate: Kafka's `ssl.client.auth`."""

    NONE = "none"
    REQUESTED = "requested"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuritySettings:
    """How clients authenticate. `max_reauth_ms`: how long a login is valid, 0: no limit."""

    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    tls: TlsSettings = field(default_factory=TlsSettings)
    client_auth: ClientAuth = ClientAuth.NONE
    principal_rules: tuple[PrincipalRule, ...] = DEFAULT
    mechanisms: tuple[str, ...] = tuple(MECHANISMS)
    max_reauth_ms: int = 0
    failure_delay_ms: int = 100
    has_authorizer: bool = False
    super_users: frozenset[str] = frozenset()
    allow_if_no_acl: bool = False

    @property
    def is_guarded(self) -> bool:
        return self.protocol.tls and (self.protocol.sasl or self.client_auth is ClientAuth.REQUIRED)


def parse_security(protocol: SecurityProtocol, settings: Mapping[str, str]) -> SecuritySettings:
    """The security settings among a broker's. Raises InvalidSetting: with the reason."""
    defaults = SecuritySettings()
    tls = _tls(settings)
    if protocol.tls and tls.certificate_path is None and tls.certificate_pem is None:
        raise InvalidSetting(
            f"{protocol.value} needs a certificate: set ssl.keystore.location to a PEM file with the key and the "
            "certificate, and ssl.keystore.type=PEM"
        )
    authorizer = settings.get("authorizer.class.name", "").strip()
    if authorizer not in ("", AUTHORIZER):
        raise InvalidSetting(f"authorizer.class.name: only {AUTHORIZER} is supported, not {authorizer}")
    return SecuritySettings(
        protocol=protocol,
        tls=tls,
        client_auth=_client_auth(protocol, settings),
        principal_rules=parse_rules(settings.get("ssl.principal.mapping.rules", "").strip() or "DEFAULT"),
        mechanisms=_mechanisms(settings),
        max_reauth_ms=_milliseconds(settings, "connections.max.reauth.ms", 0),
        failure_delay_ms=_milliseconds(
            settings, "connection.failed.authentication.delay.ms", defaults.failure_delay_ms
        ),
        has_authorizer=bool(authorizer),
        super_users=_principals(settings),
        allow_if_no_acl=settings.get(ALLOW_IF_NO_ACL, "").strip().lower() == "true",
    )


def _tls(settings: Mapping[str, str]) -> TlsSettings:
    named = [
        Property(key=key, value=text, line=0) for key, text in settings.items() if key.startswith("ssl.")
    ]
    try:
        return tls_settings(Properties(path=Path("--config"), entries={one.key: one for one in named}))
    except ConfigFileError as error:
        raise InvalidSetting(error.message) from None


def _mechanisms(settings: Mapping[str, str]) -> tuple[str, ...]:
    text = settings.get("sasl.enabled.mechanisms", "").strip()
    if not text:
        return tuple(MECHANISMS)
    named = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in named:
        if name not in MECHANISMS:
            known = ", ".join(MECHANISMS)
            raise InvalidSetting(f"sasl.enabled.mechanisms: {name} is not supported, only {known}")
    return named


def _principals(settings: Mapping[str, str]) -> frozenset[str]:
    """`User:admin;User:kohort` (StandardAuthorizer.getConfiguredSuperUsers)."""
    named = [one.strip() for one in settings.get(SUPER_USERS, "").split(";") if one.strip()]
    for one in named:
        if ":" not in one:
            raise InvalidSetting(f"{SUPER_USERS}: expected TYPE:NAME;…, such as User:admin, not {one}")
    return frozenset(named)


def _client_auth(protocol: SecurityProtocol, settings: Mapping[str, str]) -> ClientAuth:
    """Kafka ignores the setting if clients authenticate by SASL."""
    text = settings.get("ssl.client.auth", ClientAuth.NONE.value).strip().lower()
    try:
        client_auth = ClientAuth(text)
    except ValueError:
        names = ", ".join(one.value for one in ClientAuth)
        raise InvalidSetting(f"ssl.client.auth must be one of {names}, not {text}") from None
    return ClientAuth.NONE if protocol.sasl else client_auth


def _milliseconds(settings: Mapping[str, str], name: str, default: int) -> int:
    return parse_integer(name, settings[name], minimum=0) if name in settings else default
