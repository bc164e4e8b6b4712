"""Options of `kohort simulate` that `kohort fleet simulate` has too."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from cli.options import option


class ProtocolOption(Enum):
    """`--protocol`."""

    AS_WRITTEN = "as-written"
    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"
    ALL = "all"


Protocol = Annotated[
    ProtocolOption, option("--protocol", "What the members speak; all compares the last three.")
]
BrokenRule = Annotated[
    str | None, option("--break", "Switch this safety rule off, to see which invariant falls.", "RULE")
]
Limit = Annotated[int | None, option("--limit", "Stop a run after so many steps.", "STEPS", min=1, max=2**53)]
