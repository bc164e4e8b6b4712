"""Which groups a command is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from cli.errors import CommandError, UsageError
from cli.options import SelectionOptions
from cli.sources.source import Read, Source
from groups.listing import Cause, GroupListing, GroupState, GroupType, Problem

if TYPE_CHECKING:
    from groups.model import Group

T = TypeVar("T")


def name_filter(pattern: str | None) -> Callable[[str], bool]:
    """A test for group ids; everything passes without a pattern. UsageError for a pattern that is none."""
    if pattern is None:
        return lambda _: True
    from groups.regex.broker import InvalidRegexError, compile_filter

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


def describe_chosen(source: Source, selection: SelectionOptions, *, offsets: bool) -> Read[Group]:
    """The groups that are meant, and what of them, or of the list, could not be read."""
    chosen, problems = choose_groups(source, selection)
    read = source.describe(chosen, offsets=offsets)
    missed = without_vanished(read.problems, named=bool(selection.groups))
    return replace(read, problems=problems + missed)


def without_vanished(problems: Sequence[Problem], *, named: bool) -> tuple[Problem, ...]:
    """Problems without those of groups that are gone since they were listed: only a group that was named is missed."""
    return tuple(each for each in problems if named or each.cause is not Cause.ABSENT)


def listing_filter(
    types: Iterable[str] | None,
    states: Iterable[str] | None,
    protocols: Iterable[str] | None,
    match: str | None,
) -> Callable[[GroupListing], bool]:
    """The filters of `kohort list` as one test; UsageError for a type or state that does not exist."""
    wanted_types, wanted_states = _parsed(GroupType.parse, types), _parsed(GroupState.parse, states)
    wanted_protocols, wanted_name = set(split_list(protocols)), name_filter(match)

    def wanted(group: GroupListing) -> bool:
        return (
            (not wanted_types or group.type in wanted_types)
            and (not wanted_states or group.state in wanted_states)
            and (not wanted_protocols or bool({group.protocol_type, group.protocol} & wanted_protocols))
            and wanted_name(group.id)
        )

    return wanted


def _parsed(parse: Callable[[str], T], values: Iterable[str] | None) -> set[T]:
    try:
        return {parse(value) for value in split_list(values)}
    except ValueError as error:
        raise UsageError(str(error)) from None


def split_list(values: Iterable[str] | None) -> list[str]:
    """Values of an option that is repeatable and also takes commas."""
    return [part.strip() for value in values or () for part in value.split(",") if part.strip()]
