"""Consent to a change: `--execute`, the question on a terminal, `--yes`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from cli.errors import UsageError
from cli.output import notice

CONSENT_PANEL = "Doing it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentOptions:
    """Whether a change is only shown, or made."""

    execute: Annotated[
        bool,
        typer.Option(
            "--execute",
            help="Make the change that is shown; without it nothing is changed.",
            rich_help_panel=CONSENT_PANEL,
        ),
    ] = False
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", "-y", help="With --execute: do not ask on the terminal.", rich_help_panel=CONSENT_PANEL
        ),
    ] = False


def check_consent(consent: ConsentOptions) -> None:
    """UsageError where nobody could say yes."""
    if consent.yes and not consent.execute:
        raise UsageError("--yes answers the question of --execute; without --execute nothing is changed")
    if consent.execute and not consent.yes and not can_ask():
        raise UsageError("--execute asks before it changes anything, and here is no terminal; add --yes")


def can_ask() -> bool:
    """Whether a person is there to answer."""
    streams = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def ask(question: str) -> bool:
    """Ask on the terminal; only `y` and `yes` are a yes."""
    notice(question)
    print("Type yes to go on: ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        print(file=sys.stderr)  # Ctrl-D leaves the cursor behind the question
    return answer.strip().lower() in ("y", "yes")
