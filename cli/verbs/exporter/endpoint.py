"""The endpoint of the exporter; an address that other machines can reach needs TLS and a login."""

import base64
import binascii
import hmac
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from prometheus_client.exposition import gzip_accepted

from cli.errors import UsageError
from cli.output import notice
from cli.secret_files import read_token, reason
from cli.verbs.exporter.newest_page import NewestPage
from cli.verbs.exporter.options import DEFAULT_LISTEN, ExporterOptions
from coordinator.server.security.access_file import read_access_file
from coordinator.server.security.addresses import ListenAddress, parse_listen
from coordinator.server.security.sasl import Users
from coordinator.server.security.security import server_context
from coordinator.server.security.settings import ClientAuth
from coordinator.server.web import PageRequest, WebPage
from groups.yaml_files import TreeError
from wire.client.errors import InvalidAddress, TlsFailed
from wire.client.security import TlsSettings

METRICS, HEALTHY, READY = "/metrics", "/-/healthy", "/-/ready"
_LANDING = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Kohort exporter</title></head>
<body><h1>Kohort exporter</h1><p>Metrics of Kafka groups.</p><ul>
<li><a href="{METRICS}">{METRICS}</a>: all metrics</li>
<li><a href="{HEALTHY}">{HEALTHY}</a>: 200 while the exporter runs</li>
<li><a href="{READY}">{READY}</a>: 200 after the first successful poll</li>
</ul></body></html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrapeLogin:
    """The accepted logins: users, the token in a file (read for every request), trusted client certificates."""

    users: Users = field(default_factory=lambda: Users({}))
    token_file: Path | None = None
    certificates: bool = False

    @property
    def is_asked_for(self) -> bool:
        return bool(len(self.users) or self.token_file or self.certificates)

    def allows(self, authorization: str, certificate: object) -> bool:
        if not self.is_asked_for or (self.certificates and certificate):
            return True
        scheme, _, credentials = authorization.partition(" ")
        if scheme.lower() == "bearer" and self.token_file is not None:
            return hmac.compare_digest(read_token(self.token_file).encode(), credentials.strip().encode())
        if scheme.lower() == "basic" and len(self.users):
            user, colon, password = _decoded(credentials).partition(":")
            return bool(colon) and self.users.has_password(user, password)
        return False


def _decoded(credentials: str) -> str:
    try:
        return base64.b64decode(credentials.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterPages:
    newest: NewestPage
    login: ScrapeLogin
    report: Callable[[str], object]  # Called with a line for each internal error

    def page(self, request: PageRequest) -> WebPage:
        path = request.path
        if path == HEALTHY:
            return WebPage(pieces=[b"running\n"])
        if path == READY:
            if self.newest.state.last_ms is None:
                return WebPage(status=HTTPStatus.SERVICE_UNAVAILABLE, pieces=[b"no poll has succeeded yet\n"])
            return WebPage(pieces=[b"ready\n"])
        try:
            is_let_in = self.login.allows(request.headers.get("Authorization", ""), request.certificate)
        except (OSError, ValueError) as error:
            self.report(f"--token-file cannot be read: {reason(error)}")
            is_let_in = False
        if not is_let_in:
            return WebPage(
                status=HTTPStatus.UNAUTHORIZED,
                pieces=[b"login required\n"],
                headers={"WWW-Authenticate": 'Basic realm="kohort", charset="UTF-8"'},
            )
        if path == "/":
            return WebPage(pieces=[_LANDING.encode()], headers={"Content-Type": "text/html; charset=utf-8"})
        if path != METRICS:
            text = f"not found; see / {METRICS} {HEALTHY} {READY}\n"
            return WebPage(status=HTTPStatus.NOT_FOUND, pieces=[text.encode()])
        exposition = self.newest.exposition(
            request.headers.get("Accept", ""),
            compressed=gzip_accepted(request.headers.get("Accept-Encoding", "")),
        )
        more = {"Content-Encoding": "gzip"} if exposition.is_compressed else {}
        return WebPage(
            pieces=exposition.pieces,
            headers={"Content-Type": exposition.content_type, "Vary": "Accept, Accept-Encoding", **more},
            length=exposition.length,
        )


@dataclass(slots=True, kw_only=True)
class Guard:
    address: ListenAddress
    login: ScrapeLogin
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


def guard_of(options: ExporterOptions) -> Guard | None:
    if options.once and options.listen is not None:
        raise UsageError("--once and --listen cannot be used together")
    if options.listen is None and (options.textfile is not None or options.once):
        for name in ("tls_certificate", "tls_key", "tls_client_ca", "access", "token_file"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} needs --listen HOST:PORT")
        return None
    listen = DEFAULT_LISTEN if options.listen is None else options.listen
    if "://" in listen:
        raise UsageError(f"--listen {listen}: write HOST:PORT; --tls-certificate makes it HTTPS")
    try:
        address = parse_listen(listen)
        login = _login(options)
        settings = _tls(options)
        loaded = None if settings is None else _stamp(settings)
        tls = None if settings is None else _context(settings)
    except (InvalidAddress, TreeError, TlsFailed) as error:
        raise UsageError(str(error)) from None
    if login.is_asked_for and tls is None and not address.is_loopback:
        raise UsageError(_too_open(address, "passwords and tokens would be sent in clear text"))
    if not address.is_loopback and not (login.is_asked_for and tls is not None):
        raise UsageError(_too_open(address, "other machines can reach it"))
    return Guard(address=address, login=login, tls=tls, _settings=settings, _loaded=loaded)


def _too_open(address: ListenAddress, why: str) -> str:
    return (
        f"--listen {address.host}:{address.port}: {why}, which needs TLS (--tls-certificate) and a login "
        f"(--token-file, --access or --tls-client-ca). Otherwise listen on 127.0.0.1:{address.port}."
    )


def _login(options: ExporterOptions) -> ScrapeLogin:
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
    return ScrapeLogin(
        users=users, token_file=options.token_file, certificates=options.tls_client_ca is not None
    )


def _tls(options: ExporterOptions) -> TlsSettings | None:
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
