"""The errors of the coordinator: one root, so that whoever runs it knows an error of ours from a bug."""

from __future__ import annotations

from wire.errors import ErrorCode


class CoordinatorError(Exception):
    """The coordinator cannot start, or cannot continue; the message says why and what to do."""


class RequestRefused(Exception):
    """A request that is refused: changes nothing, and is answered with its code. It never reaches a user as it is."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or code.name)
        self.code, self.message = code, message


class CannotBeWritten(Exception):
    """A record has no room for what it is to say; it has not become true."""


class InvalidSetting(ValueError):
    """A setting that a broker would not start with; says which, and why."""
