"""docs/reference.md is generated from the commands; KOHORT_WRITE_GOLDEN=1 writes it."""

import inspect
import os
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from cli.command_tree import summary
from cli.commands import SECTIONS
from cli.options import OUTPUT_PANEL, SOURCE_PANEL
from tests.cli.command import commands
from tests.docs.pages import DOCS

PAGE = DOCS / "reference.md"
SCHEMAS = DOCS / "schemas"
HEAD = """# Commands

Written from the commands themselves by `tests/docs/test_reference.py`; do not edit. `kohort COMMAND --help` prints the
same. [Scripting](scripting.md) describes standard output, standard error and the exit status.
"""

SHARED = {SOURCE_PANEL: "--context", OUTPUT_PANEL: "--columns"}
"""Panels that are in the page once, and the option by which a command is known to have all options of the panel."""


def reference() -> str:
    every = commands()
    sections = "".join(_section(name, command) for name, command in every.items())
    shared = "".join(_shared_panel(panel, every) for panel in SHARED)
    return f"{HEAD}{_index(every)}{shared}{sections}"


def _index(every: Mapping[str, Any]) -> str:
    text = ""
    for heading, first_words in SECTIONS.items():
        text += f"\n**{heading}**\n\n| command | what it does |\n| --- | --- |\n"
        for word in first_words:
            for name, command in every.items():
                if name.split()[0] == word:
                    text += f"| [`{name}`](#kohort-{name.replace(' ', '-')}) | {summary(command)} |\n"
    return text


def _section(name: str, command: Any) -> str:
    context = _context(name, command)
    usage = " ".join([f"kohort {name}", *command.collect_usage_pieces(context)])
    paragraphs = "\n\n".join(_paragraph(part) for part in inspect.cleandoc(command.help).split("\n\n"))
    text = f"\n## kohort {name}\n\n```text\n{usage}\n```\n\n{paragraphs}\n"
    schema = SCHEMAS / f"{name.replace(' ', '-')}.json"
    if schema.exists():
        text += f"\n`--output json`: [{schema.name}](schemas/{schema.name}).\n"
    panels = [panel for panel in SHARED if _has(command, panel)]
    text += _table([param for param in command.params if _panel(param) not in panels], context)
    if panels:
        links = [f"[{panel.lower()}](#{panel.lower().replace(' ', '-')})" for panel in panels]
        text += f"\nAnd the options of {' and '.join(links)}.\n"
    return text


def _paragraph(text: str) -> str:
    """As typer shows it: lines after a \\b stay as they are."""
    if text.startswith("\b"):
        return f"```text\n{textwrap.dedent(text[1:].strip(chr(10)))}\n```"
    return " ".join(text.split())


def _shared_panel(panel: str, every: Mapping[str, Any]) -> str:
    """The options of a panel, once; every command that has them has all of them."""
    tables = {
        _table([param for param in command.params if _panel(param) == panel], _context(name, command))
        for name, command in every.items()
        if _has(command, panel)
    }
    (table,) = tables
    return f"\n## {panel}\n{table}"


def _context(name: str, command: Any) -> Any:
    return command.context_class(command, info_name=f"kohort {name}")


def _has(command: Any, panel: str) -> bool:
    """Whether it has all options of a shared panel; what adds a context has no --context."""
    return any(SHARED[panel] in param.opts and _panel(param) == panel for param in command.params)


def _panel(parameter: Any) -> str | None:
    panel: str | None = getattr(parameter, "rich_help_panel", None)
    return panel


def _table(parameters: Iterable[Any], context: Any) -> str:
    records = [parameter.get_help_record(context) for parameter in parameters]
    rows = [
        f"| `{_cell(name)}` | {_cell(' '.join(text.split()))} |\n"
        for name, text in (record for record in records if record is not None)
    ]
    return "\n| | |\n| --- | --- |\n" + "".join(rows) if rows else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def test_the_reference_is_current() -> None:
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        PAGE.write_text(reference())
    assert PAGE.read_text() == reference()
