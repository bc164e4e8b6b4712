"""What makes groups what a file says: the plans of `config set`, `offsets reset` and `delete`, of what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cli.changing import group_fields
from cli.counts import counted
from cli.errors import ExitStatus, UsageError
from cli.options import OutputOptions
from cli.output import emit, notice
from cli.render.cells import Cell
from cli.render.document import Document, Table, columns
from cli.sources.live import LiveSource
from cli.sources.positions import positions_of
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter
from cli.verbs.apply.desired import DesiredGroup, DesiredGroups
from cli.verbs.config.action import (
    ConfigChange,
    change_of_settings,
    check_names,
    not_live,
    note_other_types,
    settings_of,
)
from cli.verbs.delete.action import GroupDeletions
from cli.verbs.offsets.change import OffsetsChange
from cli.verbs.offsets.found import FoundGroups, PartitionCounts, find_groups
from cli.verbs.offsets.notices import say_what_is_delivered_again, say_what_is_new
from groups.model import Group, Problem
from groups.offsets.model import GroupChange, Place, Positions
from groups.offsets.plan import plan_group_deletion, plan_reset
from groups.offsets.scenarios import Scenario, ToMoment, name_of


@dataclass(slots=True, kw_only=True)
class Application:
    """A `Change` of several kinds: settings first, then offsets, and what cannot be undone last."""

    groups: Sequence[Group]
    absent: frozenset[str]
    settings: Mapping[str, ConfigChange]
    """By group."""
    offsets: OffsetsChange
    deletions: GroupDeletions
    executed: bool = False

    @property
    def _parts(self) -> tuple[ConfigChange | OffsetsChange | GroupDeletions, ...]:
        return (*self.settings.values(), self.offsets, self.deletions)

    @property
    def in_use(self) -> list[str]:
        """The groups whose members keep it from being done."""
        plans = (*self.offsets.plans, *self.deletions.plans)
        return list(dict.fromkeys(plan.group for plan in plans if plan.refusals))

    @property
    def is_empty(self) -> bool:
        return all(part.is_empty for part in self._parts)

    @property
    def refused(self) -> bool:
        return any(part.refused for part in self._parts)

    @property
    def question(self) -> str:
        return "; ".join(part.question for part in self._parts if not part.is_empty)

    @property
    def done(self) -> str | None:
        return "; ".join(done for part in self._parts if (done := part.done)) or None

    def apply(self) -> None:
        """Make the changes; what fails keeps no other from being made."""
        for part in self._parts:
            if not part.is_empty:
                part.apply()
        self.executed = True

    @property
    def errors(self) -> tuple[Problem, ...]:
        """Of each part, in the order in which they are made."""
        return tuple(error for part in self._parts for error in part.document().errors)

    def document(self) -> Document:
        offsets = {each["group"]: each["offsets"] for each in self.offsets.document().data["groups"]}
        data = [self._data(group, offsets.get(group.id, [])) for group in self.groups]
        return Document(
            command="apply",
            data={"executed": self.executed, "groups": data},
            blocks=[_table(data)],
            errors=self.errors,
        )

    def _data(self, group: Group, offsets: list[dict[str, Any]]) -> dict[str, Any]:
        config = self.settings.get(group.id)
        settings = [] if config is None else config.document().data["settings"]
        deletion = next((plan for plan in self.deletions.plans if plan.group == group.id), None)
        return {
            **group_fields(group, exists=group.id not in self.absent),
            "settings": settings,
            "offsets": offsets,
            "delete": deletion is not None,
            "deleted": None if deletion is None else self.deletions.applied(group.id),
        }


def _table(data: Sequence[Mapping[str, Any]]) -> Table:
    rows = list(_rows(data))
    shown = 5 if any(row[4] for row in rows) else 4
    headings = columns("GROUP", "WHAT", "CURRENT", "NEW", "REMARK")
    return Table(columns=headings[:shown], rows=[row[:shown] for row in rows])


def _rows(data: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Cell, ...]]:
    for group in data:
        name = group["group"]
        for each in group["settings"]:
            yield name, each["name"], each["before"], each["after"], ""
        for each in group["offsets"]:
            yield (
                name,
                name_of((each["topic"], each["partition"])),
                each["before"],
                each["after"],
                each["remark"] or "",
            )
        if group["delete"]:
            yield name, "the group", group["state"], "deleted", ""


def plan_apply(source: Source, desired: DesiredGroups, writer: ClusterWriter | None) -> Application:
    """What differs between a source and a file; everything is read, and tried out, before anything is changed.

    :raises UsageError: a setting that the cluster does not have; settings of a source that is only read
    :raises CommandError: nothing is known of what the file is about
    """
    found = find_groups(source, [each.group for each in desired.groups], named=True)
    groups = {group.id: group for group in found.groups}
    wanted = [each for each in desired.groups if each.group in groups]
    offsets = _offsets(source, wanted, groups, found)
    deleted = [groups[each.group] for each in wanted if each.delete and found.exists(groups[each.group])]
    application = Application(
        groups=found.groups,
        absent=found.absent,
        settings=_settings(source, desired, groups, found),
        offsets=OffsetsChange(
            command="apply",
            plans=offsets,
            problems=found.others,
            facts={},
            writer=writer,
        ),
        deletions=GroupDeletions(plans=list(map(plan_group_deletion, deleted)), writer=writer),
    )
    say_what_is_new(offsets)
    say_what_is_delivered_again(offsets)
    if application.is_empty and not application.errors:
        notice(f"nothing differs: {counted(len(desired.groups), 'group')} as in {desired.file}")
    return application


def compare(application: Application, output: OutputOptions) -> None:
    """Show what differs, and leave with 1 where something does."""
    document = application.document()
    if application.refused:
        emit(document, output, ExitStatus.REFUSED)
    emit(document, output, ExitStatus.DONE if application.is_empty else ExitStatus.FALSE)


def _settings(
    source: Source, desired: DesiredGroups, groups: Mapping[str, Group], found: FoundGroups
) -> dict[str, ConfigChange]:
    wanted = [each for each in desired.groups if each.settings]
    if not wanted:
        return {}
    if not isinstance(source, LiveSource):
        raise not_live(source)
    settings = settings_of(source)
    changes: dict[str, ConfigChange] = {}
    for each in wanted:
        configs = settings.read(each.group)
        for name in each.settings:
            try:
                check_names([name], configs)
            except UsageError as error:
                raise desired.error(str(error), "groups", each.group, "settings", name) from None
        change = change_of_settings(settings, each.group, each.settings, configs, command="apply")
        group = groups.get(each.group)
        kinds = {configs[name].kind for name in change.plan.changes}
        note_other_types(each.group, None if group is None or not found.exists(group) else group.type, kinds)
        changes[each.group] = change
    return changes


def _offsets(
    source: Source, wanted: Sequence[DesiredGroup], groups: Mapping[str, Group], found: FoundGroups
) -> tuple[GroupChange, ...]:
    """What would be committed of what differs; a group of which nothing differs may have members."""
    topics = PartitionCounts(source)
    scenarios: dict[str, dict[Place, Scenario]] = {}
    missing: dict[str, tuple[Problem, ...]] = {}
    for each in wanted:
        for scope, scenario in each.offsets.items():
            places, problems = topics.of([scope])
            scenarios.setdefault(each.group, {}).update(dict.fromkeys(places, scenario))
            missing[each.group] = missing.get(each.group, ()) + problems
    positions = _positions(source, scenarios)
    plans: list[GroupChange] = []
    for name, wanted_at in scenarios.items():
        group = groups[name]
        parts = [
            plan_reset(group, scenario, [place], positions[_moment(scenario)], exists=found.exists(group))
            for place, scenario in wanted_at.items()
        ]
        changes = [change for part in parts for change in part.changes if change.before != change.after]
        problems = (
            *found.problems.get(name, ()),
            *missing[name],
            *topics.problems,
            *(problem for part in parts for problem in part.problems),
        )
        plan = plan_reset(group, ToMoment(0), (), Positions(), exists=found.exists(group), problems=problems)
        plans.append(replace(plan, changes=tuple(changes), refusals=plan.refusals if changes else ()))
    return tuple(plans)


def _moment(scenario: Scenario) -> int | None:
    return scenario.at_ms if isinstance(scenario, ToMoment) else None


def _positions(
    source: Source, scenarios: Mapping[str, Mapping[Place, Scenario]]
) -> dict[int | None, Positions]:
    """The ends of the logs by the moment that was asked for, None for none."""
    places: dict[int | None, set[Place]] = {}
    for wanted in scenarios.values():
        for place, scenario in wanted.items():
            places.setdefault(_moment(scenario), set()).add(place)
    return {moment: positions_of(source, sorted(found), moment) for moment, found in places.items()}
