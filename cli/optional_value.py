"""Options whose value may be left out, which Typer does not have: what follows decides."""

from __future__ import annotations

from collections.abc import Callable

import typer
from typer.core import TyperCommand


def with_value(
    arguments: list[str], *, option: str, default: str, is_value: Callable[[str], bool]
) -> list[str]:
    """The arguments, with `default` after every `option` that no value of its own follows.

    What follows `--` is no option.
    """
    filled: list[str] = []
    for position, argument in enumerate(arguments):
        if argument == "--":
            return filled + arguments[position:]
        filled.append(argument)
        following = arguments[position + 1] if position + 1 < len(arguments) else ""
        if argument == option and not is_value(following):
            filled.append(default)
    return filled


def parser_of(fill: Callable[[list[str]], list[str]]) -> type[TyperCommand]:
    """A class for `app.command(cls=…)` that reads the arguments as `fill` completes them."""

    class Filled(TyperCommand):
        # Typer keeps the type that the inherited method takes to itself; it is always given its own Context.
        def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
            return super().parse_args(ctx, fill(args))

    return Filled
