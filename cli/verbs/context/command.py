"""`kohort context`: list, show, use, add, remove and rename."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from cli.consent import ConsentOptions
from cli.options import NamedSource, OutputOptions
from cli.render.output_format import OutputFormat

Name = Annotated[str, typer.Argument(metavar="NAME", help="The context.")]
PROPERTIES_PANEL = "How to reach a live cluster"
USUAL_PANEL = "What is usual with it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions(NamedSource):
    """What a context says: its source, how to reach it, and what is usual with it."""

    properties: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="KEY=VALUE",
            help="A client property, instead of a file of them; repeatable; no secrets.",
            rich_help_panel=PROPERTIES_PANEL,
        ),
    ] = None
    secrets: Annotated[
        list[str] | None,
        typer.Option(
            "--secret",
            metavar="KEY",
            help="A property that is asked for on the terminal, or read from a line of standard input, "
            "and kept in a file that only you can read; repeatable.",
            rich_help_panel=PROPERTIES_PANEL,
        ),
    ] = None
    secrets_in_environment: Annotated[
        list[str] | None,
        typer.Option(
            "--secret-env",
            metavar="KEY=VARIABLE",
            help="A property whose value an environment variable has; repeatable.",
            rich_help_panel=PROPERTIES_PANEL,
        ),
    ] = None
    secrets_in_files: Annotated[
        list[str] | None,
        typer.Option(
            "--secret-file",
            metavar="KEY=FILE",
            help="A property whose value is the content of a file; repeatable.",
            rich_help_panel=PROPERTIES_PANEL,
        ),
    ] = None
    timeout_ms: Annotated[
        int | None,
        typer.Option(
            "--timeout",
            metavar="MS",
            min=1,
            help="How long the cluster may take to answer.",
            rich_help_panel=USUAL_PANEL,
        ),
    ] = None
    output: Annotated[
        OutputFormat | None,
        typer.Option("--output", help="How commands print.", rich_help_panel=USUAL_PANEL),
    ] = None
    protected: Annotated[
        bool,
        typer.Option(
            "--protected",
            help="Whatever changes it asks for its name, also with --yes.",
            rich_help_panel=USUAL_PANEL,
        ),
    ] = False


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
