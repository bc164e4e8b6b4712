"""The ways to log in to a cluster, and whether each is available here: some need packages of an extra."""

from __future__ import annotations

from dataclasses import dataclass

from wire.client.errors import UnsupportedMechanism
from wire.extras import install_command, is_installed


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginMethod:
    """One way to log in: the operators' name for it, the client property that selects it, and the extra that it needs,
    or None."""

    name: str
    setting: str
    extra: str | None = None

    @property
    def available(self) -> bool:
        return self.extra is None or is_installed(self.extra)

    @property
    def remedy(self) -> str | None:
        """The command that installs the missing packages; None: nothing is missing."""
        return None if self.extra is None or self.available else install_command(self.extra)


def login_methods() -> tuple[LoginMethod, ...]:
    """Every way to log in that Kohort supports, installed or not."""
    return (
        LoginMethod(name="TLS", setting="security.protocol=SSL"),
        LoginMethod(name="mutual TLS, PEM", setting="ssl.keystore.type=PEM"),
        LoginMethod(name="mutual TLS, PKCS12", setting="ssl.keystore.type=PKCS12", extra="keystores"),
        LoginMethod(name="PLAIN", setting="sasl.mechanism=PLAIN"),
        LoginMethod(name="SCRAM-SHA-256", setting="sasl.mechanism=SCRAM-SHA-256"),
        LoginMethod(name="SCRAM-SHA-512", setting="sasl.mechanism=SCRAM-SHA-512"),
        LoginMethod(name="Kerberos", setting="sasl.mechanism=GSSAPI", extra="kerberos"),
        LoginMethod(name="OAUTHBEARER, token endpoint", setting="sasl.oauthbearer.token.endpoint.url"),
        LoginMethod(name="OAUTHBEARER, token command", setting="kohort.token.command"),
        LoginMethod(name="OAUTHBEARER, token provider", setting="kohort.token.provider"),
        LoginMethod(name="Amazon MSK IAM", setting="sasl.mechanism=AWS_MSK_IAM", extra="aws"),
        LoginMethod(name="Azure identity", setting="kohort.token.provider=azure", extra="azure"),
        LoginMethod(name="Google identity", setting="kohort.token.provider=gcp", extra="gcp"),
    )


def require(extra: str, purpose: str) -> None:
    """:raises UnsupportedMechanism: `purpose` needs packages that are not installed, with the command"""
    if not is_installed(extra):
        raise UnsupportedMechanism(
            f"{purpose} needs packages that are not installed. Run: `{install_command(extra)}`"
        )
