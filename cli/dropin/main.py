"""The `kohort-consumer-groups` command: its actions, and the only place that turns its errors into exit statuses."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, NoReturn

from cli.dropin.errors import ToolFailure, ToolUsageError, VersionRequested
from cli.dropin.parse import Action, Options, parse
from cli.dropin.printing import print_error, print_remark, usage
from cli.errors import ExitStatus, exit_status, fault, is_expected

if TYPE_CHECKING:
    from cli.sources.live import LiveSource

KAFKA_VERSION = "4.3.1"
"""The release whose tool this one imitates."""

Run = Callable[[Options, "LiveSource"], int]
"""Carries out an action, prints like the tool, and returns the exit status."""


def action_of(action: Action) -> Run:
    """The function of an action; each process pays for the import of one."""
    match action:
        case Action.LIST:
            from cli.dropin.listing import run
        case Action.DESCRIBE:
            from cli.dropin.describing import run
        case Action.DELETE:
            from cli.dropin.deleting import delete_groups as run
        case Action.RESET_OFFSETS:
            from cli.dropin.resetting import run
        case Action.DELETE_OFFSETS:
            from cli.dropin.deleting import delete_offsets as run
        case Action.VALIDATE_REGEX:
            raise ValueError("needs no cluster")
    return run


def main() -> None:
    """Run the command line of this process; no traceback reaches a user unless KOHORT_DEBUG asks for it."""
    if sys.stdout is None:
        _end(_report("standard output is closed"))
    for stream in (sys.stdout, sys.stderr):
        # Java, too, replaces characters that the terminal's encoding lacks.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        status = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        status = ExitStatus.DONE  # the reader has closed the pipe (`| head`)
        _drop_output()
    except OSError as error:
        status = _report(f"standard output cannot be written: {error.strerror or error}")
        _drop_output()
    except KeyboardInterrupt:
        status = ExitStatus.INTERRUPTED
    _end(status)


def _report(message: str) -> int:
    """Report a failure of standard output; the tool reports none."""
    print_remark(f"Error: {message}")
    return ExitStatus.UNREADABLE


def _drop_output() -> None:
    """Drop the buffered output, which would fail again when Python exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end(status: int) -> NoReturn:
    # A second Ctrl-C while the interpreter exits would change the exit status and print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(int(status))


def run(arguments: Sequence[str]) -> int:
    """Run the command line, and return the exit status."""
    try:
        options = parse(arguments)
        if options.action is Action.VALIDATE_REGEX:
            from cli.dropin.validating import run as validate

            return validate(options)
        from cli.dropin.cluster import open_cluster

        with open_cluster(options) as source:
            return action_of(options.action)(options, source)
    except VersionRequested:
        print(f"{KAFKA_VERSION} (kohort {_own_version()})")
        return ExitStatus.DONE
    except ToolUsageError as error:
        print_remark(f"{error}\n{usage()}")
        return error.status
    except Exception as error:
        if os.environ.get("KOHORT_DEBUG"):
            raise
        reason = str(error) if is_expected(error) else fault(error, "KOHORT_DEBUG=1")
        # If standard output has failed, this fails too, and `main` reports it.
        print_error(f"Executing consumer group command failed due to {reason}")
        if isinstance(error, ToolFailure) and error.reason:
            print_remark(error.reason)
        return exit_status(error)


def _own_version() -> str:
    from importlib.metadata import version

    return version("kohort")
