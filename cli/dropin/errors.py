"""Exceptions that stop `kohort-consumer-groups`; cli/dropin/main.py turns them into exit statuses."""

from __future__ import annotations

from cli.errors import CommandError, ExitStatus

USAGE_STATUS = ExitStatus.FALSE
"""The tool's exit status after its usage."""


class ToolUsageError(CommandError):
    """The command line is invalid: the message and the usage go to stderr."""

    status = USAGE_STATUS


class ToolFailure(CommandError):
    """The command failed while it ran: `Error: Executing consumer group command failed due to …` goes to stdout.

    `reason` goes to stderr: details that the tool prints only in its stack trace.
    """

    def __init__(self, message: str, status: ExitStatus = ExitStatus.UNREADABLE, *, reason: str = "") -> None:
        super().__init__(message)
        self.status, self.reason = status, reason


class BadValue(ToolFailure):
    """A value of the command line is invalid, which the tool detects only while it runs."""

    def __init__(self, message: str) -> None:
        super().__init__(message, USAGE_STATUS)


class VersionRequested(Exception):
    """`--version`."""
