"""Every command in the documentation is valid."""

from pathlib import Path
from typing import Any

import pytest
import typer.main

from cli.app import app
from cli.errors import UsageError
from tests.docs.pages import ROOT, blocks, command_lines, pages

ROOT_COMMAND: Any = typer.main.get_command(app)
USAGE_ERROR = typer.BadParameter.__mro__[1]
"""Raised by typer for an invalid command line; it has no public name."""
LINES = [
    (page, words)
    for page in pages()
    for language in ("sh", "bash", "shell", "console")
    for block in blocks(page, language)
    for text in ([block.text] if language != "console" else block.commands)
    for words in command_lines(text)
]


def parses(words: list[str]) -> None:
    """Read the words as the command line does, and run nothing."""
    command, context, rest = ROOT_COMMAND, ROOT_COMMAND.context_class(ROOT_COMMAND, info_name="kohort"), words
    while hasattr(command, "commands"):
        _, command, rest = command.resolve_command(context, rest)
    for parameter in command.params:
        parameter.callback = None
    command.make_context(command.name, list(rest))


@pytest.mark.parametrize(
    ("page", "words"), LINES, ids=[f"{page.relative_to(ROOT)}: {' '.join(words)}" for page, words in LINES]
)
def test_a_command_of_the_documentation_is_valid(page: Path, words: list[str]) -> None:
    if words in (["--help"], ["--version"]):
        return
    parses(words)


def test_shell_texts_are_read_as_a_shell_reads_them() -> None:
    text = "X=1; kohort list -b a:1 | head  # kohort no\nkohort plan g --to consumer \\\n --output yaml > P.yaml\n"
    assert list(command_lines(text)) == [
        ["list", "-b", "a:1"],
        ["plan", "g", "--to", "consumer", "--output", "yaml"],
    ]


@pytest.mark.parametrize("line", ["list --nope", "describ g", "offsets reset g --to-offset soon", "plan g"])
def test_an_invalid_command_is_refused(line: str) -> None:
    with pytest.raises((USAGE_ERROR, UsageError)):
        parses(line.split())
