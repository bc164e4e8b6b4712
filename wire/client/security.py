"""Connection and login settings, independent of the file that they were read from."""

from dataclasses import dataclass, field
from enum import Enum


class SecurityProtocol(Enum):
    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def tls(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def sasl(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class Secret:
    """A string that hides itself: `repr` and `str` mask it, `reveal` returns it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """Certificates and keys, all PEM, each inline or as a path. `ca_*`: the trusted authorities, by default the
    system's. `certificate_*` and `key_*`: the client's identity; a file with both is set as `certificate_path` only."""

    ca_path: str | None = None
    ca_pem: str | None = None
    certificate_path: str | None = None
    certificate_pem: str | None = None
    key_path: str | None = None
    key_pem: Secret | None = None
    key_password: Secret | None = None
    verify_certificate: bool = True
    verify_hostname: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEndpoint:
    """The token endpoint of an identity provider: the grant client_credentials of RFC 6749. `ca_*`: the trusted
    authorities, by default the system's. `url_encode_header`: Java's sasl.oauthbearer.header.urlencode."""

    url: str
    client_id: str
    client_secret: Secret
    scope: str | None = None
    url_encode_header: bool = False
    ca_path: str | None = None
    ca_pem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataEndpoint:
    """Azure's instance metadata service, which knows the identity of the requesting machine; `url` has the query."""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFile:
    """The ``file:`` URL of a file that contains the token itself."""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCommand:
    """A command that prints a token, as the arguments of its process, and its timeout."""

    arguments: tuple[str, ...]
    timeout_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenProvider:
    """A function that returns a token, by its name, and its options: see `wire.client.tokens.providers`."""

    name: str
    options: tuple[tuple[str, Secret], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthSettings:
    """The source of the token of sasl.mechanism OAUTHBEARER, and its `extensions` (RFC 7628)."""

    source: TokenEndpoint | MetadataEndpoint | TokenFile | TokenCommand | TokenProvider
    extensions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KerberosSettings:
    """sasl.mechanism GSSAPI. Without a `keytab`, a ticket is used: of `ccache`, or the default one."""

    service_name: str
    principal: str | None = None
    keytab: str | None = None
    ccache: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """All settings needed to talk to a cluster. `sasl_mechanism` is set exactly when `security_protocol.sasl`; `oauth`
    and `kerberos` only with their mechanisms, and `oauth` only if the token is available without librdkafka.
    `request_timeout_ms` is for one response of one broker, `api_timeout_ms` for a whole call. With `cluster_id`, a
    broker of another cluster refuses the connection, from Kafka 4.4 on (KIP-1242). `extra`: settings that only
    librdkafka understands. `remarks` are for the user."""

    bootstrap_servers: tuple[str, ...] = ()
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    sasl_mechanism: str | None = None
    sasl_username: str | None = None
    sasl_password: Secret | None = None
    oauth: OAuthSettings | None = None
    kerberos: KerberosSettings | None = None
    tls: TlsSettings = field(default_factory=TlsSettings)
    client_id: str = "kohort"
    cluster_id: str | None = None
    connection_setup_timeout_ms: int = 10_000
    request_timeout_ms: int = 30_000
    api_timeout_ms: int = 60_000
    extra: tuple[tuple[str, Secret], ...] = ()
    remarks: tuple[str, ...] = ()
