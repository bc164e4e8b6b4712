"""`kohort demo`."""

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
      kohort top
    """
    from cli.verbs.demo.action import create

    create(directory, force=force)
