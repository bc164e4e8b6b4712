"""The command as it was typed, to be typed again in another way."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator

import typer
from typer.core import TyperOption


def typed_again(context: typer.Context, *, without: Collection[str], with_options: tuple[str, ...]) -> str:
    """The command that is being carried out, with the options that were given to it but some, and with others.

    Arguments stand before the options; behind them and `--` where one looks like an option.
    """
    options: list[str] = []
    arguments: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in without:
            continue
        if isinstance(parameter, TyperOption):
            options += _words(parameter, context.params[name])
        else:
            arguments += map(str, _each(context.params[name]))
    options += with_options
    if any(word.startswith("-") for word in arguments):
        return shlex.join(["kohort", *_names(context), *options, "--", *arguments])
    return shlex.join(["kohort", *_names(context), *arguments, *options])


def _names(context: typer.Context) -> list[str]:
    """The names of the command, without that of the program, which is called in more than one way."""
    parent = context.parent
    return [*_names(parent), context.info_name or ""] if isinstance(parent, type(context)) else []


def _words(option: TyperOption, value: object) -> Iterator[str]:
    for one in _each(value):
        yield max(option.opts, key=len)
        if not option.is_flag:
            yield str(one)


def _each(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)
