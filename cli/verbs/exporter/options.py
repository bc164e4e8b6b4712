"""The options of `kohort exporter`."""

from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated

from cli.options import option

DEFAULT_LISTEN = "127.0.0.1:9408"
_guarding = partial(option, rich_help_panel="TLS and access")


class SampleLevel(Enum):
    """The level of a metric's samples: `--per`."""

    GROUP = "group"
    TOPIC = "topic"
    PARTITION = "partition"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterOptions:
    listen: Annotated[
        str | None,
        option(
            "--listen",
            f"Listen address, {DEFAULT_LISTEN} by default; to listen beyond loopback, set up TLS and a login.",
            "HOST:PORT",
        ),
    ] = None
    textfile: Annotated[
        Path | None,
        option("--textfile", "Write FILE.prom for the node exporter; serve HTTP only with --listen.", "FILE"),
    ] = None
    once: Annotated[bool, option("--once", "Poll once, print the metrics or write --textfile, and exit.")] = (
        False
    )
    interval: Annotated[
        str, option("--interval", "Time between polls; a scrape gets the last poll.", "DURATION")
    ] = "30s"
    match: Annotated[
        str | None, option("--match", "Only groups whose id contains a match of this regex (RE2).", "REGEX")
    ] = None
    match_topic: Annotated[
        str | None,
        option("--match-topic", "Only topics whose name contains a match of this regex (RE2).", "REGEX"),
    ] = None
    per: Annotated[SampleLevel, option("--per", "Finest level at which lag is reported.")] = SampleLevel.TOPIC
    commit_times: Annotated[
        bool, option("--commit-times", "Add times of last commits; each poll reads __consumer_offsets.")
    ] = False
    journal: Annotated[
        Path | None,
        option("--journal", "Add counters from this journal of kohort record: rebalances by cause.", "FILE"),
    ] = None
    max_series: Annotated[
        int, option("--max-series", "Maximum number of series; partitions are left out first.", "N", min=1)
    ] = 250_000
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
