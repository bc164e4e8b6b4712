"""Who may read a page that Kohort serves: an address that other machines can reach needs TLS and a login."""

import base64
import binascii
import hmac
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cli.errors import UsageError
from cli.output import notice
from cli.secret_files import read_token, reason
from cli.web_guard_options import GuardOptions
from coordinator.server.security.access_file import read_access_file
from coordinator.server.security.addresses import ListenAddress, parse_listen
from coordinator.server.security.sasl import Users
from coordinator.server.security.security import server_context
from coordinator.server.security.settings import ClientAuth
from groups.yaml_files import TreeError
from wire.client.errors import InvalidAddress, TlsFailed
from wire.client.security import TlsSettings

LOGINS = "--token-file, --access or --tls-client-ca"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebLogin:
    """The accepted logins: users, the token in a file (read for every request), trusted client certificates."""

    users: Users = field(default_factory=lambda: Users({}))
    token_file: Path | None = None
    certificates: bool = False

    @property
    def is_asked_for(self) -> bool:
        return bool(len(self.users) or self.token_file or self.certificates)

    def admits(self, authorization: str, certificate: object, report: Callable[[str], object]) -> bool:
        """Whether a request with this header, over a connection with this certificate, is let in. The token may be the
        password of any user: a browser asks for a name and a password."""
        try:
            return self._allows(authorization, certificate)
        except (OSError, ValueError) as error:
            report(f"--token-file cannot be read: {reason(error)}")
            return False

    def _allows(self, authorization: str, certificate: object) -> bool:
        if not self.is_asked_for or (self.certificates and certificate):
            return True
        scheme, _, credentials = authorization.partition(" ")
        if scheme.lower() == "bearer":
            return self._is_token(credentials.strip())
        if scheme.lower() == "basic":
            user, colon, password = _decoded(credentials).partition(":")
            is_user = len(self.users) > 0 and self.users.has_password(user, password)
            return bool(colon) and (is_user or self._is_token(password))
        return False

    def _is_token(self, text: str) -> bool:
        if self.token_file is None:
            return False
        return hmac.compare_digest(read_token(self.token_file).encode(), text.encode(errors="replace"))


def _decoded(credentials: str) -> str:
    try:
        return base64.b64decode(credentials.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


@dataclass(slots=True, kw_only=True)
class Guard:
    address: ListenAddress
    login: WebLogin
    tls: ssl.SSLContext | None = None
    _settings: TlsSettings | None = None
    _loaded: object = None

    def renew(self, report: Callable[[str], object]) -> None:
        """Load replaced TLS files; existing connections keep the previous ones."""
        if self._settings is None or (stamp := _stamp(self._settings)) == self._loaded:
            return
        self._loaded = stamp
        try:
            self.tls = _context(self._settings)
        except TlsFailed as error:
            report(f"the previous certificate is still used: {error}")

    def renewing_context(self) -> ssl.SSLContext | None:
        """A context for a server, which each handshake changes for the newest one."""
        first = self.tls

        def change(connection: ssl.SSLObject | ssl.SSLSocket, *_: object) -> None:
            if self.tls is not None:
                connection.context = self.tls

        if first is not None:
            first.sni_callback = change
        return first


def guard_of(options: GuardOptions, default: str, option: str = "--listen", logins: str = LOGINS) -> Guard:
    """The guard of the address, `default` if none is given; `logins` are the options that set one up. UsageError: other
    machines could reach it without TLS and a login, or a file cannot be used."""
    listen = default if options.listen is None else options.listen
    if "://" in listen:
        raise UsageError(f"{option} {listen}: write HOST:PORT; --tls-certificate makes it HTTPS")
    try:
        address = parse_listen(listen)
        login = _login(options)
        settings = _tls(options)
        loaded = None if settings is None else _stamp(settings)
        tls = None if settings is None else _context(settings)
    except (InvalidAddress, TreeError, TlsFailed) as error:
        raise UsageError(str(error)) from None
    if login.is_asked_for and tls is None and not address.is_loopback:
        raise UsageError(
            _too_open(option, address, logins, "passwords and tokens would be sent in clear text")
        )
    if not address.is_loopback and not (login.is_asked_for and tls is not None):
        raise UsageError(_too_open(option, address, logins, "other machines can reach it"))
    return Guard(address=address, login=login, tls=tls, _settings=settings, _loaded=loaded)


def _too_open(option: str, address: ListenAddress, logins: str, why: str) -> str:
    return (
        f"{option} {address.host}:{address.port}: {why}, which needs TLS (--tls-certificate) and a login "
        f"({logins}). Otherwise listen on 127.0.0.1:{address.port}."
    )


def _login(options: GuardOptions) -> WebLogin:
    users = Users({})
    if options.access is not None:
        file = read_access_file(options.access)
        for warning in file.warnings:
            notice(warning)
        if not file.passwords:
            raise UsageError(f"{options.access} has no users, so no login would succeed")
        users = Users(file.passwords)
    if options.token_file is not None:
        try:
            read_token(options.token_file)
        except (OSError, ValueError) as error:
            raise UsageError(f"--token-file {options.token_file} cannot be used: {reason(error)}") from None
    return WebLogin(
        users=users, token_file=options.token_file, certificates=options.tls_client_ca is not None
    )


def _tls(options: GuardOptions) -> TlsSettings | None:
    certificate, key = options.tls_certificate, options.tls_key
    if certificate is None:
        for name, value in (("--tls-key", key), ("--tls-client-ca", options.tls_client_ca)):
            if value is not None:
                raise UsageError(f"{name} needs --tls-certificate FILE")
        return None
    return TlsSettings(
        certificate_path=str(certificate),
        key_path=None if key is None else str(key),
        ca_path=None if options.tls_client_ca is None else str(options.tls_client_ca),
    )


def _context(settings: TlsSettings) -> ssl.SSLContext:
    """A new context each time: loading a certificate without its key into a used one drops the previous key."""
    return server_context(settings, ClientAuth.REQUESTED if settings.ca_path else ClientAuth.NONE)


def _stamp(settings: TlsSettings) -> object:
    """A value that changes when the files do."""
    stamps: list[int] = []
    for path in filter(None, (settings.certificate_path, settings.key_path, settings.ca_path)):
        with suppress(OSError):
            stamps.append(Path(path).stat().st_mtime_ns)
    return stamps
