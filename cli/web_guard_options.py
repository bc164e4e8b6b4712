"""The options of a page that Kohort serves: its address, TLS, and who may read it."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from cli.errors import UsageError
from cli.options import option

_guarding = partial(option, rich_help_panel="TLS and access")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardOptions:
    listen: Annotated[
        str | None,
        option(
            "--listen",
            "Listen address, by default one of loopback; to listen beyond it, set up TLS and a login.",
            "HOST:PORT",
        ),
    ] = None
    tls_certificate: Annotated[
        Path | None, _guarding("--tls-certificate", "Serve HTTPS with this certificate chain, PEM.", "FILE")
    ] = None
    tls_key: Annotated[
        Path | None,
        _guarding("--tls-key", "Private key, PEM, if it is not in the certificate's file.", "FILE"),
    ] = None
    tls_client_ca: Annotated[
        Path | None,
        _guarding("--tls-client-ca", "Accept client certificates of this authority, PEM.", "FILE"),
    ] = None
    access: Annotated[
        Path | None,
        _guarding("--access", "Accept the users and passwords of this file (docs/security.md).", "FILE"),
    ] = None
    token_file: Annotated[
        Path | None, _guarding("--token-file", "Accept the bearer token in this file.", "FILE")
    ] = None


def refuse_guard(options: GuardOptions, needs: str) -> None:
    """UsageError: an option is given that does nothing without another one."""
    for name in ("tls_certificate", "tls_key", "tls_client_ca", "access", "token_file"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} needs {needs}")
