"""Where the installed command begins: completion must not wait for all the commands to be loaded."""

from __future__ import annotations

import sys


def main() -> None:
    """Answer a shell that asks for names, or run a command."""
    if sys.argv[1:2] == ["_complete"]:
        from cli.completion.asked import main as answer

        answer()
    else:
        from cli.app import main as run

        run()
