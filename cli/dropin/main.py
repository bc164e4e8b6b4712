"""The `kohort-consumer-groups` command, and how it and the stand-ins for other tools run: the only place that turns
their errors into exit statuses."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TYPE_CHECKING, NoReturn

from cli.dropin.errors import ToolFailure, ToolRefusal, ToolUsageError, VersionRequested
from cli.dropin.parse import OF_THE_DOCUMENT, Action, Options, parse
from cli.dropin.printing import MAY_BE_DONE, Output, print_error, print_remark, usage
from cli.dropin.wording import wording
from cli.errors import ExitStatus, exit_status, fault, is_expected
from cli.stopping import Stop, Stopped, awaiting_answers, status_of_signal

if TYPE_CHECKING:
    from cli.sources.live import LiveSource

Run = Callable[[Options, "LiveSource"], int]
"""Carries out an action, prints like the tool, and returns the exit status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaTool:
    """A command line tool of Kafka. `report` prints why its command failed, `failed` is its exit status then: None for
    that of the error, where the tool itself exits with 0."""

    parse: Callable[[Sequence[str]], Options]
    action_of: Callable[[Options], Run]
    report: Callable[[str], None]
    usage: str | None = None  # The file of its help, if it does not depend on the release
    failed: ExitStatus | None = None


def action_of(options: Options) -> Run:
    """The function of an action; each process pays for the import of one."""
    match options.action:
        case Action.LIST:
            from cli.dropin.describing import run_list as run
        case Action.DESCRIBE:
            from cli.dropin.describing import run_describe as run
        case Action.DELETE:
            from cli.dropin.deleting import run_delete as run
        case Action.RESET_OFFSETS:
            from cli.dropin.resetting import run
        case Action.DELETE_OFFSETS:
            from cli.dropin.deleting import delete_offsets as run
        case Action.VALIDATE_REGEX:
            raise ValueError("needs no cluster")
    return run


def failing(subject: str) -> Callable[[str], None]:
    """The report of a tool for groups of one type."""
    return lambda reason: print_error(f"Executing {subject} command failed due to {reason}")


CONSUMER_GROUPS = KafkaTool(parse=parse, action_of=action_of, report=failing("consumer group"))


def main() -> None:
    run_tool(CONSUMER_GROUPS)


def run_tool(tool: KafkaTool) -> NoReturn:
    """Run the command line of this process; no traceback reaches a user unless KOHORT_DEBUG asks for it."""
    if sys.stdout is None:
        _end(_report("standard output is closed"))
    if isinstance(sys.stderr, TextIOWrapper):
        sys.stderr.reconfigure(errors="replace")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout = Output(sys.stdout.fileno(), sys.stdout.encoding)
    try:
        status = run(sys.argv[1:], tool)
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


def run(arguments: Sequence[str], tool: KafkaTool = CONSUMER_GROUPS) -> int:
    """Run the command line, and return the exit status."""
    stop = Stop()
    try:
        wording()
        options = tool.parse(arguments)
        if options.action is Action.VALIDATE_REGEX:
            from cli.dropin.validating import run_validation as validate

            return validate(options)
        from cli.dropin.cluster import open_cluster

        with open_cluster(options) as source:
            action = tool.action_of(options)
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
        print_remark(f"{error}\n{usage(tool.usage)}{own}")
        return error.status
    except ToolRefusal as refusal:
        print_remark(str(refusal))
        return refusal.status
    except Stopped as stopped:
        print_remark(f"Stopped before all answers came. {MAY_BE_DONE}")
        return status_of_signal(stopped.number)
    except Exception as error:
        if os.environ.get("KOHORT_DEBUG"):
            raise
        reason = str(error) if is_expected(error) else fault(error, "KOHORT_DEBUG=1")
        # If standard output has failed, this fails too, and `main` reports it.
        tool.report(reason)
        if isinstance(error, ToolFailure) and error.reason:
            print_remark(error.reason)
        return tool.failed or exit_status(error) if stop.status is None else stop.status
