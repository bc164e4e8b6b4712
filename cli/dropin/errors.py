"""How a run of `kohort-consumer-groups` ends before it is done; cli/dropin/main.py turns these into exit statuses."""

from __future__ import annotations

from cli.errors import ExitStatus

USAGE_STATUS = 1
"""What the tool exits with after it has printed its usage."""


class ToolUsageError(Exception):
    """The command line makes no sense: the message and the usage go to stderr."""


class ToolFailure(Exception):
    """The command failed while it ran: `Error: Executing consumer group command failed due to …` goes to stdout."""

    def __init__(self, message: str, status: int = ExitStatus.UNREADABLE) -> None:
        super().__init__(message)
        self.status = status


class VersionAsked(Exception):
    """`--version`."""
