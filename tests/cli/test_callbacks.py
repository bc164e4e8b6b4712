"""Typer's callbacks contain no logic: they name options, and pass them on."""

import ast
import inspect
import subprocess
import sys
import textwrap

import pytest

from cli.commands import SECTIONS, Family, first_paragraph, load

REFERENCES = [
    reference
    for commands in SECTIONS.values()
    for command in commands.values()
    for reference in (command.commands.values() if isinstance(command, Family) else [command])
]
LOGIC = (ast.If, ast.For, ast.While, ast.Try, ast.FunctionDef, ast.Match)


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_callback_has_no_branch_and_no_loop(reference: str) -> None:
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(load(reference)))).body
    inner = (node for node in ast.walk(function) if node is not function)
    assert [ast.unparse(node) for node in inner if isinstance(node, LOGIC)] == []


def test_the_help_finds_summaries_without_importing_commands() -> None:
    for reference in REFERENCES:
        documented = (inspect.getdoc(load(reference)) or "").partition("\n\n")[0]
        assert first_paragraph(reference).split() == documented.split(), reference
    listing = (
        "import sys; sys.argv = ['kohort', '--help']; from cli.app import app; app(standalone_mode=False)"
    )
    loaded = "; import sys; print(*(name for name in sys.modules if name.startswith('cli.verbs.')))"
    printed = subprocess.run(
        [sys.executable, "-c", listing + loaded], capture_output=True, check=True, text=True
    )
    assert "See groups" in printed.stdout
    assert printed.stdout.splitlines()[-1] == ""
