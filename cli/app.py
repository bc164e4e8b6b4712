"""The `kohort` command: its verbs, and the one place that turns an exception into an exit status."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from typing import Annotated

import typer

from cli.errors import CommandError, ExitStatus, exit_status, fault, is_expected
from cli.lazy import Build, family, lazy_group, verb

COMMANDS = {
    "list": "cli.verbs.list:list_groups",
    "describe": "cli.verbs.describe.command:describe",
    "validate-regex": "cli.verbs.validate_regex.command:validate_regex",
    "dry-run": "cli.verbs.dry_run.command:dry_run",
    "plan": "cli.verbs.plan.command:plan",
    "gate": "cli.verbs.gate.command:gate",
    "delete": "cli.verbs.delete.command:delete",
    "snapshot": "cli.verbs.snapshot:snapshot",
    "serve": "cli.verbs.serve.command:serve",
    "demo": "cli.verbs.demo.command:demo",
    "watch": "cli.verbs.watch.command:watch",
    "completion": "cli.verbs.completion.command:completion",
    "help": "cli.verbs.help.command:help_",
}
"""Where the function of each command is."""
OWN_PARSERS = {"gate": "cli.verbs.gate.command:WithWait"}
"""Commands whose options typer alone cannot read."""
FAMILIES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "fleet": (
        "Look at thousands of groups or months of history, with Spark: history, follow, audit.",
        {
            "history": "cli.verbs.fleet.command:fleet_history",
            "follow": "cli.verbs.fleet.command:fleet_follow",
            "audit": "cli.verbs.fleet.command:fleet_audit",
        },
    ),
    "log": (
        "Look into a broker's own log of groups and offsets.",
        {"dump": "cli.verbs.log_dump.command:log_dump", "verify": "cli.verbs.log_verify.command:log_verify"},
    ),
    "offsets": (
        "Look after committed offsets: reset, export, import, clone, delete.",
        {
            "reset": "cli.verbs.offsets.reset:reset",
            "export": "cli.verbs.offsets.export:export",
            "import": "cli.verbs.offsets.load:load",
            "clone": "cli.verbs.offsets.clone:clone",
            "delete": "cli.verbs.offsets.delete:delete",
        },
    ),
    "config": (
        "Look after the settings of groups: get, set, unset.",
        {
            "get": "cli.verbs.config.command:get",
            "set": "cli.verbs.config.command:set_",
            "unset": "cli.verbs.config.command:unset",
        },
    ),
    "context": (
        "Look after contexts, names for sources: list, show, use, add, remove, rename.",
        {
            "list": "cli.verbs.context.command:list_contexts",
            "show": "cli.verbs.context.command:show",
            "use": "cli.verbs.context.command:use",
            "add": "cli.verbs.context.command:add",
            "remove": "cli.verbs.context.command:remove",
            "rename": "cli.verbs.context.command:rename",
        },
    ),
}
"""Commands of two words: what the first stands for, and what may follow it."""


def _builds() -> dict[str, Build]:
    single = {name: verb(name, target, parser=OWN_PARSERS.get(name)) for name, target in COMMANDS.items()}
    double = {
        first: family(first, purpose, {name: verb(name, target) for name, target in verbs.items()})
        for first, (purpose, verbs) in FAMILIES.items()
    }
    return single | double


app = typer.Typer(
    name="kohort",
    cls=lazy_group(_builds()),
    help="See, check, dry-run and plan Kafka consumer groups.",
    no_args_is_help=True,
    add_completion=False,  # `kohort completion` has scripts of its own, which know the names of groups
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich's help costs as much as all of typer
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    try:
        app()
    except KeyboardInterrupt:
        status: int = ExitStatus.INTERRUPTED
    except Exception as error:
        if os.environ.get("KOHORT_DEBUG"):
            raise
        from cli.output import notice

        reason = _unprinted(error) or error
        status = exit_status(reason)
        notice(str(reason) if is_expected(reason) else f"this is {fault(reason, '--debug')}")
    else:
        status = ExitStatus.DONE
    finally:
        # A second Ctrl-C while the interpreter ends would change the exit status and print a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def _unprinted(error: Exception) -> CommandError | None:
    """What is wrong with standard output, where help or a version could not be printed and is still in its buffer."""
    if isinstance(error, OSError):
        from cli.output import write_out

        try:
            write_out(lambda _: None)
        except CommandError as refusal:
            return refusal
    return None
