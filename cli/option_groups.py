"""Lets commands take dataclasses of options; Typer reads their fields from the command's signature."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Annotated, Any, get_origin, get_type_hints

import typer

from cli.errors import UsageError
from cli.options import SourceOptions, color_option
from cli.render.color import Color, choose_color


def expand(function: Callable[..., None]) -> Callable[..., None]:
    """Spread options dataclasses over the signature that Typer reads."""
    hints = get_type_hints(function, include_extras=True)
    bundles: dict[str, Any] = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    call = next((name for name, hint in hints.items() if hint is typer.Context), None)
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in bundles:
            parameters += _fields_of(bundles[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
    names = {name: [field.name for field in _fields_of(bundle)] for name, bundle in bundles.items()}
    parameters += [_COLOR] if call else [_CALL, _COLOR]

    @wraps(function)
    def command(**arguments: Any) -> None:
        for value in arguments.values():
            _refuse_bytes(value)
        invocation = arguments[call] if call else arguments.pop(_CALL.name)
        choose_color(arguments.pop(_COLOR.name))
        for bundle, fields in names.items():
            arguments[bundle] = bundles[bundle](**{field: arguments.pop(field) for field in fields})
        if SourceOptions in bundles.values():
            from cli.sources.contexts.resolve import resolve

            arguments = resolve(arguments, _typed(invocation))
        function(**arguments)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


_IDS = frozenset({"GROUP", "FROM", "TO", "MEMBER", "ID", "CLIENT"})
"""Metavars of ids that Kafka takes from clients as they are: one may consist of blanks (KIP-289)."""


def check_values(parameters: Iterable[Any], values: Mapping[str, object]) -> None:
    """Refuse what no option means: a value of nothing, as of a variable of a script that is not set, and NUL.

    The metavar of an option or argument is its statement: ids may be blank, `VALUE` after a name may be empty, and
    parts that a metavar separates by `=`, `:` or commas may not. Everything else needs a value.

    :param values: the words of the command line, by the name of a parameter, before they are converted
    :raises UsageError: for the first one
    """
    for parameter in parameters:
        words = values.get(parameter.name)
        for word in words if isinstance(words, list | tuple) else [words]:
            reason = _fault(parameter.metavar or "", word) if isinstance(word, str) else None
            if reason is not None:
                name = (
                    max(parameter.opts, key=len) if parameter.opts[0].startswith("-") else parameter.metavar
                )
                raise UsageError(f"{name.strip('[]…')}: {reason}")


def _fault(metavar: str, word: str) -> str | None:
    form = metavar.strip("[]…").removesuffix(",")
    if not word or (word.isspace() and form not in _IDS):
        return "no value is given; a variable of the script may be empty"
    if "\0" in word:
        return "a NUL character is invalid"
    name, separator, rest = word.partition("=") if "=" in metavar and "=" in word else ("", "", word)
    if separator and (not name.strip() or not (rest.strip() or form.endswith("=VALUE"))):
        return f"{word!r} has nothing {'after' if name.strip() else 'before'} the ="
    if metavar.rstrip("]").endswith(",…") and not all(part.strip() for part in rest.split(",")):
        return f"{word!r} has an empty part; remove the comma, or add what is missing"
    return None


_CALL = inspect.Parameter("invocation", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
"""Typer's context, which records the options that were typed."""
_COLOR = inspect.Parameter(
    "color",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[Color | None, color_option(hidden=True)],
)
"""The global option `--color`, which may also follow the command."""


def _typed(invocation: typer.Context) -> Callable[[str], bool]:
    """Whether the command line itself gave a parameter."""

    def typed(name: str) -> bool:
        source = invocation.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    return typed


def _refuse_bytes(value: object) -> None:
    """Bytes that are not UTF-8 may name a file, but no group, topic or regex, which are texts."""
    for text in value if isinstance(value, list | tuple) else [value]:
        if isinstance(text, str) and any("\ud800" <= character <= "\udfff" for character in text):
            raise UsageError(f"{text!a} is not text in UTF-8")


def _fields_of(bundle: Any) -> list[inspect.Parameter]:
    """The options of a bundle; a field without an option is not read from the command line."""
    hints = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(bundle)
        if get_origin(hints[field.name]) is Annotated
    ]
