"""Read plans written by `kohort plan --output yaml` (or json)."""

from __future__ import annotations

from pathlib import Path

from cli.errors import CommandError, UsageError
from groups.trees import Malformed
from groups.yaml_files import TreeError, line_of, load_tree, read_text
from migration.model import Plan
from migration.plan_file import plan_from_data

MAX_LINED = 1024 * 1024
"""Larger files are not reread to find the line of an error: that takes some hundred times their size in memory."""


def read_plan(file: Path) -> Plan:
    """The plan of a file. CommandError if it cannot be read, UsageError if it does not contain a valid plan."""
    if file == Path("-") and not file.exists():
        raise UsageError("a plan is read from a file, not from standard input: gates keep notes next to it")
    try:
        text = read_text(file)
        return plan_from_data(load_tree(file, text))
    except TreeError as error:
        raise CommandError(str(error)) from None
    except Malformed as error:
        line = line_of(text, error.path) if error.path and len(text) <= MAX_LINED else None
        raise UsageError(f"{file}{f':{line}' if line else ''}: {error}") from None
