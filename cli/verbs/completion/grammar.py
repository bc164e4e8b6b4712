"""What may stand on a command line: programs, commands, options and what their values are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What a value may be.

    `way` is one of: `any` (nothing can be offered), `files`, `directories`, `words` (one of `known`), `list` (some of
    `known`, with commas), `ask` (names of the kind `known[0]` that a source knows; a kind that ends in `=` is the
    first half of a pair).
    """

    way: str
    known: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As the tables in the scripts have it: `list classic consumer`."""
        return " ".join((self.way, *self.known))


ANY = Values(way="any")
FILES = Values(way="files")
DIRECTORIES = Values(way="directories")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option; `values` is None where it takes none. `values_optional`: it may also stand alone."""

    names: tuple[str, ...]
    help: str
    values: Values | None = None
    values_optional: bool = False
    repeatable: bool = False

    @property
    def name(self) -> str:
        """The one that is offered."""
        return max(self.names, key=len)

    @property
    def value_text(self) -> str:
        """As the tables have it: empty for a flag, a leading `?` where the value may be left out."""
        if self.values is None:
            return ""
        return f"?{self.values.text}" if self.values_optional else self.values.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command, or a whole program: `words` are what is typed for it, from the program's name on."""

    words: tuple[str, ...]
    help: str
    options: tuple[Option, ...] = ()
    arguments: tuple[Values, ...] = ()
    more: bool = False
    """Whether the last argument may be repeated."""
    commands: tuple[Command, ...] = ()

    @property
    def path(self) -> str:
        """The key of the tables: `kohort offsets reset`."""
        return " ".join(self.words)

    def walk(self) -> Iterator[Command]:
        """This command and all below it."""
        yield self
        for command in self.commands:
            yield from command.walk()
