"""The groups that the list shows: all, or those that the command line names, matches or filters, as `kohort list`."""

from collections.abc import Collection
from dataclasses import replace

from cli.errors import UsageError
from cli.options import SelectionOptions
from cli.selection import group_filter
from cli.sources.source import ReadResult, Source
from cli.verbs.list import described_of, needs_description
from groups.listing import Cause, GroupFilter, GroupListing, Problem


class GroupsToShow:
    """Names, types and states are compared at each reading. Which groups use a protocol, read a topic or are unused is
    known only once all of them were described: that is done once for each source (a moment of the past is another one),
    and again after `forget`."""

    def __init__(self, selection: SelectionOptions) -> None:
        """UsageError: groups are both named and matched, or a filter is invalid."""
        if selection.groups and (selection.match is not None or selection.all_groups):
            raise UsageError("give only one of GROUP, --match and --all-groups")
        self._selection = selection
        self._named = () if opened_group(selection) else tuple(selection.groups or ())
        filters = group_filter(selection)
        self._filters = self._narrow = _among(self._named, filters) if self._named else filters
        self._is_described = needs_description(selection) or bool(filters.protocols)
        self._narrowed_for: Source | None = None

    def read(self, source: Source) -> ReadResult[GroupListing]:
        """The groups now; a problem for each that is named and does not exist."""
        if self._is_described and self._narrowed_for is not source:
            self._narrow, self._narrowed_for = self._narrowed(source), source
        listed = source.select_groups(self._narrow, described=False)
        if listed.problems or self._selection.filters:
            return listed
        existing = {group.id for group in listed.items}
        absent = [name for name in self._named if name not in existing]
        return replace(listed, problems=tuple(map(_absent, absent)))

    def includes(self, group: str) -> bool:
        """Whether a group has one of the chosen names, as far as it has been read which these are."""
        return self._filters.may_mean(group)

    def forget(self) -> None:
        """Describe all groups again at the next reading."""
        self._narrowed_for = None

    def _narrowed(self, source: Source) -> GroupFilter:
        listed = source.select_groups(self._filters, described=False)
        names = [group.id for group in listed.items]
        if needs_description(self._selection):
            read, _ = described_of(source, listed, self._selection)
            names = [group.id for group in read.items]
        return _among(names, replace(self._filters, protocols=frozenset()))


def opened_group(selection: SelectionOptions) -> str | None:
    """The group that is opened at once: the only one that is named."""
    names = list(dict.fromkeys(selection.groups or ()))
    return names[0] if len(names) == 1 and not selection.filters else None


def _among(names: Collection[str], filters: GroupFilter) -> GroupFilter:
    return replace(filters, has_name=frozenset(names).__contains__)


def _absent(name: str) -> Problem:
    return Problem(subject=name, message="there is no such group", cause=Cause.ABSENT, group=name)
