"""The texts in which the tools of two releases differ. KOHORT_TOOL_RELEASE=4.3.1 chooses the older ones, for scripts
that compare them."""

import os
from dataclasses import dataclass

from cli.errors import UsageError

VARIABLE = "KOHORT_TOOL_RELEASE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The texts of a release. `usage` is a file; `end` ends two messages; `logger` is the class that warns; `malformed`
    is an assignment's error."""

    release: str
    purpose: str
    usage: str
    end: str
    logger: str
    malformed: str


NEWEST = Wording(
    release="4.4.0",
    purpose="This tool helps to list, describe, delete and manage the offsets of consumer groups.",
    usage="usage.txt",
    end=".",
    logger="org.apache.kafka.tools.GroupOffsetsResetter",
    malformed="Malformed consumer protocol assignment",
)
WORDINGS = {
    NEWEST.release: NEWEST,
    "4.3.1": Wording(
        release="4.3.1",
        purpose="This tool helps to list all consumer groups, describe a consumer group, delete consumer group info, "
        "or reset consumer group offsets.",
        usage="usage-4.3.1.txt",
        end="",
        logger="org.apache.kafka.tools.OffsetsUtils",
        malformed="Buffer underflow while parsing consumer protocol's assignment",
    ),
}
"""By release."""


def wording() -> Wording:
    """The texts of the chosen release. Raises UsageError: it is not known."""
    release = os.environ.get(VARIABLE) or NEWEST.release
    if release not in WORDINGS:
        raise UsageError(f"{VARIABLE} must be one of {', '.join(sorted(WORDINGS))}, not {release!r}")
    return WORDINGS[release]
