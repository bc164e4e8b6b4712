"""`kohort demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Where to put it; by default the data directory.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Fill an embedded data directory with a sample fleet to try the commands on."""
    from importlib.resources import files

    from cli.cluster.choose import SAMPLE, data_directory
    from cli.errors import CommandError, UsageError
    from cli.output import notice

    target = (directory or data_directory()) / SAMPLE
    if target.exists() and not force:
        raise UsageError(f"{target} is there already; --force replaces it")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(files("cli").joinpath("sample.yaml").read_bytes())
    except OSError as error:
        raise CommandError(f"{target}: cannot be written: {error.strerror or error}") from None
    option = f" --embedded {directory}" if directory else ""
    notice(f"a sample fleet is in {target.parent}; try `kohort list{option}`")
