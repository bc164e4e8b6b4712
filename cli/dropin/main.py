"""The `kohort-consumer-groups` command: its actions, and the only place that turns its errors into exit statuses."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, NoReturn

from cli.dropin.errors import ToolFailure, ToolUsageError, VersionRequested
from cli.dropin.parse import OF_THE_DOCUMENT, Action, Options, parse
from cli.dropin.printing import MAY_BE_DONE, Output, print_error, print_remark, usage
from cli.dropin.wording import wording
from cli.errors import ExitStatus, exit_status, fault, is_expected
from cli.stopping import Stop, Stopped, awaiting_answers, status_of_signal

if TYPE_CHECKING:
    from cli.sources.live import LiveSource

Run = Callable[[Options, "LiveSource"], int]
"""Carries out an action, prints like the tool, and returns the exit status."""


def action_of(action: Action) -> Run:
    """The function of an action; each process pays for the import of one."""
    match action:
        case Action.LIST:
            from cli.dropin.describing import run_list as run
        case Action.DESCRIBE:
            from cli.dropin.describing import run_describe as run
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
    if isinstance(sys.stderr, TextIOWrapper):
        sys.stderr.reconfigure(errors="replace")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout = Output(sys.stdout.fileno(), sys.stdout.encoding)
    try:
        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = ExitStatus.INTERRUPTED
    error = sys.stdout.finish() if isinstance(sys.stdout, Output) else None
    if error is not None and not isinstance(error, BrokenPipeError):  # `| head` has read enough
        status = _report(f"standard output cannot be written: {error.strerror or error}")
    _end(status)


def _report(message: str) -> int:
    """Report a failure of standard output; the tool reports none."""
    print_remark(f"Error: {message}")
    return ExitStatus.UNREADABLE


def _end(status: int) -> NoReturn:
    # A second Ctrl-C while the interpreter exits would change the exit status and print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(int(status))


def run(arguments: Sequence[str]) -> int:
    """Run the command line, and return the exit status."""
    stop = Stop()
    try:
        wording()
        options = parse(arguments)
        if options.action is Action.VALIDATE_REGEX:
            from cli.dropin.validating import run_validation as validate

            return validate(options)
        from cli.dropin.cluster import open_cluster

        with open_cluster(options) as source:
            action = action_of(options.action)
            if not options.changes:
                return action(options, source)
            if isinstance(sys.stdout, Output):
                sys.stdout.keep()
            with awaiting_answers(print_remark) as stop:
                status = action(options, source)
            return status if stop.status is None else stop.status
    except VersionRequested:
        from importlib.metadata import version

        print(f"{wording().release} (kohort {version('kohort')})")
        return ExitStatus.DONE
    except ToolUsageError as error:
        own = f"\n{OF_THE_DOCUMENT}" if str(error) == wording().purpose else ""
        print_remark(f"{error}\n{usage()}{own}")
        return error.status
    except Stopped as stopped:
        print_remark(f"Stopped before all answers came. {MAY_BE_DONE}")
        return status_of_signal(stopped.number)
    except Exception as error:
        if os.environ.get("KOHORT_DEBUG"):
            raise
        reason = str(error) if is_expected(error) else fault(error, "KOHORT_DEBUG=1")
        # If standard output has failed, this fails too, and `main` reports it.
        print_error(f"Executing consumer group command failed due to {reason}")
        if isinstance(error, ToolFailure) and error.reason:
            print_remark(error.reason)
        return exit_status(error) if stop.status is None else stop.status
