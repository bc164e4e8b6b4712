"""The security of the server: settings, users, ACLs and the TLS context."""

import ssl
from dataclasses import dataclass, field

from coordinator.server.security.access_file import AccessFile
from coordinator.server.security.authorizer import Authorizer
from coordinator.server.security.sasl import SaslLogin, Users
from coordinator.server.security.settings import ClientAuth, SecuritySettings
from wire.client.security import TlsSettings
from wire.client.tls import identify, trust

_VERIFY = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.REQUESTED: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRED: ssl.CERT_REQUIRED,
}


def server_context(settings: TlsSettings, client_auth: ClientAuth) -> ssl.SSLContext:
    """The TLS context of a listener. Raises TlsFailed: a certificate or key cannot be read."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.verify_mode = _VERIFY[client_auth]
    if client_auth is not ClientAuth.NONE:
        trust(made, settings)
    identify(made, settings)
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """`context`: the TLS context, None without TLS; `authorizer`: None if everyone may do everything."""

    settings: SecuritySettings = field(default_factory=SecuritySettings)
    users: Users = field(default_factory=lambda: Users({}))
    authorizer: Authorizer | None = None
    context: ssl.SSLContext | None = None

    def login(self) -> SaslLogin | None:
        if not self.settings.protocol.sasl:
            return None
        return SaslLogin(self.users, self.settings.mechanisms, self.settings.max_reauth_ms)


def secure(settings: SecuritySettings, file: AccessFile) -> Security:
    """Combine settings and file. Raises TlsFailed: a certificate or key cannot be read."""
    authorizer = None
    if settings.has_authorizer or file.acls is not None:
        users_above, is_open = settings.super_users, settings.allow_if_no_acl
        authorizer = Authorizer(file.acls or (), super_users=users_above, allow_if_no_acl=is_open)
    context = server_context(settings.tls, settings.client_auth) if settings.protocol.tls else None
    users = Users(file.passwords)
    return Security(settings=settings, users=users, authorizer=authorizer, context=context)
