"""Options with an optional value, which Typer does not support: the next argument decides."""

from __future__ import annotations

from collections.abc import Callable


def with_value(
    arguments: list[str], *, option: str, default: str, is_value: Callable[[str], bool]
) -> list[str]:
    """The arguments, with `default` after every `option` without a value.

    Arguments after `--` are not options.
    """
    filled: list[str] = []
    for position, argument in enumerate(arguments):
        if argument == "--":
            return filled + arguments[position:]
        filled.append(argument)
        following = arguments[position + 1] if position + 1 < len(arguments) else "-"
        # An empty value is a value, which is refused as every empty one.
        if argument == option and following.strip() and not is_value(following):
            filled.append(default)
    return filled
