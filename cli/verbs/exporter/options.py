"""The options of `kohort exporter`."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

from cli.options import option
from cli.web_guard_options import GuardOptions

DEFAULT_LISTEN = "127.0.0.1:9408"


class SampleLevel(Enum):
    """The level of a metric's samples: `--per`."""

    GROUP = "group"
    TOPIC = "topic"
    PARTITION = "partition"


class OwnerName(Enum):
    """What names the owner of a partition: `--owner`."""

    CLIENT_ID = "client-id"
    HOST = "host"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterOptions(GuardOptions):
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
    owner: Annotated[
        OwnerName | None,
        option("--owner", "With --per partition: add a label owner, the client id or host of its member."),
    ] = None
    owner_limit: Annotated[
        int, option("--owner-limit", "Maximum number of owners; the label of others is other.", "N", min=1)
    ] = 1_000
    max_series: Annotated[
        int, option("--max-series", "Maximum number of series; partitions are left out first.", "N", min=1)
    ] = 250_000
