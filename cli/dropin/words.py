"""How the tool says what went wrong."""

from __future__ import annotations

import sys


def print_error(message: str) -> None:
    """An error; the tool prints it where it prints its answers."""
    print(f"\nError: {message}")


def print_remark(message: str) -> None:
    """What the tool says beside its answers."""
    print(message, file=sys.stderr)
