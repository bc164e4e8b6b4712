"""docs/reference.md is what the commands say of themselves; KOHORT_WRITE_GOLDEN=1 writes it anew."""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from cli.options import SOURCE_PANEL
from tests.cli.command import commands
from tests.docs.pages import DOCS

PAGE = DOCS / "reference.md"
SCHEMAS = DOCS / "schemas"
HEAD = """# Commands

Written from the commands themselves by `tests/docs/test_reference.py`; do not edit. `kohort COMMAND --help` prints the
same. [Scripting](scripting.md) describes standard output, standard error and the exit status.
"""


def reference() -> str:
    """The whole page."""
    every = commands()
    index = "".join(
        f"| [`{name}`](#kohort-{name.replace(' ', '-')}) | {_summary(command)} |\n"
        for name, command in every.items()
    )
    sections = "".join(_section(name, command) for name, command in every.items())
    return f"{HEAD}\n| command | what it does |\n| --- | --- |\n{index}{_sources(every)}{sections}"


def _summary(command: Any) -> str:
    paragraph: str = command.help.strip().partition("\n\n")[0]
    return " ".join(paragraph.split())


def _section(name: str, command: Any) -> str:
    context = _context(name, command)
    usage = " ".join([f"kohort {name}", *command.collect_usage_pieces(context)])
    told = "\n\n".join(_paragraph(part) for part in inspect.cleandoc(command.help).split("\n\n"))
    text = f"\n## kohort {name}\n\n```text\n{usage}\n```\n\n{told}\n"
    schema = SCHEMAS / f"{name.replace(' ', '-')}.json"
    if schema.exists():
        text += f"\n`--output json`: [{schema.name}](schemas/{schema.name}).\n"
    own = _own(command)
    text += _table(own, context)
    if len(own) < len(command.params):
        text += f"\nAnd the options of [{SOURCE_PANEL.lower()}](#{SOURCE_PANEL.lower().replace(' ', '-')}).\n"
    return text


def _paragraph(text: str) -> str:
    """As typer shows it: lines behind a \\b stay as they are."""
    if text.startswith("\b"):
        return f"```text\n{textwrap.dedent(text[1:].strip(chr(10)))}\n```"
    return " ".join(text.split())


def _sources(every: Mapping[str, Any]) -> str:
    """The options that name a source, once; every command that has them has all of them."""
    tables = {
        _table([each for each in command.params if each not in _own(command)], _context(name, command))
        for name, command in every.items()
    }
    (table,) = tables - {""}
    return f"\n## {SOURCE_PANEL}\n{table}"


def _context(name: str, command: Any) -> Any:
    return command.context_class(command, info_name=f"kohort {name}")


def _own(command: Any) -> list[Any]:
    """Its parameters but for those of a source, where it has all of these; what adds a context has no --context."""
    if not any("--context" in each.opts for each in command.params):
        return list(command.params)
    return [each for each in command.params if not _names_source(each)]


def _names_source(parameter: Any) -> bool:
    return getattr(parameter, "rich_help_panel", None) == SOURCE_PANEL


def _table(parameters: Iterable[Any], context: Any) -> str:
    records = [parameter.get_help_record(context) for parameter in parameters]
    rows = [
        f"| `{_cell(name)}` | {_cell(' '.join(told.split()))} |\n"
        for name, told in (record for record in records if record is not None)
    ]
    return "\n| | |\n| --- | --- |\n" + "".join(rows) if rows else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def test_the_reference_is_current() -> None:
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        PAGE.write_text(reference())
    assert PAGE.read_text() == reference()
