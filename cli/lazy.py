"""Commands that are imported and built when they are asked for: a process runs one of them, and pays for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import partial
from inspect import getdoc
from typing import Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from cli.options import expand

Build = Callable[[bool], Any]
"""Makes a command; True asks for its help text alone, which the list of commands shows."""


class LazyCommands(MutableMapping[str, Any]):
    """Commands by name, each built once, when it is looked up."""

    def __init__(self, builds: Mapping[str, Build]) -> None:
        self._pending = dict(builds)
        self._names: dict[str, Any] = dict.fromkeys(builds)

    def __getitem__(self, name: str) -> Any:
        if name in self._pending:
            self._names[name] = self._pending.pop(name)(False)
        return self._names[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._pending.pop(name, None)
        self._names[name] = command

    def __delitem__(self, name: str) -> None:
        self._pending.pop(name, None)
        del self._names[name]

    def outline(self, name: str) -> Any:
        """The command if it has been built, or one that has its help text and nothing else."""
        return self._pending[name](True) if name in self._pending else self._names[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def lazy_group(builds: Mapping[str, Build]) -> type[TyperGroup]:
    """A class for `typer.Typer(cls=…)`: a group of these commands."""

    class Lazy(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            self.lazy = LazyCommands(builds)
            super().__init__(**settings | {"commands": self.lazy})

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            outlines = {name: self.lazy.outline(name) for name in self.lazy}
            TyperGroup(name=self.name, commands=outlines).format_commands(ctx, formatter)

        def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
            outlines = {name: self.lazy.outline(name) for name in self.lazy if name.startswith(incomplete)}
            group = TyperGroup(name=self.name, commands=outlines, params=self.params)
            found = group.shell_complete(typer.Context(group, parent=ctx.parent), incomplete)
            for item in found:
                if item.value in outlines:
                    item.help = outlines[item.value].help
            return found

    return Lazy


def verb(name: str, load: Callable[[], Any], *, parser: Callable[[], Any] | None = None) -> Build:
    """Builds the command whose function `load` imports; the class that `parser` imports reads its options."""

    def build(outline: bool) -> Any:
        if outline:
            return TyperCommand(name, help=getdoc(load()))
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        alone.command(name, cls=parser and parser())(expand(load()))
        return typer.main.get_command(alone)

    return build


def family(name: str, purpose: str, load: Callable[[], Mapping[str, Any]]) -> Build:
    """Builds the first word of commands of two words; `load` imports their functions."""

    def build(outline: bool) -> Any:
        if outline:
            return TyperGroup(name=name, help=purpose)
        builds = {second: verb(second, partial(_itself, function)) for second, function in load().items()}
        group = typer.Typer(
            name=name, help=purpose, cls=lazy_group(builds), no_args_is_help=True, rich_markup_mode=None
        )
        return typer.main.get_group(group)

    return build


def _itself(function: Any) -> Any:
    return function
