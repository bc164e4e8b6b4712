"""Which groups a command is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cli.cluster.port import Source
from cli.errors import CommandError, UsageError
from cli.options import SelectionOptions
from coordinator.model import Problem
from coordinator.regex import InvalidRegexError, compile_filter


def name_filter(pattern: str | None) -> Callable[[str], bool]:
    """A test for group ids; everything passes without a pattern. UsageError for a pattern that is none."""
    if pattern is None:
        return lambda _: True
    try:
        search = compile_filter(pattern).search
    except InvalidRegexError as error:
        raise UsageError(f"--match {error}") from None
    return lambda name: search(name) is not None


def choose_groups(source: Source, selection: SelectionOptions) -> tuple[list[str], tuple[Problem, ...]]:
    """The ids that were named, or those in the source that `--match` or `--all-groups` mean."""
    named = list(dict.fromkeys(selection.groups or ()))
    ways = [bool(named), selection.match is not None, selection.all_groups]
    if sum(ways) != 1:
        raise UsageError("name groups, or give --match REGEX, or --all-groups; one of these")
    if named:
        return named, ()
    wanted = name_filter(selection.match)
    listed = source.list_groups()
    chosen = [group.id for group in listed.items if wanted(group.id)]
    if not chosen and not listed.problems:
        raise CommandError(
            f"no group in {source.name}" + (f" matches {selection.match!r}" if selection.match else "")
        )
    return chosen, listed.problems


def split_list(values: Iterable[str] | None) -> list[str]:
    """Values of an option that is repeatable and also takes commas."""
    return [part.strip() for value in values or () for part in value.split(",") if part.strip()]
