"""`kohort demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import option


def demo(
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Directory to fill; by default the data directory.")
    ] = None,
    force: Annotated[bool, option("--force", "Replace the groups and topics there.")] = False,
) -> None:
    """Create a sample fleet to try the commands on.

    The fleet is stored in an embedded data directory. Commands read it unless another source is given.

    \b
    Examples:
      kohort demo
      kohort list
    """
    from cli.errors import UsageError
    from cli.output import notice
    from cli.selection import data_directory, is_log_directory
    from cli.verbs.demo.action import clear, fill

    target = directory or data_directory()
    if is_log_directory(target):
        if not force:
            raise UsageError(f"{target} contains groups already; --force replaces them")
        clear(target)
    fill(target)
    option = f" --embedded {directory}" if directory else ""
    notice(f"created a sample fleet in {target}; try `kohort list{option}`")
