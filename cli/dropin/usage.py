"""The usage that the tool prints below an error."""

from __future__ import annotations

from importlib.resources import files


def usage() -> str:
    """The whole text, without a line end behind it."""
    return files("cli.dropin").joinpath("usage.txt").read_text(encoding="utf-8").removesuffix("\n")
