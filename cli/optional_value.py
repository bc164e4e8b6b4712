"""Options whose value may be left out, which Typer does not have: what follows decides."""

from __future__ import annotations

from collections.abc import Callable


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
