"""The options of `kohort top`."""

from dataclasses import dataclass, fields
from typing import Annotated, Any, get_origin, get_type_hints

import typer

from cli.options import ListSelection, SelectionOptions, duration_option, option
from cli.verbs.why.options import HistoryOptions

DEFAULT_LISTEN = "127.0.0.1:9409"
LEAST_EVERY_S = 0.2
EVERY_GROUP = SelectionOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopSelection(ListSelection):
    groups: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GROUP]…", help="The group to open, or groups to list; by default all are listed."
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopOptions(HistoryOptions):
    selection: SelectionOptions = EVERY_GROUP  # Not an option: the command takes it as a parameter
    every: Annotated[
        float,
        duration_option(
            "--every", "Time between two readings of what is on screen.", "s", LEAST_EVERY_S, 3600.0
        ),
    ] = 2.0
    once: Annotated[bool, option("--once", "Print the list once, as kohort lag does, and exit.")] = False
    read_only: Annotated[bool, option("--read-only", "Offer no changes.")] = False
    web: Annotated[bool, option("--web", "Serve the screens to a browser instead; read-only.")] = False
    allow_changes: Annotated[
        bool, option("--allow-changes", "With --web and a login: offer changes, as on a terminal.")
    ] = False


def option_words(options: Any) -> list[str]:
    """The words of a command line that has these options, a dataclass as of `cli.options`."""
    hints = get_type_hints(type(options), include_extras=True)
    words: list[str] = []
    arguments: list[str] = []
    for field in fields(options):
        value = getattr(options, field.name)
        if get_origin(hints[field.name]) is not Annotated or value is None or value == field.default:
            continue
        declared = hints[field.name].__metadata__[0]  # Its `default` is the first name of an option
        texts = [str(text) for text in (value if isinstance(value, list) else [value])]
        if isinstance(declared, typer.models.ArgumentInfo):
            arguments += texts
        elif value is True:
            words.append(declared.default)
        else:
            words += [word for text in texts for word in _with_value(declared.default, text)]
    return [*words, *(["--", *arguments] if arguments else [])]


def _with_value(option: str, value: str) -> list[str]:
    return [f"{option}={value}"] if value.startswith("-") else [option, value]
