"""The options of `kohort exporter`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated

from cli.options import option

DEFAULT_LISTEN = "127.0.0.1:9408"
_guarding = partial(option, rich_help_panel="Who may read, and how")


class Per(Enum):
    """`--per`."""

    GROUP = "group"
    TOPIC = "topic"
    PARTITION = "partition"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterOptions:
    """What is exported, where to, and how often it is read."""

    listen: Annotated[
        str | None,
        option(
            "--listen",
            f"Where to serve metrics ({DEFAULT_LISTEN}); beyond this machine with TLS.",
            "HOST:PORT",
        ),
    ] = None
    textfile: Annotated[
        Path | None,
        option("--textfile", "Write FILE.prom for the node exporter; serve only with --listen.", "FILE"),
    ] = None
    once: Annotated[bool, option("--once", "Read once: print the metrics, or write --textfile, and end.")] = (
        False
    )
    interval: Annotated[
        float,
        option(
            "--interval", "From one poll to the next; all scrapes share it.", "SECONDS", min=1, max=86_400
        ),
    ] = 30.0
    match: Annotated[
        str | None, option("--match", "Only groups in whose id this matches (RE2).", "REGEX")
    ] = None
    match_topic: Annotated[
        str | None, option("--match-topic", "Only topics in whose name this matches (RE2).", "REGEX")
    ] = None
    per: Annotated[Per, option("--per", "How fine the figures of lag are.")] = Per.TOPIC
    commit_times: Annotated[
        bool, option("--commit-times", "Add last commits; every poll reads __consumer_offsets for them.")
    ] = False
    max_series: Annotated[
        int,
        option("--max-series", "Leave out what is more, and say how much: partitions first.", "N", min=1),
    ] = 250_000
    tls_certificate: Annotated[
        Path | None, _guarding("--tls-certificate", "Serve HTTPS with this certificate chain, PEM.", "FILE")
    ] = None
    tls_key: Annotated[
        Path | None, _guarding("--tls-key", "Its key, PEM, where it is not in the same file.", "FILE")
    ] = None
    tls_client_ca: Annotated[
        Path | None,
        _guarding("--tls-client-ca", "Let in whoever shows a certificate of this authority, PEM.", "FILE"),
    ] = None
    access: Annotated[
        Path | None,
        _guarding("--access", "Let in the users of this file by password: docs/security.md.", "FILE"),
    ] = None
    token_file: Annotated[
        Path | None, _guarding("--token-file", "Let in whoever has the token in this file.", "FILE")
    ] = None
