"""The conditions of a rule, as options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cli.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOptions:
    """The requests of a rule, which match all given options, and its duration."""

    api: Annotated[
        list[str] | None, option("--api", "Only this API, such as Heartbeat; repeatable.", "NAME")
    ] = None
    client: Annotated[
        str | None, option("--client", "Only requests of this client id; * and ? as in a shell.", "ID")
    ] = None
    group: Annotated[str | None, option("--group", "Only requests that name this group.", "GROUP")] = None
    topic: Annotated[str | None, option("--topic", "Only requests that name this topic.", "TOPIC")] = None
    member: Annotated[str | None, option("--member", "Only requests that name this member id.", "MEMBER")] = (
        None
    )
    times: Annotated[int | None, option("--times", "Only the first N requests.", "N", min=1)] = None
    for_: Annotated[
        str | None, option("--for", "Only for this long: 30s, 500ms, 1m; otherwise until cleared.", "TIME")
    ] = None
    chance: Annotated[
        float | None,
        option("--chance", "Only this fraction of the requests, from 0 to 1.", "0.1", min=0, max=1),
    ] = None
    seed: Annotated[int | None, option("--seed", "Seed of the random choice of --chance.", "N", min=0)] = None
