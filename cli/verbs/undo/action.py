"""Undo a change: find its entry in the journal, and restore what it replaced."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cli.changing import carry_out
from cli.consent import EmptyGroupConsent
from cli.errors import CommandError, UsageError
from cli.journal.directory import directory_to_read
from cli.journal.entry import ChangedItem, ItemKind, ItemOutcome, ItemResult, JournalEntry, paired
from cli.journal.reader import Journaled, find_entry, read_journal, undone_by
from cli.options import OutputOptions, SourceOptions
from cli.output import notice
from cli.render.cells import safe_text
from cli.selection import opened_for_change
from cli.sources.live import LiveSource
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter
from cli.verbs.config.action import ConfigChange, change_of_settings, settings_of
from cli.verbs.delete.action import GroupDeletions
from cli.verbs.features.setting import FeaturesChange, LevelsRequest, plan_features
from cli.verbs.offsets import facts
from cli.verbs.offsets.change import OffsetsChange, OffsetsDeletions
from cli.verbs.undo.change import Restoration
from cli.verbs.undo.comparison import ComparedItem, ItemVerdict, PresentState, compared_items
from cli.verbs.undo.present import read_present
from cli.waiting import wait_until_empty
from groups.model import Group, GroupType, by_topic
from groups.offsets.model import GroupChange, TopicScope
from groups.offsets.plan import (
    OffsetsDeletion,
    absent,
    plan_group_deletion,
    plan_offsets_deletion,
    plan_reset,
)
from groups.offsets.scenarios import ToListed
from wire.client.features import SAFE_DOWNGRADE, UPGRADE


def undo_entry(
    named: str | None,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
    *,
    partly: bool,
) -> None:
    """Restore what the named entry replaced, or the last one of the cluster that `last_change` finds."""
    directory = directory_to_read(consent.journal)
    entries, problems = read_journal(directory)
    for problem in problems:
        notice(f"{problem.subject}: {problem.message}")
    chosen = None if named is None else find_entry(entries, named)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        cluster = _cluster_of(groups)
        entry, end = chosen or last_change(entries, cluster.cluster_id(), str(directory))
        check_cluster(entry, cluster)
        author = safe_text(f"{entry.user}@{entry.host}")
        notice(f"{entry.id} of {entry.at}, by {author}: {safe_text(shlex.join(entry.command))}")
        change = plan_restoration(cluster, writer, entry, paired(entry, end), partly=partly)
        if wait_until_empty(groups, change.in_use, consent):
            change = plan_restoration(cluster, writer, entry, paired(entry, end), partly=partly)
        facts.notify_new_groups(change.offsets.plans)
        facts.notify_redelivery(change.offsets.plans)
        if change.is_empty and not change.errors:
            notice(f"nothing to restore: the cluster has what it had before {entry.id}")
        if consent.is_given:
            _notify_changed(change)
        carry_out(change, consent, output, groups, undoes=entry.id)


def _notify_changed(change: Restoration) -> None:
    """No question shows what was changed since the entry, so notices do."""
    for row in change.rows:
        if row.verdict is ItemVerdict.RESTORE and row.remark is not None:
            now = "none" if row.now is None else row.now
            notice(f"{row.subject}: {row.remark}, is {now}; it is replaced")


def _cluster_of(source: Source) -> LiveSource:
    if isinstance(source, LiveSource):
        return source
    raise UsageError(
        f"{source.name} is no live cluster, so it has no changes to undo; name one (--bootstrap-server)"
    )


def check_cluster(entry: JournalEntry, source: LiveSource) -> None:
    """UsageError if the entry is about another cluster, or about an unknown one."""
    cluster = source.cluster_id()
    if entry.cluster != cluster or cluster is None:
        context = f"the context {entry.context}, " if entry.context else ""
        raise UsageError(
            f"{entry.id} changed the cluster {entry.cluster or 'with an unknown id'} ({context}{entry.servers}), "
            f"but {source.name} is the cluster {cluster}; name the cluster of the entry (--context, -b)"
        )


def last_change(entries: Sequence[Journaled], cluster: str | None, journal: str) -> Journaled:
    """The last entry of the cluster that is no undo, is not undone, and may have changed anything. CommandError if
    there is none."""
    undone = undone_by(entries)
    for entry, end in reversed(entries):
        if entry.cluster != cluster or entry.undoes is not None or entry.id in undone:
            continue
        if any(result.result is not ItemOutcome.FAILED for _, result in paired(entry, end)):
            return entry, end
    raise CommandError(
        f"{journal} has no change of the cluster {cluster} that can be undone; an undo is undone by its id, which "
        "`kohort journal` lists"
    )


def plan_restoration(
    source: LiveSource,
    writer: ClusterWriter | None,
    entry: JournalEntry,
    results: Sequence[tuple[ChangedItem, ItemResult]],
    *,
    partly: bool,
) -> Restoration:
    """Raises CommandError, WireError: what the cluster has cannot be read."""
    present = read_present(source, [item for item, _ in results])
    rows = compared_items(results, present)
    restored = [row for row in rows if row.verdict is ItemVerdict.RESTORE]
    created = {
        row.item.group for row in restored if row.item.kind is ItemKind.GROUP and row.item.before is None
    }
    offsets = [row for row in restored if row.item.kind is ItemKind.OFFSET and row.item.group not in created]
    return Restoration(
        entry=entry,
        rows=rows,
        partly=partly,
        features=_features(source, [row for row in restored if row.item.kind is ItemKind.FEATURE]),
        settings=_settings(source, [row for row in restored if row.item.kind is ItemKind.SETTING]),
        offsets=OffsetsChange(
            command="undo",
            plans=_commits([row for row in offsets if row.item.before is not None], present),
            facts={},
            writer=writer,
            topic_ids=present.topic_ids,
        ),
        cleared=OffsetsDeletions(
            plans=_deletions([row for row in offsets if row.item.before is None], present), writer=writer
        ),
        deletions=GroupDeletions(
            plans=[plan_group_deletion(present.groups[name]) for name in present.groups if name in created],
            writer=writer,
        ),
    )


def _by_group(rows: Iterable[ComparedItem]) -> Mapping[str, Sequence[ComparedItem]]:
    groups: dict[str, list[ComparedItem]] = {}
    for row in rows:
        groups.setdefault(row.item.group or "", []).append(row)
    return groups


def _commits(rows: Sequence[ComparedItem], present: PresentState) -> tuple[GroupChange, ...]:
    """The commits of the offsets that were replaced, with their leader epochs and metadata."""
    plans = []
    for name, offsets in _by_group(rows).items():
        exists = name in present.groups
        group = present.groups[name] if exists else absent(name, offsets[0].item.type or GroupType.CLASSIC)
        replaced = {row.place: row.item for row in offsets}
        listed = {place: int(item.before or 0) for place, item in replaced.items()}
        plan = plan_reset(group, ToListed({name: listed}), list(replaced), present.positions, exists=exists)
        changes = (
            replace(change, leader_epoch=item.leader_epoch, metadata=item.metadata or "")
            for change in plan.changes
            for item in [replaced[change.place]]
        )
        plans.append(replace(plan, changes=tuple(changes)))
    return tuple(plans)


def _deletions(rows: Sequence[ComparedItem], present: PresentState) -> tuple[OffsetsDeletion, ...]:
    """The deletions of offsets where there were none."""
    plans = []
    for name, offsets in _by_group(rows).items():
        group = present.groups[name]
        numbers = by_topic(row.place for row in offsets)
        scopes = [_scope(group, topic, numbers[topic]) for topic in numbers]
        plans.append(plan_offsets_deletion(group, scopes))
    return tuple(plans)


def _scope(group: Group, topic: str, numbers: Sequence[int]) -> TopicScope:
    """Offsets of a share group are deleted by topic."""
    is_whole = group.type is GroupType.SHARE and {*numbers} == {*(group.offsets or {}).get(topic, {})}
    return TopicScope(topic, None if is_whole else tuple(numbers))


def _settings(source: LiveSource, rows: Sequence[ComparedItem]) -> ConfigChange | None:
    if not rows:
        return None
    settings = settings_of(source)
    changes: dict[str, dict[str, str | None]] = {}
    for row in rows:
        before = row.item.before
        changes.setdefault(row.item.group or "", {})[row.item.name or ""] = (
            None if before is None else str(before)
        )
    return change_of_settings(settings, changes, settings.read(list(changes)), command="undo")


def _features(source: LiveSource, rows: Sequence[ComparedItem]) -> FeaturesChange | None:
    if not rows:
        return None
    levels = {row.item.name or "": int(row.item.before or 0) for row in rows}
    lowers = any(int(row.item.before or 0) < int(row.now or 0) for row in rows)
    kind = SAFE_DOWNGRADE if lowers else UPGRADE
    return plan_features(source, LevelsRequest(levels=levels, release=None, upgrade_type=kind))
