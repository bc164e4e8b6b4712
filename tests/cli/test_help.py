"""Help: every command has it, and it costs no more than it must."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
import typer.main

from cli.app import app
from tests.cli.command import Kohort, command_names, commands, imported, running

COMMANDS = command_names()
HEAVY = (
    *("confluent_kafka", "numpy", "yaml", "kio", "re2", "asyncio", "rich.console"),
    *("pyspark", "pyarrow", "pipeline"),
)
OF_HEAVY_VERBS = (
    "",
    "list",
    "dry-run",
    "log dump",
    "fleet history",
    "fleet audit",
    "fleet follow",
    "fleet simulate",
)


def test_the_commands_are_there() -> None:
    assert COMMANDS == [
        "apply", "bridge", "completion", "config get", "config set", "config unset",
        "context add", "context list", "context remove", "context rename", "context show", "context use",
        "delete", "demo", "describe", "diagnose", "dry-run", "explore", "exporter",
        "fault clear", "fault crash", "fault delay", "fault disconnect", "fault drop", "fault error",
        "fault expire", "fault fence", "fault list", "fault move", "fault topic",
        "fleet audit", "fleet follow", "fleet history",
        "fleet rehearse", "fleet simulate", "gate", "help",
        "list", "log dump", "log verify", "members remove",
        "offsets clone", "offsets delete", "offsets export", "offsets import", "offsets reset",
        "plan", "rehearse", "serve", "simulate", "snapshot", "validate-regex", "version", "watch",
    ]  # fmt: skip


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_every_command(kohort: Kohort, flag: str) -> None:
    answer = kohort.quick(flag).succeeded(stderr="")
    for command in {name.partition(" ")[0] for name in COMMANDS}:
        assert f"  {command} " in answer.stdout or f"│ {command} " in answer.stdout


def test_without_arguments_there_is_help(kohort: Kohort) -> None:
    answer = kohort.quick()
    assert "Usage: kohort" in answer.stdout + answer.stderr


def test_every_option_is_explained() -> None:
    for command, parameter in _parameters():
        assert getattr(parameter, "help", None), f"{command} {parameter.name} has no help"


def _parameters() -> Iterator[tuple[str, Any]]:
    root: Any = typer.main.get_command(app)
    for name, command in {**root.commands, **commands()}.items():
        assert command.help, f"{name} has no help"
        # The first sentence stands in the list of commands.
        assert command.help.strip().splitlines()[0].endswith((".", ":"))
        for parameter in command.params:
            if parameter.name != "help":
                yield name, parameter


def test_version(kohort: Kohort) -> None:
    answer = kohort.quick("--version")
    assert (answer.status, answer.stdout, answer.stderr) == (0, f"kohort {version('kohort')}\n", "")


@pytest.mark.parametrize("line", [f"{command} --help" for command in OF_HEAVY_VERBS] + ["--version"])
def test_help_imports_nothing_heavy(line: str) -> None:
    loaded, answer = imported(HEAVY, running(*line.split()))
    assert (loaded, answer.status) == ([], 0)
