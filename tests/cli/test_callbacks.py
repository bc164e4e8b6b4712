"""Typer's callbacks contain no logic: they name options, and pass them on."""

import ast
import inspect
import textwrap

import pytest

from cli.commands import SECTIONS, Family, load

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
