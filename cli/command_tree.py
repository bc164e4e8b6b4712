"""Typer's commands, from the table of commands; each is imported and built when it is looked up.

A process runs one command, and should not spend time on the others.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from cli.commands import ARGUMENT_FILLERS, SECTIONS, Family, load
from cli.errors import ExitStatus, UsageError
from cli.option_groups import check_values, expand
from cli.options import OUTPUT_PANEL, SELECTION_PANEL, SOURCE_PANEL
from cli.usage_errors import COMMANDS
from wire.suggestion import closest

Build = Callable[[bool], object]
"""Builds a command; True requests one with only its summary, for a list of commands."""

_LAST_PANELS = (SELECTION_PANEL, SOURCE_PANEL, OUTPUT_PANEL)


class Command(TyperCommand):
    """A command whose help shows its own options first, then each panel of options under its heading."""

    fill: Callable[[list[str]], list[str]] | None = None
    """Completes the arguments before they are parsed."""

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
                sections.setdefault(_heading(parameter), []).append(record)
        for heading in sorted(sections, key=_position):
            if sections[heading]:
                with formatter.section(heading):
                    formatter.write_dl(sections[heading])


def _position(heading: str) -> int:
    return _LAST_PANELS.index(heading) + 1 if heading in _LAST_PANELS else 0


def _heading(parameter: Any) -> str:
    own = "Arguments" if parameter.param_type_name == "argument" else "Options"
    return getattr(parameter, "rich_help_panel", None) or own


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
    """A class for `typer.Typer(cls=…)`: a group of these commands, listed under these headings.

    Without arguments the group prints `overview`, or its help if there is no overview.
    """

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
            found = group.shell_complete(typer.Context(group, parent=ctx.parent), incomplete)
            for item in found:
                if item.value in outlines:
                    item.help = summary(outlines[item.value])
            return found

    return Lazy


def summary(command: Any) -> str:
    """The first paragraph of a command's help: one sentence."""
    return " ".join(command.help.strip().partition("\n\n")[0].split())


def _second_words() -> dict[str, str]:
    """Commands of two words, by their second word."""
    return {
        second: f"{first} {second}"
        for commands in SECTIONS.values()
        for first, each in commands.items()
        if isinstance(each, Family)
        for second in each.commands
    }


def root_group(overview: str) -> type[TyperGroup]:
    """The class of `kohort` itself, which prints `overview` if it has no arguments."""
    builds = {
        heading: {
            name: _family(name, each) if isinstance(each, Family) else _verb(name, each)
            for name, each in commands.items()
        }
        for heading, commands in SECTIONS.items()
    }
    return lazy_group(builds, overview)


def _verb(name: str, reference: str) -> Build:
    def build(outline: bool) -> object:
        function = load(reference)
        if outline:
            return TyperCommand(name, help=inspect.getdoc(function))
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
