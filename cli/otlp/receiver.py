"""A receiver of OTLP over HTTP: its address, and one post. Headers are secrets: they are read for every post, and are
in no message."""

from __future__ import annotations

from dataclasses import dataclass
from gzip import compress
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from cli.errors import UsageError
from cli.otlp.options import PushOptions
from cli.posting import PostFailed, post
from cli.secret_files import header_of, reason
from coordinator.server.security.addresses import ListenAddress
from wire.client.commands import clipped, masked
from wire.extras import install_command, is_installed

PATH = "/v1/metrics"


class PushFailed(Exception):
    """A message was not delivered, or only in part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    url: SplitResult
    headers: tuple[Path, ...] = ()  # Files with a line `Name: value`

    @property
    def name(self) -> str:
        """The address without its query, which may be secret."""
        return f"{self.url.scheme}://{self.url.netloc}{self.url.path}"

    def post(self, message: bytes) -> None:
        """Raises PushFailed."""
        try:
            headers = dict(map(header_of, self.headers))
        except (OSError, ValueError) as error:
            raise PushFailed(f"--otlp-header: {reason(error)}") from None
        secrets = [
            *headers.values(),
            *(value.rpartition(" ")[2] for value in headers.values()),
            self.url.query,
        ]
        headers |= {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
        try:
            rejected = _rejected(post(self.url.geturl(), compress(message, 1), headers))
        except PostFailed as error:
            why = clipped(masked(str(error), secrets))
            raise PushFailed(f"{why}. Check that a receiver of OTLP is there, and --otlp-header") from None
        if rejected is not None:
            count, why = rejected
            raise PushFailed(f"it rejects {count:,} points: {clipped(masked(why, secrets))}")


def receiver_of(options: PushOptions) -> Receiver | None:
    """The receiver of `--otlp`; None without one. UsageError: an option is invalid, or the extra is not installed."""
    if options.otlp is None:
        if options.otlp_header or options.otlp_insecure:
            raise UsageError("--otlp-header and --otlp-insecure need --otlp URL")
        return None
    url = _url_of(options.otlp)
    if url.scheme == "http" and not (options.otlp_insecure or is_loopback(url.hostname or "")):
        raise UsageError(
            f"--otlp http://{url.netloc}: metrics would leave this machine in clear text: use https, or allow it with "
            "--otlp-insecure"
        )
    if not is_installed("otlp"):
        raise UsageError(f"--otlp needs another package: {install_command('otlp')}")
    for file in options.otlp_header or ():
        try:
            header_of(file)
        except (OSError, ValueError) as error:
            raise UsageError(f"--otlp-header {file}: {reason(error)}") from None
    return Receiver(url=url, headers=tuple(options.otlp_header or ()))


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


def is_loopback(host: str) -> bool:
    return host == "localhost" or ListenAddress(host=host, port=0).is_loopback


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
