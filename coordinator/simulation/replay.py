"""The command that replays a seed on one machine, with its story."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from coordinator.simulation.run import LIMIT
from coordinator.simulation.scenario import Variant


def replay_command(
    called: str,
    seed: int,
    *,
    variant: Variant,
    limit: int = LIMIT,
    settings: Mapping[str, str] | None = None,
    break_rule: str | None = None,
) -> str:
    """The command for a shell; `called` is the scenario as in `kohort simulate`, the rest are its parameters."""
    words = ["kohort", "simulate", called, "--seed", str(seed)]
    if variant is not Variant.AS_WRITTEN:
        words += ["--protocol", variant.value]
    for name, value in (settings or {}).items():
        words += ["--set", f"{name}={value}"]
    if break_rule is not None:
        words += ["--break", break_rule]
    if limit != LIMIT:
        words += ["--limit", str(limit)]
    return shlex.join([*words, "--story"])
