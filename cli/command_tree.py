"""Typer's commands, from the table of commands; each is imported and built when it is looked up. A process runs one
command, and should not spend time on the others. The fields of an options dataclass, which a command takes as one
parameter, are spread over the command's options (`expand`)."""

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, wraps
from typing import Annotated, Any, get_origin, get_type_hints

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from cli.commands import ARGUMENT_FILLERS, SECTIONS, Family, first_paragraph, load
from cli.errors import ExitStatus, UsageError
from cli.options import (
    CLUSTERS_PANEL,
    OUTPUT_PANEL,
    SELECTION_PANEL,
    SOURCE_PANEL,
    SourceOptions,
    color_option,
)
from cli.render.color import Color, choose_color
from cli.usage_errors import COMMANDS
from wire.suggestion import closest

Build = Callable[[bool], object]  # Builds a command; True requests only its summary, for a list

_LAST_PANELS = (SELECTION_PANEL, SOURCE_PANEL, CLUSTERS_PANEL, OUTPUT_PANEL)


class Command(TyperCommand):
    """A command whose help shows its own options first, then each panel of options under its heading."""

    fill: Callable[[list[str]], list[str]] | None = None  # Completes the arguments before they are parsed

    # Typer keeps the types of the inherited methods' arguments private.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            args = self.fill(args) if self.fill else args
            if not ctx.resilient_parsing:
                # The words as typed: a path that is converted is never empty.
                words, _, _ = self.make_parser(ctx).parse_args([*args])
                if not words.get("help"):
                    check_values(self.params, words)
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            # The error for an option without its value has no context, and so no command.
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                heading = "Arguments" if parameter.param_type_name == "argument" else "Options"
                panel = getattr(parameter, "rich_help_panel", None) or heading
                sections.setdefault(panel, []).append(record)
        last = {panel: position for position, panel in enumerate(_LAST_PANELS, 1)}
        for heading in sorted(sections, key=lambda heading: last.get(heading, 0)):
            if sections[heading]:
                with formatter.section(heading):
                    formatter.write_dl(sections[heading])


class LazyCommands(Mapping[str, object]):
    """Commands by name, each built once, when it is looked up."""

    def __init__(self, builds: Mapping[str, Build]) -> None:
        self._builds = builds
        self._built: dict[str, object] = {}

    def __getitem__(self, name: str) -> object:
        if name not in self._built:
            self._built[name] = self._builds[name](False)
        return self._built[name]

    def outline(self, name: str) -> Any:
        """The command if it has been built, or one with only its summary."""
        return self._built[name] if name in self._built else self._builds[name](True)

    def __iter__(self) -> Iterator[str]:
        return iter(self._builds)

    def __len__(self) -> int:
        return len(self._builds)


def lazy_group(sections: Mapping[str, Mapping[str, Build]], overview: str | None = None) -> type[TyperGroup]:
    """A class for `typer.Typer(cls=…)`: a group of these commands, listed under these headings. Without arguments the
    group prints `overview`, or its help if there is no overview."""

    class Lazy(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            builds = {name: build for commands in sections.values() for name, build in commands.items()}
            self.lazy = LazyCommands(builds)
            super().__init__(**settings | {"commands": self.lazy, "subcommand_metavar": "COMMAND [ARGS]…"})

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            if not args and not ctx.resilient_parsing:
                typer.echo(ctx.get_help() if overview is None else overview.rstrip(), err=True)
                raise typer.Exit(int(ExitStatus.USAGE))
            return super().parse_args(ctx, args)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            word = args[0]
            if word in self.lazy or word.startswith("-") or ctx.resilient_parsing:
                return super().resolve_command(ctx, args)
            family = "" if ctx.parent is None else f"{ctx.info_name} "
            known = {name: f"{family}{name}" for name in self.lazy}
            if ctx.parent is None:
                known = _second_words() | known
            nearest = closest(word, known)
            command = COMMANDS.get(word) if ctx.parent is None else None
            command = command or (known[nearest] if nearest else None)
            hint = f"; did you mean {command}?" if command else ""
            raise UsageError(
                f"there is no command '{family}{word}'{hint}\n`{ctx.command_path} --help` lists the commands"
            )

        def format_commands(self, ctx: object, formatter: Any) -> None:  # noqa: ARG002
            width = max(map(len, self.lazy))
            for heading, commands in sections.items():
                with formatter.section(heading):
                    formatter.write_dl(
                        [(name.ljust(width), summary(self.lazy.outline(name))) for name in commands]
                    )

        def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
            outlines = {name: self.lazy.outline(name) for name in self.lazy if name.startswith(incomplete)}
            group = TyperGroup(name=self.name, commands=outlines, params=self.params)
            items = group.shell_complete(typer.Context(group, parent=ctx.parent), incomplete)
            for item in items:
                if item.value in outlines:
                    item.help = summary(outlines[item.value])
            return items

    return Lazy


def summary(command: Any) -> str:
    """The first paragraph of a command's help: one sentence."""
    return " ".join(command.help.strip().partition("\n\n")[0].split())


def _second_words() -> dict[str, str]:
    """Commands of two words, by their second word."""
    return {
        second: f"{first} {second}"
        for commands in SECTIONS.values()
        for first, command in commands.items()
        if isinstance(command, Family)
        for second in command.commands
    }


def root_group(overview: str) -> type[TyperGroup]:
    """The class of `kohort` itself, which prints `overview` if it has no arguments."""
    builds = {
        heading: {
            name: _family(name, command) if isinstance(command, Family) else _verb(name, command)
            for name, command in commands.items()
        }
        for heading, commands in SECTIONS.items()
    }
    return lazy_group(builds, overview)


def _verb(name: str, reference: str) -> Build:
    def build(outline: bool) -> object:
        if outline:
            return TyperCommand(name, help=first_paragraph(reference))
        function = load(reference)
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        alone.command(name, cls=Command)(expand(function))
        command = typer.main.get_command(alone)
        if reference in ARGUMENT_FILLERS and isinstance(command, Command):
            command.fill = load(ARGUMENT_FILLERS[reference])
        return command

    return build


def _family(name: str, family: Family) -> Build:
    def build(outline: bool) -> Any:
        if outline:
            return TyperGroup(name=name, help=family.summary)
        builds = {second: _verb(second, reference) for second, reference in family.commands.items()}
        group = typer.Typer(
            name=name, help=family.summary, cls=lazy_group({"Commands": builds}), rich_markup_mode=None
        )
        return typer.main.get_group(group)

    return build


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
            for text in value if isinstance(value, list | tuple) else [value]:
                # Bytes that are not UTF-8 may name a file, but no group, topic or regex, which are texts.
                if isinstance(text, str) and any("\ud800" <= character <= "\udfff" for character in text):
                    raise UsageError(f"{text!a} is not text in UTF-8")
        invocation = arguments[call] if call else arguments.pop(_CALL.name)
        choose_color(arguments.pop(_COLOR.name))
        for bundle, fields in names.items():
            arguments[bundle] = bundles[bundle](**{field: arguments.pop(field) for field in fields})
        if any(issubclass(bundle, SourceOptions) for bundle in bundles.values()):
            from cli.sources.contexts.resolve import resolve

            arguments = resolve(arguments, partial(_is_typed, invocation))
        function(**arguments)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


_IDS = frozenset({"GROUP", "FROM", "TO", "MEMBER", "ID", "CLIENT"})
"""Metavars of ids that Kafka takes from clients as they are: one may consist of blanks (KIP-289)."""


def check_values(parameters: Iterable[Any], values: Mapping[str, object]) -> None:
    """UsageError for a value of nothing, as of a variable of a script that is not set, and for NUL. The metavar of an
    option says what may be empty: ids may be blank, `VALUE` after a name may be empty, parts that a metavar separates
    by `=`, `:` or commas may not. `values`: the words of the command line, by the name of a parameter."""
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


def _is_typed(invocation: typer.Context, name: str) -> bool:
    source = invocation.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _fields_of(bundle: Any) -> list[inspect.Parameter]:
    """The options of a bundle; a field without an option is not read from the command line."""
    hints = get_type_hints(bundle, include_extras=True)
    options = [field for field in dataclasses.fields(bundle) if get_origin(hints[field.name]) is Annotated]
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in options
    ]
