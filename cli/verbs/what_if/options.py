"""The options of `kohort what-if`."""

from dataclasses import dataclass
from typing import Annotated

from cli.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeOptions:
    """What might have been."""

    protocol: Annotated[
        list[str] | None,
        option("--protocol", "eager, cooperative or consumer; several with commas.", "PROTOCOL,…"),
    ] = None
    set_: Annotated[
        list[str] | None,
        option("--set", "Change a setting of the clients, brokers or group; repeatable.", "NAME=VALUE"),
    ] = None
    static: Annotated[bool, option("--static", "Give each member an instance id, kept at restarts.")] = False
    assignor: Annotated[
        list[str] | None, option("--assignor", "Another assignor; several with commas.", "NAME,…")
    ] = None
    assume: Annotated[
        list[str] | None,
        option(
            "--assume",
            "A setting that the group has, and its log does not contain; repeatable.",
            "NAME=VALUE",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfOptions(AlternativeOptions):
    """What might have been, in which time, and how often it is played."""

    since: Annotated[
        str | None,
        option(
            "--since",
            "From this time on: 2026-03-01T03:00:00Z, milliseconds since 1970, or 2h ago as 2h; "
            "7 days before the end by default.",
            "TIME",
        ),
    ] = None
    until: Annotated[
        str | None, option("--until", "Until this time; by default now, or the end of the log.", "TIME")
    ] = None
    seeds: Annotated[int, option("--seeds", "Number of seeds to play.", "N", min=1, max=10_000)] = 20
    jobs: Annotated[
        int | None, option("--jobs", "Number of processes; by default one per core.", "N", min=1, max=1024)
    ] = None
