"""The listen address for metrics and its logins; other machines need TLS and a login."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cli.errors import UsageError
from cli.output import notice
from cli.verbs.exporter.options import ExporterOptions
from cli.verbs.exporter.web import Login, read_token, reason
from coordinator.server.security.access_file import read_access_file
from coordinator.server.security.addresses import ListenAddress, parse_listen
from coordinator.server.security.sasl import Users
from coordinator.server.security.security import server_context
from coordinator.server.security.settings import ClientAuth
from groups.yaml_files import TreeError
from wire.client.errors import InvalidAddress, TlsFailed
from wire.client.security import TlsSettings


@dataclass(slots=True, kw_only=True)
class Guard:
    """The listen address, the certificate, and the logins."""

    place: ListenAddress
    login: Login
    tls: ssl.SSLContext | None = None
    _settings: TlsSettings | None = None
    _loaded: object = None

    def renew(self, report: Callable[[str], object]) -> None:
        """Load replaced TLS files; existing connections keep the previous ones."""
        if self._settings is None or (found := _stamp(self._settings)) == self._loaded:
            return
        self._loaded = found
        try:
            self.tls = _context(self._settings)
        except TlsFailed as error:
            report(f"the previous certificate is still used: {error}")


def guarded(options: ExporterOptions, listen: str) -> Guard:
    """The guard. :raises UsageError: an address for other machines lacks TLS or a login, or a file is unusable"""
    if "://" in listen:
        raise UsageError(f"--listen {listen}: write HOST:PORT; --tls-certificate makes it HTTPS")
    try:
        place = parse_listen(listen)
        login = _login(options)
        settings = _tls(options)
        loaded = None if settings is None else _stamp(settings)
        tls = None if settings is None else _context(settings)
    except (InvalidAddress, TreeError, TlsFailed) as error:
        raise UsageError(str(error)) from None
    if login.is_asked_for and tls is None and not place.is_loopback:
        raise UsageError(_too_open(place, "passwords and tokens would be sent in clear text"))
    if not place.is_loopback and not (login.is_asked_for and tls is not None):
        raise UsageError(_too_open(place, "other machines can reach it"))
    return Guard(place=place, login=login, tls=tls, _settings=settings, _loaded=loaded)


def _too_open(place: ListenAddress, why: str) -> str:
    return (
        f"--listen {place.host}:{place.port}: {why}, which needs TLS (--tls-certificate) and a login (--token-file, "
        f"--access or --tls-client-ca). Otherwise listen on 127.0.0.1:{place.port}."
    )


def _login(options: ExporterOptions) -> Login:
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
    return Login(users=users, token_file=options.token_file, certificates=options.tls_client_ca is not None)


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
    files = (settings.certificate_path, settings.key_path, settings.ca_path)
    return [_modified(path) for path in files if path is not None]


def _modified(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
