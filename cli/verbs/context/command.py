"""`kohort context`: list, show, use, add, remove and rename."""

from typing import Annotated

import typer

from cli.consent import ConsentOptions
from cli.options import OutputOptions
from cli.verbs.context.options import USUAL_PANEL, ContextOptions

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the context.")]


def list_contexts(*, output: OutputOptions) -> None:
    """List contexts, and show which one is current.

    \b
    Examples:
      kohort context list
    """
    from cli.output import emit
    from cli.verbs.context.action import listed

    emit(listed(), output)


def show(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="Name of the context; by default the one in use.", show_default=False
        ),
    ] = None,
    output: OutputOptions,
) -> None:
    """Show the settings of a context.

    Secrets are not shown, only where they are stored and whether they can be read.

    \b
    Examples:
      kohort context show staging
    """
    from cli.output import emit
    from cli.verbs.context.action import shown

    emit(shown(name), output)


def use(
    *,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of the context.", show_default=False)
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="Unset the current context.")] = False,
) -> None:
    """Set the current context.

    Commands that name no source read from the current context.

    \b
    Examples:
      kohort context use staging
      kohort context use --none
    """
    from cli.verbs.context.action import make_current

    make_current(name, none=none)


def add(
    *,
    name: Name,
    options: ContextOptions,
    use: Annotated[
        bool, typer.Option("--use", help="Make it the current context.", rich_help_panel=USUAL_PANEL)
    ] = False,
) -> None:
    """Add a context.

    Writes a new file for it. A secret on the command line is refused: it would stay in the shell's
    history.

    \b
    Examples:
      kohort context add staging -b localhost:9092 --use
      kohort context add prod -b kafka:9093 --command-config prod.properties
    """
    from cli.verbs.context.action import added

    added(name, options, use=use)


def remove(*, name: Name, consent: ConsentOptions, output: OutputOptions) -> None:
    """Remove a context, and the secrets stored for it.

    Shows what would be removed; nothing is removed without --execute. A secret that another context uses is kept.

    \b
    Examples:
      kohort context remove staging --execute
    """
    from dataclasses import replace

    from cli.changing import carry_out
    from cli.consent import check_consent
    from cli.verbs.context.action import plan_removal

    removal = plan_removal(name)
    consent = replace(consent, place=removal.place)
    check_consent(consent)
    carry_out(removal, consent, output)


def rename(*, name: Name, new: Annotated[str, typer.Argument(metavar="NEW", help="New name.")]) -> None:
    """Rename a context.

    If it is the current context, it stays current.

    \b
    Examples:
      kohort context rename staging test
    """
    from cli.verbs.context.action import renamed

    renamed(name, new)
