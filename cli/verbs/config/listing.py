"""`kohort config list`: the settings of many groups in one table."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cli.errors import CommandError, RefusedError
from cli.options import SelectionOptions
from cli.render.document import Document, table_of
from cli.selection import group_filter
from cli.sources.live import LiveSource
from cli.sources.source import Source
from cli.sources.wire_source import WireSource
from cli.verbs.config.action import OF_A_SETTING, SettingsPlan, note_other_types, setting_data, settings_of
from groups.counts import first_names
from groups.listing import Cause, GroupFilter, Problem
from groups.settings import GroupConfig, own_settings
from wire.client.settings import groups_with_settings

Settings: TypeAlias = Mapping[str, Mapping[str, GroupConfig]]
_NAMED = 5


def settings_of_groups(source: Source, selection: SelectionOptions, *, every: bool) -> Document:
    """The own settings of the selected groups, or `every` setting. CommandError: no group's settings are known."""
    filters = group_filter(selection)
    listed = source.select_groups(filters, described=False)
    types = {group.id: group.type for group in listed.items}
    names = list(types)
    with_settings = groups_with_settings(source.client) if isinstance(source, WireSource) else None
    if with_settings is not None:
        if filters == GroupFilter(has_name=filters.has_name) and not listed.problems:
            names += sorted(filter(filters.may_mean, with_settings - types.keys()))
        names = [name for name in names if every or name in with_settings]
    known, problems = _read(source, names)
    own = {name: own_settings(known[name]) or {} for name in names if name in known}
    plans = [SettingsPlan(group=name, changes=own[name], configs=known[name]) for name in own]
    note_other_types(plans, types)
    shown = {name: [known[name][one] for one in (known[name] if every else own[name])] for name in own}
    groups = [
        {
            "group": name,
            "type": types[name].value if name in types else None,
            "settings": [setting_data(config) for config in configs],
        }
        for name, configs in shown.items()
        if configs
    ]
    rows = [{"group": name, **setting_data(config)} for name, configs in shown.items() for config in configs]
    return Document(
        command="config list",
        data={"groups": groups},
        blocks=[table_of(rows, "GROUP", "NAME", "VALUE", *(OF_A_SETTING if every else ("DEFAULT",)))],
        errors=listed.problems + problems,
        remarks=() if groups or problems else ("no setting of a group differs from the default",),
    )


def _read(source: Source, names: Sequence[str]) -> tuple[Settings, tuple[Problem, ...]]:
    if not names:
        return {}, ()
    if isinstance(source, LiveSource):
        read, failed = settings_of(source).read_each(names)
        if not read:
            raise next(iter(failed.values()))
        return read, tuple(_problem(name, error) for name, error in failed.items())
    known = source.group_settings(names).by_group
    unknown = [name for name in names if name not in known]
    message = f"settings are not known from {source.name}"
    if not known:
        raise CommandError(f"{message}; name a live cluster (--bootstrap-server)")
    subject = first_names(unknown, _NAMED, "groups")
    return known, (Problem(subject=subject, message=message),) if unknown else ()


def _problem(group: str, error: CommandError) -> Problem:
    cause = Cause.FORBIDDEN if isinstance(error, RefusedError) else Cause.UNREAD
    return Problem(subject=group, message=str(error).removeprefix(f"{group}: "), cause=cause, group=group)
