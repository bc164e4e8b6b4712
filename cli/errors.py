"""What ends a command before it has an answer. Only cli/app.py turns these into an exit status."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """What a script learns from a command."""

    DONE = 0
    """Done, and true."""
    FALSE = 1
    """Done, and false: a regex is invalid, a gate is closed, a plan is blocked."""
    USAGE = 2
    UNREADABLE = 3
    """The cluster or a file could not be read, whole or in part."""
    REFUSED = 4
    """The cluster refused."""
    INTERRUPTED = 130


class CommandError(Exception):
    """Ends a command with a message: what is wrong, with what, and the next step."""

    status = ExitStatus.UNREADABLE


class RefusedError(CommandError):
    """The cluster refused everything that was asked for."""

    status = ExitStatus.REFUSED


class UsageError(CommandError):
    """The command line asks for something that makes no sense."""

    status = ExitStatus.USAGE
