"""The errors of the coordinator: one base class, which distinguishes them from bugs."""

from wire.errors import ErrorCode


class CoordinatorError(Exception):
    """The coordinator cannot start, or cannot continue; the message says why and what to do."""


class RequestRefused(Exception):
    """A refused request: it changes nothing, and is answered with its code. A user never sees it unchanged."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or code.name)
        self.code, self.message = code, message


class CannotBeWritten(Exception):
    """A record, or one of its fields, is too large; it was not applied."""


class InvalidSetting(ValueError):
    """A setting that a broker would not start with; says which, and why."""
