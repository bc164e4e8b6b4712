"""The commands and their parameters as data: what `kohort help --output json` prints, and from which the arguments of
an agent's tools follow."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import Enum

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from cli.command_tree import summary
from cli.commands import SECTIONS

_TYPES = {
    "boolean": "boolean",
    "int": "integer",
    "int range": "integer",
    "float": "number",
    "float range": "number",
    "path": "path",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandParameter:
    """An option, or an argument; the fields are those of the document."""

    name: str  # As a field of JSON: `all_groups` for --all-groups
    options: tuple[str, ...]  # Empty for an argument
    type: str  # boolean, integer, number, path, string
    metavar: str | None
    choices: tuple[str, ...] | None
    minimum: float | None
    maximum: float | None
    required: bool
    repeatable: bool
    default: bool | float | str | None  # None: none, or described by the summary
    panel: str | None  # Its heading in the help; None: Options or Arguments
    summary: str


def command_named(root: TyperGroup, name: str) -> TyperCommand:
    """The command with these words. Raises KeyError."""
    at: object = root
    for word in name.split():
        at = at.commands[word] if isinstance(at, TyperGroup) else None
    if not isinstance(at, TyperCommand):
        raise KeyError(name)
    return at


def parameters_of(command: TyperCommand) -> list[CommandParameter]:
    """The visible parameters, in the order of the help."""
    return [
        _parameter(parameter)
        for parameter in command.params
        if isinstance(parameter, TyperOption | TyperArgument) and not parameter.hidden
    ]


def outline_of(root: object) -> list[dict[str, object]]:
    """All commands of `kohort`, in the order of the help; each is imported for it."""
    commands = root.commands if isinstance(root, TyperGroup) else {}
    return [
        {
            "command": name,
            "section": section,
            "summary": summary(command),
            "parameters": [asdict(parameter) for parameter in parameters_of(command)],
        }
        for section, words in SECTIONS.items()
        for word in words
        for name, command in _commands(word, commands[word])
    ]


def _commands(name: str, command: object) -> Iterator[tuple[str, TyperCommand]]:
    if isinstance(command, TyperCommand):
        yield name, command
    elif isinstance(command, TyperGroup):
        for word, second in command.commands.items():
            yield from _commands(f"{name} {word}", second)


def _parameter(parameter: TyperOption | TyperArgument) -> CommandParameter:
    kind, is_option = parameter.type, isinstance(parameter, TyperOption)
    choices = getattr(kind, "choices", None)
    default = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    return CommandParameter(
        name=_option_name(parameter.opts) if is_option else str(parameter.name).strip("_"),
        options=tuple(parameter.opts) if is_option else (),
        type=_TYPES.get(kind.name, "string"),
        metavar=parameter.metavar,
        choices=None if choices is None else tuple(map(str, choices)),
        minimum=getattr(kind, "min", None),
        maximum=getattr(kind, "max", None),
        required=parameter.required,
        repeatable=parameter.nargs != 1 or getattr(parameter, "multiple", False),
        default=default if isinstance(default, bool | int | float | str) else None,
        panel=getattr(parameter, "rich_help_panel", None),
        summary=parameter.help or "",
    )


def _option_name(options: list[str]) -> str:
    return max(options, key=len).lstrip("-").replace("-", "_")
