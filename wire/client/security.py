"""Connection and login settings, independent of the file that they were read from."""

from dataclasses import dataclass, field
from enum import Enum


class SecurityProtocol(Enum):
    """Kafka's ``security.protocol``."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def tls(self) -> bool:
        """Whether the connection is encrypted."""
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def sasl(self) -> bool:
        """Whether the client authenticates with a SASL mechanism."""
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class Secret:
    """A string that hides itself: `repr` and `str` mask it, `reveal` returns it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself, only for the wire."""
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
    """Certificates and keys, all PEM, each given inline or as a path. `ca_*`: the trusted authorities, the system's
    store if neither is set. `certificate_*` and `key_*`: the client's identity (mutual TLS); if one file contains both
    the key and the chain, only `certificate_path` is set."""

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
    authorities of an https endpoint, the system's store if neither is set. `url_encode_header`: Java's
    sasl.oauthbearer.header.urlencode."""

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
    """A function that returns a token, by its name: see `wire.client.tokens.providers`. `options` are the
    provider's."""

    name: str
    options: tuple[tuple[str, Secret], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthSettings:
    """The source of the token of sasl.mechanism OAUTHBEARER, and its `extensions` (RFC 7628)."""

    source: TokenEndpoint | MetadataEndpoint | TokenFile | TokenCommand | TokenProvider
    extensions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KerberosSettings:
    """The principal of sasl.mechanism GSSAPI, and the service. `keytab`: a file with the keys of `principal`. Without
    it an existing ticket is used: of `ccache`, or of the default credential cache."""

    service_name: str
    principal: str | None = None
    keytab: str | None = None
    ccache: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """All settings needed to talk to a cluster.

    `bootstrap_servers` are ``host:port`` texts and may be empty (the command line sets them).
    `sasl_mechanism` is set exactly when `security_protocol.sasl`; `oauth` only with OAUTHBEARER, and only if the token
    is available without librdkafka; `kerberos` only with GSSAPI. Times are milliseconds: `request_timeout_ms` for one
    response of one broker, `api_timeout_ms` for a whole call.
    With `cluster_id`, a broker refuses an advertised address that leads to a broker of another cluster, from Kafka
    4.4 on (KIP-1242).
    `extra` contains settings that only librdkafka understands.
    `remarks` are for the user: the ignored keys of a file of properties.
    """

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
