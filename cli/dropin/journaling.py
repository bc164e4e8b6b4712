"""The entry of a change in the journal (docs/journal.md), in the directory that KOHORT_JOURNAL names. The tools have no
option for it, and print nothing of it."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from cli.dropin.errors import ToolFailure
from cli.dropin.printing import print_remark
from cli.errors import ExitStatus
from cli.journal.directory import VARIABLE, journal_directory
from cli.journal.entry import ChangedItem, EntryStatus, ItemKind, ItemOutcome, ItemResult, offset_item
from cli.journal.writer import JournalFile, NotJournaled
from cli.sources.live import LiveSource
from cli.stopping import Stopped
from groups.model import Group, GroupState, GroupType, TopicPartition, commit_of, each_commit
from wire.client.errors import Answers
from wire.errors import Failure

T = TypeVar("T")


def journaled(
    source: LiveSource,
    verb: str,
    items: Callable[[], Iterable[ChangedItem]],
    send: Callable[[], Answers[str, T]],
) -> Answers[str, T]:
    """Send a change between the two halves of its entry; `items` reads what it replaces, if there is a journal. Raises
    ToolFailure: the entry cannot be written, and nothing is sent."""
    directory = journal_directory()
    replaced = [] if directory is None else list(items())
    if directory is None or not replaced:
        return send()
    from cli.journal.recording import begin  # It loads what only commands of `kohort` need

    try:
        entry = begin(JournalFile(directory, os.uname().nodename), verb, replaced, source)
    except NotJournaled as error:
        why = str(error).partition("; nothing was changed")[0]
        raise ToolFailure(
            f"{why}; nothing was changed. Set {VARIABLE} to a writable directory, or to off",
            ExitStatus.UNREADABLE,
        ) from None
    status, results = EntryStatus.FAILED, [ItemResult(result=ItemOutcome.UNKNOWN)] * len(replaced)
    try:
        answers = send()
        results = [_result(answers, item) for item in replaced]
        if all(result.result is ItemOutcome.DONE for result in results):
            status = EntryStatus.DONE
    except Stopped:
        status = EntryStatus.STOPPED
        raise
    finally:
        if (unwritten := entry.end(status, results)) is not None:
            print_remark(unwritten)
    return answers


def _result(answers: Answers[str, T], item: ChangedItem) -> ItemResult:
    """What became of an item: answers are by group, and have a failure or None for each part; or by topic."""
    key = (item.topic if item.kind is ItemKind.TOPIC else item.group) or ""
    failure = answers.failed.get(key)
    parts = answers.found.get(key)
    if isinstance(parts, Mapping):
        found = (parts.get(part) for part in ((item.topic, item.partition), item.topic, item.name))
        failure = next((why for why in found if isinstance(why, Failure)), None)
    if failure is None:
        return ItemResult(result=ItemOutcome.DONE)
    unknown = failure.code is None and not failure.is_unsent
    return ItemResult(result=ItemOutcome.UNKNOWN if unknown else ItemOutcome.FAILED, message=failure.message)


def journaled_offsets(
    source: LiveSource,
    group: str,
    after: Callable[[Group], Mapping[TopicPartition, int | None]],
    send: Callable[[], Answers[str, T]],
    kind: GroupType | None = None,
) -> Answers[str, T]:
    """Set offsets of a group, which they create with this type if it does not exist, or delete them, without a type.
    `after`: the new offset of each partition, None if it is deleted."""

    def items() -> Iterator[ChangedItem]:
        (before,) = _before(source, [group], kind or GroupType.UNKNOWN)
        changed = after(before)
        if before.state is GroupState.DEAD and kind is not None and changed:
            created = GroupState.EMPTY.value
            yield ChangedItem(kind=ItemKind.GROUP, group=group, type=before.type, after=created)
        for key, offset in changed.items():
            yield offset_item(before, key, commit_of(before.offsets, key), offset, None)

    return journaled(source, "offsets reset" if kind else "offsets delete", items, send)


def delete_groups(source: LiveSource, names: Iterable[str]) -> Answers[str, bool]:
    """Delete groups, with their offsets."""
    doomed = list(dict.fromkeys(names))

    def items() -> Iterator[ChangedItem]:
        for group in _before(source, doomed, GroupType.UNKNOWN):
            before = group.state.value
            yield ChangedItem(kind=ItemKind.GROUP, group=group.id, type=group.type, before=before)
            for key, commit in each_commit(group.offsets):
                yield offset_item(group, key, commit, None, None)

    return journaled(source, "delete", items, lambda: source.delete_groups(doomed))


def _before(source: LiveSource, names: Iterable[str], kind: GroupType) -> list[Group]:
    """The named groups with their offsets; Dead and of this type if it does not exist."""
    described = {group.id: group for group in source.describe(list(names), offsets=True).items}
    return [described.get(name) or Group(id=name, type=kind, state=GroupState.DEAD) for name in names]
