"""What a user learns of an exception: the message of Kohort's own errors; every other is called an internal error."""

from importlib import import_module

import pytest

from assignors.errors import AssignorFailedError
from cli.dropin.errors import ToolFailure, ToolUsageError
from cli.errors import (
    _ROOTS,
    CommandError,
    ExitStatus,
    RefusedError,
    UsageError,
    exit_status,
    fault,
    is_expected,
)
from coordinator.errors import CannotBeWritten
from coordinator.server.listener import CannotListen
from groups.regex.broker import InvalidRegexError
from groups.regex.program import UnsureError
from pipeline.jvm import MissingSpark
from tests.cli.command import Answer
from wire.client.address import Address
from wire.client.errors import AuthenticationFailed, Unreachable
from wire.log.errors import DamagedLog, StorageError
from wire.messages.reader import DecodeError

CANNOT_LISTEN = CannotListen(Address("127.0.0.1", 9092), OSError("port taken"))
EXPECTED = (
    AssignorFailedError("no owner"),
    CANNOT_LISTEN,
    CommandError("not found"),
    DamagedLog("0.log", 7, "cut off"),
    InvalidRegexError("(", "missing )", 0),
    MissingSpark("no Java"),
    StorageError("in use"),
    ToolFailure("timed out"),
    Unreachable("b:9092", "refused"),
)
FAULTS = (
    CannotBeWritten("too long"),
    KeyError("orders"),
    DecodeError("cut"),
    OSError(13, ""),
    UnsureError("x"),
)
"""Builtin errors, and signals of the product's own modules that their callers are to catch."""
STATUSES = (
    (AuthenticationFailed("refused"), ExitStatus.REFUSED),
    (RefusedError("refused"), ExitStatus.REFUSED),
    (UsageError("two groups"), ExitStatus.USAGE),
    (ToolUsageError("no action"), ExitStatus.FALSE),
    (ToolFailure("not empty", ExitStatus.REFUSED), ExitStatus.REFUSED),
    (Unreachable("b:9092", "refused"), ExitStatus.UNREADABLE),
    (CANNOT_LISTEN, ExitStatus.UNREADABLE),
    (ZeroDivisionError("division by zero"), ExitStatus.UNREADABLE),
)


def _name(error: object) -> str:
    return error.name if isinstance(error, ExitStatus) else type(error).__name__


def test_own_errors_are_expected_and_others_are_faults() -> None:
    assert [error for error in EXPECTED if not is_expected(error)] == []
    assert [error for error in FAULTS if is_expected(error)] == []
    said = fault(ZeroDivisionError("division by zero"), "--debug")
    assert said == "an internal error of Kohort: ZeroDivisionError: division by zero (--debug shows where)"
    assert Answer(status=3, stdout="", stderr=said).traceback


@pytest.mark.parametrize(("error", "status"), STATUSES, ids=_name)
def test_each_error_has_its_exit_status(error: Exception, status: ExitStatus) -> None:
    assert exit_status(error) is status


@pytest.mark.parametrize(("module", "name"), _ROOTS)
def test_every_package_has_the_root_that_the_table_names(module: str, name: str) -> None:
    assert issubclass(getattr(import_module(module), name), Exception)


def test_a_refusal_has_its_status_by_attribute_not_by_name() -> None:
    class AuthenticationFailed(Exception):
        """Of another library, by chance of the same name."""

    assert exit_status(AuthenticationFailed()) is ExitStatus.UNREADABLE
