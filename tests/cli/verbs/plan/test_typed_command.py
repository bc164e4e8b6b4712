"""A command that is shown to be typed again holds what was given to it, quoted."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import pytest
import typer

from cli.verbs.plan.action import typed_again


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("do g", "kohort do g --output yaml"),
        ("do g --flag --number 3", "kohort do g --number 3 --flag --output yaml"),
        ("do g -n 3 --output csv", "kohort do g --number 3 --output yaml"),
        ("do g --many a --many 'b c'", "kohort do g --many a --many 'b c' --output yaml"),
        ("do --file 'my file' a b", "kohort do a b --file 'my file' --output yaml"),
        ("do --flag -- -b a", "kohort do --flag --output yaml -- -b a"),
    ],
)
def test_what_was_given_comes_back(typed: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer(add_completion=False)

    @app.command("do")
    def do(
        context: typer.Context,
        groups: list[str],
        number: Annotated[int, typer.Option("--number", "-n")] = 1,
        many: Annotated[list[str] | None, typer.Option("--many")] = None,
        flag: Annotated[bool, typer.Option("--flag")] = False,
        file: Annotated[Path | None, typer.Option("--file")] = None,
        output: Annotated[str, typer.Option("--output")] = "table",
    ) -> None:
        assert isinstance((groups, number, many, flag, file, output), tuple)
        print(typed_again(context, without=("output",), with_options=("--output", "yaml")))

    app.command("another")(lambda: None)
    app(shlex.split(typed), prog_name="python -m something", standalone_mode=False)
    assert capsys.readouterr().out == f"{shown}\n"
