"""Apply a file of groups: plan the differences like `config set`, `offsets reset` and `delete`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

from cli.changing import carry_out, group_fields
from cli.consent import EmptyGroupConsent
from cli.errors import ExitStatus, UsageError
from cli.options import InternalTopicOptions, OutputOptions, SourceOptions
from cli.output import emit, notice
from cli.render.cells import Cell
from cli.render.document import Document, Table, columns
from cli.selection import opened_for_change
from cli.sources.live import LiveSource
from cli.sources.positions import positions_of
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter
from cli.verbs.apply.desired import DesiredGroup, DesiredGroups, read_desired
from cli.verbs.combined import CombinedChange
from cli.verbs.config import action as config
from cli.verbs.config.action import ConfigChange
from cli.verbs.delete.action import GroupDeletions
from cli.verbs.internal_topics import with_internal_topics
from cli.verbs.offsets import facts
from cli.verbs.offsets.change import OffsetsChange, OffsetsDeletions
from cli.verbs.offsets.facts import FoundGroups, PartitionCounts
from cli.waiting import wait_until_empty
from groups.counts import counted
from groups.model import NOTHING_COMMITTED, Group, Problem, TopicPartition, partition_name
from groups.offsets.model import GroupChange, Positions, committed_in
from groups.offsets.plan import OffsetsDeletion, plan_group_deletion, plan_offsets_deletion, plan_reset
from groups.offsets.scenarios import Scenario, ToTime

_Row: TypeAlias = dict[str, Any]  # A part of the JSON document
_CLEARED = dict.fromkeys(("after", "earliest", "end", "lag_before", "lag_after", "remark"))
"""The scenario of a partition that must have no committed offset."""


@dataclass(slots=True, kw_only=True)
class DesiredStateChange(CombinedChange):
    """Settings first, then offsets, and deletions last."""

    groups: Sequence[Group]
    absent: frozenset[str]

    def document(self) -> Document:
        data = self._data()
        blocks = [_table(data, executed=self.executed)]
        shown = {"executed": self.executed, "groups": data}
        return Document(command="apply", data=shown, blocks=blocks, errors=self.errors)

    def _data(self) -> list[_Row]:
        settings: dict[str, list[_Row]] = {}
        if self.settings is not None:
            settings = {plan.group: self.settings.data_of(plan) for plan in self.settings.plans}
        offsets: dict[str, list[_Row]] = {}
        for plan in self.offsets.plans:
            rows = [self.offsets.change_data(plan.group, change) for change in plan.changes]
            offsets.setdefault(plan.group, []).extend(rows)
        for cleared in self.cleared.plans:
            for place, offset in cleared.offsets:
                applied = self.cleared.applied(cleared.group, place)
                row = {"topic": place[0], "partition": place[1], "before": offset, "applied": applied}
                offsets.setdefault(cleared.group, []).append({**_CLEARED, **row})
        deleted = {plan.group for plan in self.deletions.plans}
        return [
            {
                **group_fields(group, exists=group.id not in self.absent),
                "settings": settings.get(group.id, []),
                "offsets": sorted(offsets.get(group.id, []), key=itemgetter("topic", "partition")),
                "delete": group.id in deleted,
                "deleted": self.deletions.applied(group.id),
            }
            for group in self.groups
        ]


def _table(data: Sequence[_Row], *, executed: bool) -> Table:
    rows = list(_rows(data))
    shown = [True, True, True, True, any(row[4] for row in rows), executed]
    headings = compress(columns("GROUP", "SUBJECT", "CURRENT", "NEW", "REMARK", "APPLIED"), shown)
    return Table(columns=tuple(headings), rows=[list(compress(row, shown)) for row in rows])


def _rows(data: Sequence[_Row]) -> Iterator[tuple[Cell, ...]]:
    answers = {True: "yes", False: "no", None: None}
    for group in data:
        name = group["group"]
        for change in group["settings"]:
            yield name, change["name"], change["before"], change["after"], "", answers[change["applied"]]
        for change in group["offsets"]:
            partition = partition_name((change["topic"], change["partition"]))
            new = "none" if change["after"] is None else change["after"]
            yield name, partition, change["before"], new, change["remark"] or "", answers[change["applied"]]
        if group["delete"]:
            yield name, "the group", group["state"], "deleted", "", answers[group["deleted"]]


def apply_file(
    file: Path, consent: EmptyGroupConsent, source: SourceOptions, output: OutputOptions, *, check: bool
) -> None:
    """Compare groups with a file, and with consent change them; `check`: exit with 1 if there are differences."""
    if check and consent.execute:
        raise UsageError("--check and --execute cannot be used together")
    desired = read_desired(file)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        change = plan_apply(groups, desired, writer)
        if check:
            differs = ExitStatus.DONE if change.is_empty else ExitStatus.FALSE
            emit(change.document(), output, ExitStatus.REFUSED if change.refused else differs)
            return
        if wait_until_empty(groups, change.in_use, consent):
            change = plan_apply(groups, desired, writer)
        carry_out(change, consent, output, groups)


def plan_apply(source: Source, desired: DesiredGroups, writer: ClusterWriter | None) -> DesiredStateChange:
    """Compare a source with a file; everything is read and validated before anything is changed."""
    read = facts.find_groups(source, [entry.group for entry in desired.groups], named=True)
    groups = {group.id: group for group in read.groups}
    entries = [entry for entry in desired.groups if entry.group in groups]
    # No internal topics of streams groups are deleted; a notice names those that stay.
    topics = PartitionCounts(source)
    planned = _offsets(source, desired, groups, read, topics)
    offsets = with_internal_topics(source, planned, InternalTopicOptions())
    cleared = _cleared(entries, groups, read)
    deleted = [groups[entry.group] for entry in entries if entry.delete and read.exists(groups[entry.group])]
    deletions = with_internal_topics(source, list(map(plan_group_deletion, deleted)), InternalTopicOptions())
    application = DesiredStateChange(
        groups=read.groups,
        absent=read.absent,
        settings=_settings(source, desired, groups, read),
        cleared=OffsetsDeletions(plans=cleared, writer=writer),
        offsets=OffsetsChange(
            command="apply",
            plans=offsets,
            problems=read.others,
            facts={},
            writer=writer,
            topic_ids=topics.ids,
        ),
        deletions=GroupDeletions(plans=deletions, writer=writer),
    )
    facts.notify_new_groups(offsets)
    facts.notify_redelivery(offsets)
    facts.notify_irreversible(offsets)
    if application.is_empty and not application.errors:
        notice(f"no differences: {counted(len(desired.groups), 'group')} as in {desired.file}")
    return application


def _settings(
    source: Source, desired: DesiredGroups, groups: Mapping[str, Group], read: FoundGroups
) -> ConfigChange | None:
    settings_by_group = {entry.group: entry.settings for entry in desired.groups if entry.settings}
    if not settings_by_group:
        return None
    if not isinstance(source, LiveSource):
        raise config.not_live(source)
    settings = config.settings_of(source)
    configs = settings.read(list(settings_by_group))
    for group, names in settings_by_group.items():
        for name in names:
            try:
                config.check_names([name], configs[group])
            except UsageError as error:
                raise desired.error(str(error), "groups", group, "settings", name) from None
    known = {group: names for group, names in settings_by_group.items() if group in groups}
    change = config.change_of_settings(settings, known, configs, command="apply")
    config.note_other_types(
        change.plans, {name: group.type for name, group in groups.items() if read.exists(group)}
    )
    return change


def _cleared(
    entries: Sequence[DesiredGroup], groups: Mapping[str, Group], read: FoundGroups
) -> list[OffsetsDeletion]:
    plans: list[OffsetsDeletion] = []
    for entry in entries:
        scopes = [scope for scope, scenario in entry.offsets.items() if scenario is None]
        committed = groups[entry.group].offsets or {}
        places = {scope: committed_in([scope], committed) for scope in scopes}
        there = [
            scope
            for scope in scopes
            if any(committed[topic][n].offset != NOTHING_COMMITTED for topic, n in places[scope])
        ]
        problems = read.problems.get(entry.group, ()) if scopes else ()
        if there or problems:
            plans.append(plan_offsets_deletion(groups[entry.group], there, problems))
    return plans


def _offsets(
    source: Source,
    desired: DesiredGroups,
    groups: Mapping[str, Group],
    read: FoundGroups,
    topics: PartitionCounts,
) -> tuple[GroupChange, ...]:
    """The offsets to commit; a group without differences may have members."""
    entries = [entry for entry in desired.groups if entry.group in groups]
    topics.of([scope for entry in entries for scope in entry.offsets if entry.offsets[scope] is not None])
    scenarios: dict[str, dict[TopicPartition, Scenario]] = {}
    missing: dict[str, tuple[Problem, ...]] = {}
    placed: dict[Problem, Problem] = {}
    for entry in entries:
        for scope, scenario in entry.offsets.items():
            if scenario is None:
                continue
            places, problems = topics.of([scope])
            scenarios.setdefault(entry.group, {}).update(dict.fromkeys(places, scenario))
            unread = (problem for problem in topics.problems if scope.topic in problem.topics)
            # If the file repeats a mistake, name the first line.
            for problem in (*problems, *unread):
                if problem not in placed:
                    path = ("groups", entry.group, "offsets", scope.topic, *map(str, scope.partitions or ()))
                    placed[problem] = replace(problem, subject=desired.place(*path))
                missing[entry.group] = (*missing.get(entry.group, ()), placed[problem])
    positions = _positions(source, scenarios)
    plans: list[GroupChange] = []
    for name, wanted_at in scenarios.items():
        group = groups[name]
        parts = [
            plan_reset(group, scenario, [partition], positions[_moment(scenario)], exists=read.exists(group))
            for partition, scenario in wanted_at.items()
        ]
        changes = [change for part in parts for change in part.changes if change.before != change.after]
        problems = (
            *read.problems.get(name, ()),
            *missing.get(name, ()),
            *(problem for problem in topics.problems if not problem.topics),
            *(problem for part in parts for problem in part.problems),
        )
        plan = plan_reset(group, ToTime(0), (), Positions(), exists=read.exists(group), problems=problems)
        plans.append(replace(plan, changes=tuple(changes), refusals=plan.refusals if changes else ()))
    return tuple(plans)


def _moment(scenario: Scenario) -> int | None:
    return scenario.at_ms if isinstance(scenario, ToTime) else None


def _positions(
    source: Source, scenarios: Mapping[str, Mapping[TopicPartition, Scenario]]
) -> dict[int | None, Positions]:
    """Log positions by requested time, None for no time."""
    places: dict[int | None, set[TopicPartition]] = {}
    for by_partition in scenarios.values():
        for partition, scenario in by_partition.items():
            places.setdefault(_moment(scenario), set()).add(partition)
    return {moment: positions_of(source, sorted(partitions), moment) for moment, partitions in places.items()}
