"""The message for a command line that Typer cannot parse: the mistake, a close name, and the help to read."""

from __future__ import annotations

import re
from typing import Any

from wire.suggestion import closest, did_you_mean

_PLAIN_WORDS = {
    r" \(Possible options: .*\)$": "",
    r"not a valid int(eger)?( range)?$": "not a whole number",
    r"not a valid float( range)?$": "not a number",
    r"got unexpected extra arguments? \((.*)\)$": r"unexpected argument: \1",
    r"got unexpected extra argument\(s\) \((.*)\)$": r"unexpected argument: \1",
}
_CHOICE = re.compile(r"'([^']*)' is not one of (.*)")


def usage_error(error: Any) -> str:
    """Two lines for a TyperException; one line if it is not known which command was parsed."""
    context = getattr(error, "ctx", None)
    message = " ".join(error.format_message().split()).rstrip(".")
    message = message[:1].lower() + message[1:]
    for pattern, plain in _PLAIN_WORDS.items():
        message = re.sub(pattern, plain, message)
    if context is None:
        return message
    return f"{message}{_suggestion(error, context)}\n`{context.command_path} --help` shows what is valid"


def _suggestion(error: Any, context: Any) -> str:
    name = getattr(error, "option_name", None)
    if name is not None:
        names = [option for each in context.command.params for option in each.opts if option.startswith("-")]
        names += getattr(context.command, "commands", ())
        options = {each.lstrip("-"): each for each in names}
        nearest = None if name.lstrip("-") in options else closest(name.lstrip("-"), options)
        return f"; did you mean {options[nearest]}?" if nearest else ""
    choice = _CHOICE.search(error.format_message())
    return did_you_mean(choice[1], re.findall("'(.*?)'", choice[2])) if choice else ""
