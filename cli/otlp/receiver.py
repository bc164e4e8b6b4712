"""A receiver of OTLP over HTTP: its address, and one post. Headers are secrets: they are read for every post, and are
in no message."""

from __future__ import annotations

import http.client
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from gzip import compress
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from cli.errors import UsageError
from cli.otlp.options import PushOptions
from cli.secret_files import header_of, reason
from wire.client.commands import clipped, excerpt, masked
from wire.extras import install_command, is_installed

PATH = "/v1/metrics"
ANSWER_WITHIN_S = 10
_MOST_OF_ANSWER = 65_536


class PushFailed(Exception):
    """A message was not delivered, or only in part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    url: SplitResult
    headers: tuple[Path, ...] = ()  # Files with a line `Name: value`
    ca: Path | None = None

    @property
    def name(self) -> str:
        """The address without its query, which may be secret."""
        return f"{self.url.scheme}://{self.url.netloc}{self.url.path}"

    def post(self, message: bytes) -> None:
        """Raises PushFailed."""
        try:
            headers = dict(map(header_of, self.headers))
            context = ssl.create_default_context(cafile=self.ca) if self.url.scheme == "https" else None
        except (OSError, ValueError) as error:
            raise PushFailed(f"a file of --otlp-header or --otlp-ca: {reason(error)}") from None
        secrets = [
            *headers.values(),
            *(value.rpartition(" ")[2] for value in headers.values()),
            self.url.query,
        ]
        headers |= {
            "Content-Type": "application/x-protobuf",
            "Content-Encoding": "gzip",
            "User-Agent": "kohort",
        }
        opener = urllib.request.build_opener(_NoRedirects, urllib.request.HTTPSHandler(context=context))
        request = urllib.request.Request(self.url.geturl(), compress(message, 1), headers)  # noqa: S310
        try:
            with opener.open(request, timeout=ANSWER_WITHIN_S) as answer:
                rejected = _rejected(answer.read(_MOST_OF_ANSWER))
        except urllib.error.HTTPError as error:
            with error:
                raise PushFailed(f"it answers {error.code} {masked(error.reason, secrets)}") from None
        except urllib.error.URLError as error:
            raise PushFailed(clipped(masked(str(error.reason), secrets))) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            text = clipped(masked(str(error), secrets))
            raise PushFailed(text or type(error).__name__) from None
        if rejected is not None:
            count, why = rejected
            raise PushFailed(f"it rejects {count:,} points: {excerpt(why.encode(), secrets)}")


def receiver_of(options: PushOptions) -> Receiver | None:
    """The receiver of `--otlp`; None without one. UsageError: an option is invalid, or the extra is not installed."""
    if options.otlp is None:
        for name in ("otlp_header", "otlp_ca", "otlp_insecure"):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')} needs --otlp URL")
        return None
    url = _url_of(options.otlp)
    if url.scheme == "http" and not (options.otlp_insecure or _is_loopback(url.hostname or "")):
        raise UsageError(
            f"--otlp http://{url.netloc}: metrics would leave this machine in clear text: use https, or allow it with "
            "--otlp-insecure"
        )
    if not is_installed("otlp"):
        raise UsageError(f"--otlp needs another package: {install_command('otlp')}")
    files = tuple(options.otlp_header or ())
    for file in files:
        try:
            header_of(file)
        except (OSError, ValueError) as error:
            raise UsageError(f"--otlp-header {file}: {reason(error)}") from None
    if options.otlp_ca is not None:
        try:
            ssl.create_default_context(cafile=options.otlp_ca)
        except (OSError, ValueError) as error:
            raise UsageError(f"--otlp-ca {options.otlp_ca}: {reason(error)}") from None
    return Receiver(url=url, headers=files, ca=options.otlp_ca)


def _url_of(text: str) -> SplitResult:
    """Without a path, that of metrics is added."""
    try:
        url = urlsplit(text)
        is_valid = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        url, is_valid = urlsplit(""), False
    if "@" in url.netloc:
        raise UsageError(
            "--otlp: a password does not belong in the address; write it to a file for --otlp-header"
        )
    if not is_valid or not text.isascii() or not text.isprintable() or " " in text:
        raise UsageError("--otlp: write http://HOST:PORT or https://HOST:PORT/PATH")
    return url._replace(path=url.path.rstrip("/") or PATH, fragment="")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _rejected(answer: bytes) -> tuple[int, str] | None:
    """The number of points that the receiver did not take, and why; None if it took all."""
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse

    response = ExportMetricsServiceResponse()
    try:
        response.ParseFromString(answer)
    except Exception:  # protobuf's DecodeError, which has no types
        raise PushFailed("it does not answer in OTLP") from None
    success = response.partial_success
    return (success.rejected_data_points, success.error_message) if success.rejected_data_points else None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the secret headers to another host."""

    def redirect_request(self, *_: object) -> None:
        return None
