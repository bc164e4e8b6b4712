"""The pages of the exporter for scrapers, probes and browsers, without requests to the cluster."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from prometheus_client.exposition import gzip_accepted

from cli.verbs.exporter.cache import FigureCache
from coordinator.server.security.sasl import Users
from coordinator.server.web import PageRequest, WebPage
from wire.files import MEBIBYTE, read_bounded

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
class Login:
    """The accepted logins: users with passwords, the token in a file, trusted client certificates.

    Without any of them, no login is required. The file is read for every request, because the token may be replaced.
    """

    users: Users = field(default_factory=lambda: Users({}))
    token_file: Path | None = None
    certificates: bool = False

    @property
    def is_asked_for(self) -> bool:
        """Whether a login is required."""
        return bool(len(self.users) or self.token_file or self.certificates)

    def allows(self, authorization: str, certificate: object) -> bool:
        """Whether a request with this header and client certificate is accepted."""
        if not self.is_asked_for or (self.certificates and certificate):
            return True
        scheme, _, given = authorization.partition(" ")
        if scheme.lower() == "bearer" and self.token_file is not None:
            return hmac.compare_digest(read_token(self.token_file).encode(), given.strip().encode())
        if scheme.lower() == "basic" and len(self.users):
            user, colon, password = _decoded(given).partition(":")
            return bool(colon) and self.users.has_password(user, password)
        return False


def read_token(file: Path) -> str:
    """The token in a file. :raises OSError: :raises ValueError: it is empty, or not text"""
    token = read_bounded(file, MEBIBYTE).decode().strip()
    if not token:
        raise ValueError("it is empty")
    return token


def reason(error: OSError | ValueError) -> str:
    """Why `read_token` failed, as a message without the file's name."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "it is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def _decoded(given: str) -> str:
    try:
        return base64.b64decode(given.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterPages:
    """The pages served."""

    cache: FigureCache
    login: Login
    report: Callable[[str], object]
    """Called with a line for each internal error."""

    def page(self, request: PageRequest) -> WebPage:
        """Any page. Called in any thread."""
        path = request.path
        if path == HEALTHY:
            return WebPage(pieces=[b"running\n"])
        if path == READY:
            if self.cache.state.last_ms is None:
                return WebPage(status=HTTPStatus.SERVICE_UNAVAILABLE, pieces=[b"no poll has succeeded yet\n"])
            return WebPage(pieces=[b"ready\n"])
        if not self._is_let_in(request):
            return WebPage(
                status=HTTPStatus.UNAUTHORIZED,
                pieces=[b"login required\n"],
                headers={"WWW-Authenticate": 'Basic realm="kohort", charset="UTF-8"'},
            )
        if path == METRICS:
            return self._metrics(request)
        if path == "/":
            return WebPage(pieces=[_LANDING.encode()], headers={"Content-Type": "text/html; charset=utf-8"})
        return WebPage(
            status=HTTPStatus.NOT_FOUND, pieces=[f"not found; see / {METRICS} {HEALTHY} {READY}\n".encode()]
        )

    def _is_let_in(self, request: PageRequest) -> bool:
        try:
            return self.login.allows(request.headers.get("Authorization", ""), request.certificate)
        except (OSError, ValueError) as error:
            self.report(f"--token-file cannot be read: {reason(error)}")
            return False

    def _metrics(self, request: PageRequest) -> WebPage:
        exposition = self.cache.exposition(
            request.headers.get("Accept", ""),
            compressed=gzip_accepted(request.headers.get("Accept-Encoding", "")),
        )
        more = {"Content-Encoding": "gzip"} if exposition.is_compressed else {}
        return WebPage(
            pieces=exposition.pieces,
            headers={"Content-Type": exposition.content_type, "Vary": "Accept, Accept-Encoding", **more},
            length=exposition.length,
        )
