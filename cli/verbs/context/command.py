"""`kohort context`: list, show, use, add, remove and rename."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.consent import ConsentOptions
from cli.options import OutputOptions
from cli.verbs.context.options import USUAL_PANEL, ContextOptions

Name = Annotated[str, typer.Argument(metavar="NAME", help="The context.")]


def list_contexts(*, output: OutputOptions) -> None:
    """List the contexts of the configuration file, and say which one is in use."""
    from cli.output import emit
    from cli.verbs.context.action import listed

    emit(listed(), output)


def show(
    *,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="The context; the one in use unless told.", show_default=False),
    ] = None,
    output: OutputOptions,
) -> None:
    """Show what a context says. Secrets are not shown, but where they are kept and whether they can be had."""
    from cli.output import emit
    from cli.verbs.context.action import shown

    emit(shown(name), output)


def use(
    *,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The context.", show_default=False)
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="Let none be the current one.")] = False,
) -> None:
    """Make a context the current one: the source of every command that names no other."""
    from cli.errors import UsageError
    from cli.verbs.context.action import make_current

    if (name is None) is not none:
        raise UsageError("name the context, or give --none; one of these")
    make_current(name)


def add(
    *,
    name: Name,
    options: ContextOptions,
    use: Annotated[
        bool, typer.Option("--use", help="Make it the current one.", rich_help_panel=USUAL_PANEL)
    ] = False,
) -> None:
    """Add a context to the configuration file, which is made where there is none.

    A secret on the command line is refused: it would stay in the shell's history.
    """
    from cli.verbs.context.action import added

    added(name, options, use=use)


def remove(*, name: Name, consent: ConsentOptions, output: OutputOptions) -> None:
    """Remove a context from the configuration file, with the secrets that are kept for it alone.

    Shows what would go; nothing is removed without --execute.
    """
    from dataclasses import replace

    from cli.changing import carry_out
    from cli.consent import check_consent
    from cli.verbs.context.action import plan_removal

    removal = plan_removal(name)
    consent = replace(consent, place=removal.place)
    check_consent(consent)
    carry_out(removal, consent, output)


def rename(*, name: Name, new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")]) -> None:
    """Call a context otherwise; it stays the current one where it was."""
    from cli.verbs.context.action import renamed

    renamed(name, new)
