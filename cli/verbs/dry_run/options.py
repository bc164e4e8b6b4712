"""The options of `kohort dry-run` for hypothetical changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cli.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfOptions:
    add: Annotated[int, option("--add", "As if N members joined.", "N", min=0)] = 0
    remove: Annotated[
        list[str] | None,
        option("--remove", "As if this member left (member, instance or client id).", "MEMBER"),
    ] = None
    subscribe: Annotated[
        list[str] | None,
        option("--subscribe", "As if this member subscribed to these topics.", "MEMBER=TOPIC,…"),
    ] = None
    topic_partitions: Annotated[
        list[str] | None, option("--topic-partitions", "As if this topic had N partitions.", "TOPIC=N")
    ] = None
    rack: Annotated[
        list[str] | None, option("--rack", "As if this member were in this rack.", "MEMBER=RACK")
    ] = None
    fail_rack: Annotated[
        list[str] | None,
        option("--fail-rack", "As if this rack failed, with its members and replicas.", "RACK"),
    ] = None
