"""Errors that stop a command, with their messages and exit statuses."""

import sys
from enum import IntEnum


class ExitStatus(IntEnum):
    """The exit status of a command."""

    DONE = 0  # The command succeeded, and a check passed
    FALSE = 1  # The command succeeded, and a check failed: a regex is invalid, a gate is closed
    USAGE = 2
    UNREADABLE = 3  # The cluster or a file could not be read, whole or in part
    REFUSED = 4  # The cluster refused
    INTERRUPTED = 130


class CommandError(Exception):
    """Stops a command with a message that contains the subject, the error and the next step."""

    status = ExitStatus.UNREADABLE


class NoGroupFound(CommandError):
    """The source was read, and has no group that is selected."""


class RefusedError(CommandError):
    """The cluster refused the whole request."""

    status = ExitStatus.REFUSED


class UsageError(CommandError):
    """The command line is invalid."""

    status = ExitStatus.USAGE


_ROOTS = (
    ("assignors.errors", "AssignorError"),
    ("wire.errors", "WireError"),
    ("groups.trees", "GroupsError"),
    ("coordinator.errors", "CoordinatorError"),
    ("pipeline.errors", "PipelineError"),
)
"""The base classes of the errors that packages report to users. A class exists only if its module is loaded."""


def is_expected(error: BaseException) -> bool:
    """Whether the message of an error is written for users; any other error is a fault of Kohort."""
    if isinstance(error, CommandError):
        return True
    roots = (getattr(sys.modules.get(module), name, None) for module, name in _ROOTS)
    return any(root is not None and isinstance(error, root) for root in roots)


def fault(error: BaseException, debug: str) -> str:
    """The message of an unexpected error; `debug` is the option that shows where it was raised."""
    return f"an internal error of Kohort: {type(error).__name__}: {error} ({debug} shows where)"


def exit_status(error: BaseException) -> ExitStatus:
    """The status of a CommandError; for others REFUSED if the cluster refused, else UNREADABLE."""
    if isinstance(error, CommandError):
        return error.status
    refused = is_expected(error) and getattr(error, "is_refusal", False)
    return ExitStatus.REFUSED if refused else ExitStatus.UNREADABLE
