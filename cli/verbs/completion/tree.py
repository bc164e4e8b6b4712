"""The commands of Kohort as completion sees them, read off the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cli.verbs.completion.grammar import ANY, Command, Option, Values
from cli.verbs.completion.kinds import values_of

PROGRAM = "kohort"
LONGEST_HELP = 68
OPTIONAL_VALUE = re.compile(r"\[[A-Z]+\]")


def programs() -> tuple[Command, ...]:
    """Both programs, whole."""
    import typer.main

    from cli.app import app
    from cli.verbs.completion.drop_in import drop_in

    return _command((PROGRAM,), typer.main.get_command(app)), drop_in()


def _command(words: tuple[str, ...], command: Any) -> Command:
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    below: dict[str, Any] = dict(getattr(command, "commands", {}))
    has_source = any("--bootstrap-server" in option.opts for option in options)
    path = " ".join(words)
    return Command(
        words=words,
        help=first_sentence(command.help or ""),
        options=(*(_option(path, option, has_source) for option in options if not option.hidden), _HELP),
        arguments=tuple(_values(path, None, argument, has_source) for argument in arguments),
        more=bool(arguments) and arguments[-1].nargs == -1,
        commands=tuple(
            _command((*words, name), each)
            for name, each in below.items()
            if not getattr(each, "hidden", False)
        ),
    )


_HELP = Option(names=("--help", "-h"), help="Show the options and leave.")


def _option(path: str, option: Any, has_source: bool) -> Option:
    names = (*option.opts, *option.secondary_opts)
    return Option(
        names=names,
        help=first_sentence(option.help or ""),
        values=None if option.is_flag else _values(path, max(names, key=len), option, has_source),
        values_optional=bool(OPTIONAL_VALUE.fullmatch(option.metavar or "")),
        repeatable=bool(option.multiple),
    )


def _values(path: str, option: str | None, parameter: Any, has_source: bool) -> Values:
    choices = getattr(parameter.type, "choices", None)
    if choices:
        return Values(way="words", known=tuple(_shown(choices)))
    values = values_of(path, option, parameter.metavar or "")
    # Without a source there is nobody to ask, but for contexts, which are the user's own.
    return ANY if values.way == "ask" and values.known != ("contexts",) and not has_source else values


def _shown(choices: Any) -> Iterator[str]:
    for choice in choices:
        yield str(getattr(choice, "value", choice))


def first_sentence(text: str) -> str:
    """What fits beside a name in a list: the first sentence, or as much of it as there is room for."""
    line = " ".join(text.split("\n\n")[0].split())
    sentence = re.split(r"(?<=[.])\s", line, maxsplit=1)[0].rstrip(".:;")
    if len(sentence) <= LONGEST_HELP:
        return sentence
    return sentence[: LONGEST_HELP - 1].rpartition(" ")[0].rstrip(",;:") + "…"
