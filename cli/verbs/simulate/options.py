"""Options that `kohort simulate` and `kohort fleet simulate` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Annotated

from cli.errors import UsageError
from cli.options import option


class ProtocolOption(Enum):
    """`--protocol`."""

    AS_WRITTEN = "as-written"
    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"
    ALL = "all"


Protocol = Annotated[
    ProtocolOption, option("--protocol", "Protocol of the members; all compares the last three.")
]
BrokenRule = Annotated[
    str | None, option("--break", "Disable this safety rule, to see which invariant breaks.", "RULE")
]
Limit = Annotated[
    int | None, option("--limit", "Stop a run after this many steps.", "STEPS", min=1, max=2**53)
]


def settings_of(texts: Sequence[str]) -> Mapping[str, str]:
    """The settings of `--set`, with the last value of each name. :raises UsageError: one has no name or no value"""
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"--set {text}: expected NAME=VALUE, such as session.timeout.ms=10000")
        settings[name] = value
    return settings
