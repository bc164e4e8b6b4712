"""The `kohort` command: its verbs, and the one place that turns an exception into an exit status."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from cli.commands import (
    config,
    delete,
    demo,
    describe,
    dry_run,
    gate,
    listing,
    log_dump,
    log_verify,
    plan,
    serve,
    snapshot,
    validate_regex,
)
from cli.commands.offsets import clone, export, load, reset
from cli.commands.offsets import delete as offsets_delete
from cli.errors import CommandError, ExitStatus
from cli.options import expand

app = typer.Typer(
    name="kohort",
    help="See, check, dry-run and plan Kafka consumer groups.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich's help costs as much as all of typer
    context_settings={"help_option_names": ["-h", "--help"]},
)
OWN_PARSERS = {"gate": gate.WithWait}
"""Commands whose options typer alone cannot read."""
for name, verb in (
    ("list", listing.list_groups),
    ("describe", describe.describe),
    ("validate-regex", validate_regex.validate_regex),
    ("dry-run", dry_run.dry_run),
    ("plan", plan.plan),
    ("gate", gate.gate),
    ("delete", delete.delete),
    ("snapshot", snapshot.snapshot),
    ("serve", serve.serve),
    ("demo", demo.demo),
):
    app.command(name, cls=OWN_PARSERS.get(name))(expand(verb))

FAMILIES: Mapping[str, tuple[str, Mapping[str, Callable[..., None]]]] = {
    "log": (
        "Look into a broker's own log of groups and offsets.",
        {"dump": log_dump.log_dump, "verify": log_verify.log_verify},
    ),
    "offsets": (
        "Look after committed offsets: reset, export, import, clone, delete.",
        {
            "reset": reset.reset,
            "export": export.export,
            "import": load.load,
            "clone": clone.clone,
            "delete": offsets_delete.delete,
        },
    ),
    "config": (
        "Look after the settings of groups: get, set, unset.",
        {"get": config.get, "set": config.set_, "unset": config.unset},
    ),
}
"""Commands of two words: what the first stands for, and what may follow it."""
for family, (purpose, verbs) in FAMILIES.items():
    commands = typer.Typer(name=family, help=purpose, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(commands)
    for member, command in verbs.items():
        commands.command(member)(expand(command))


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"kohort {version('kohort')}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    if debug:
        os.environ["KOHORT_DEBUG"] = "1"


def main() -> None:
    """Run a command; no traceback reaches a user unless --debug asks for it."""
    # Commands build large trees without cycles and end: looking for cycles costs a fifth of their time.
    gc.set_threshold(200_000, 50, 50)
    try:
        app()
    except KeyboardInterrupt:
        status: int = ExitStatus.INTERRUPTED
    except Exception as error:
        if os.environ.get("KOHORT_DEBUG"):
            raise
        status = _status_of(error)
        from cli.output import notice

        notice(_message_of(error))
    else:
        status = ExitStatus.DONE
    finally:
        # A second Ctrl-C while the interpreter ends would change the exit status and print a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def _status_of(error: Exception) -> ExitStatus:
    if isinstance(error, CommandError):
        return error.status
    name = type(error).__name__
    return ExitStatus.REFUSED if name == "AuthenticationFailed" else ExitStatus.UNREADABLE


def _message_of(error: Exception) -> str:
    known = isinstance(error, CommandError) or type(error).__module__.partition(".")[0] in (
        "assignors", "cli", "coordinator", "migration",
    )  # fmt: skip
    if known:
        return str(error)
    return f"this is a fault of Kohort: {type(error).__name__}: {error} (--debug shows where)"
