"""What a browser may not have run: commands that read or write files of the server's machine, or reach from there for
another source than the one that is served."""

from collections.abc import Sequence

import typer
import typer.main
from typer.models import TyperPath

from cli.command_tree import Command
from cli.options import CLUSTERS_PANEL, SOURCE_PANEL, TARGET_PANEL

PANELS = frozenset({SOURCE_PANEL, CLUSTERS_PANEL, TARGET_PANEL})


def out_of_reach(words: Sequence[str]) -> str | None:
    """The option, argument or command that keeps a page from running these words, those after `kohort`; None: it may
    run them."""
    from cli.app import app

    command, arguments = typer.main.get_command(app), list(words)
    if arguments[:1] == ["context"]:
        return "context"
    while (commands := getattr(command, "commands", None)) is not None and arguments:
        command = commands.get(arguments.pop(0))
    if not isinstance(command, Command):
        return None
    arguments = command.fill(arguments) if command.fill else arguments
    try:
        values, _, _ = command.make_parser(typer.Context(command)).parse_args(arguments)
    except typer.TyperException:
        return None  # It ends with that error
    for parameter in command.params:
        is_path = isinstance(parameter.type, TyperPath)
        is_confined = is_path or getattr(parameter, "rich_help_panel", None) in PANELS
        is_confined = is_confined or parameter.name == "no_journal"  # What a browser changes leaves a trace
        if is_confined and values.get(parameter.name or "") not in (None, ()):
            return (
                max(parameter.opts, key=len) if parameter.opts[0].startswith("-") else str(parameter.metavar)
            )
    return None
