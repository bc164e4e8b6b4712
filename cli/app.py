"""The entry point of the `kohort` command, and the only place that chooses its exit status."""

import codecs
import os
import signal
import sys
from io import TextIOWrapper
from typing import Annotated, NoReturn

import typer

from cli.command_tree import root_group
from cli.errors import CommandError, ExitStatus, exit_status, fault, is_expected
from cli.options import color_option
from cli.render.color import Color, choose_color

OVERVIEW = """\
Kohort inspects Kafka consumer groups, and plans and checks changes to them.

  See who is stuck       kohort diagnose --all-groups -b HOST:PORT
  Preview a rebalance    kohort dry-run GROUP --compare -b HOST:PORT
  Check a regex          kohort validate-regex '^orders-.*' -b HOST:PORT
  Plan a migration       kohort plan GROUP --to consumer -b HOST:PORT
  Analyze a fleet        kohort plan --all-groups --to consumer -b HOST:PORT

`kohort top -b HOST:PORT` shows groups in full screen, live or in the past.
`kohort demo` creates a sample fleet: then the same commands work without -b.
`kohort --help` lists all commands, `kohort help` explains concepts.
"""
"""The text that `kohort` prints without arguments."""

app = typer.Typer(
    name="kohort",
    cls=root_group(OVERVIEW),
    help="Inspect Kafka consumer groups, and plan and check changes to them.",
    add_completion=False,  # `kohort completion` has its own scripts, which know the names of groups
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich's help costs as much as all of typer
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        typer.echo(f"kohort {version('kohort')}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    color: Annotated[Color | None, color_option()] = None,
) -> None:
    choose_color(color)
    if debug:
        os.environ["KOHORT_DEBUG"] = "1"


def main() -> None:
    """Answer a shell that completes a command line, or run a command."""
    codecs.register_error("escaped", _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="escaped")
    if "_KOHORT_COMPLETE" in os.environ:
        from cli.verbs.completion.answer import main as answer

        answer(app)
    try:
        run_command()
    except SystemExit as end:
        _exit(end)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Characters that the encoding of a stream lacks, as in JSON: \\u20ac."""
    import json

    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def run_command() -> NoReturn:
    """Run a command; a traceback is printed only with --debug."""
    try:
        status: int = app(standalone_mode=False) or ExitStatus.DONE
    except KeyboardInterrupt:
        status = ExitStatus.INTERRUPTED
    except typer.TyperException as error:
        from cli.output import notice
        from cli.usage_errors import usage_error

        status = error.exit_code
        notice(usage_error(error))
    except Exception as error:
        if os.environ.get("KOHORT_DEBUG"):
            raise
        from cli.output import notice

        reason = _output_error(error) or error
        status = exit_status(reason)
        notice(str(reason) if is_expected(reason) else f"this is {fault(reason, '--debug')}")
    finally:
        # A second Ctrl-C while the interpreter exits would change the exit status and print a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def _output_error(error: Exception) -> CommandError | None:
    """The error of standard output, if help or a version could not be printed and is still in its buffer."""
    if isinstance(error, OSError):
        from cli.output import write_out

        try:
            write_out(lambda _: None)
        except CommandError as refusal:
            return refusal
    return None


def _exit(end: SystemExit) -> None:
    """Exit at once, without freeing a hundred thousand objects one by one, unless a stream cannot be flushed."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        raise end from None
    if not isinstance(end.code, int):
        raise end
    os._exit(end.code)
