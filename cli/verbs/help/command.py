"""`kohort help`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from cli.options import option


class HelpFormat(Enum):
    """How a text is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def help_(
    *,
    context: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TOPIC]…", help="A topic, a term of the glossary, or the words of a command."
        ),
    ] = None,
    output: Annotated[HelpFormat, option("--output", "How to print a topic.")] = HelpFormat.TEXT,
) -> None:
    """Explain a concept, or show the help of a command.

    Without a topic, lists the topics.

    \b
    Examples:
      kohort help lag
      kohort help offsets reset
    """
    from cli.output import write_out
    from cli.verbs.help.action import explanation

    text = explanation(context, topic or [], output.value)
    write_out(lambda out: out.write(text))
