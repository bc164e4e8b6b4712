"""What of a change `kohort undo` cannot restore, and why."""

from collections.abc import Iterable, Iterator

from cli.journal.entry import ChangedItem, ItemKind, ItemOutcome, ItemResult
from groups.counts import counted, first_names
from groups.features import METADATA_VERSION

NEVER = (ItemKind.MEMBER, ItemKind.TOPIC, ItemKind.STEP)


def is_reversible(results: Iterable[tuple[ChangedItem, ItemResult]]) -> bool:
    """Whether `kohort undo` can restore any of these items, unless the cluster refuses."""
    return any(item.kind not in NEVER and result.result is not ItemOutcome.FAILED for item, result in results)


def irreversible(items: Iterable[ChangedItem]) -> tuple[str, ...]:
    """Sentences about what cannot be restored, for the preview of a change."""
    return tuple(_sentences(list(items)))


def _sentences(items: list[ChangedItem]) -> Iterator[str]:
    members = sum(item.kind is ItemKind.MEMBER for item in items)
    if members:
        yield f"kohort undo cannot restore {counted(members, 'removed member')}: a running client rejoins by itself"
    topics = sum(item.kind is ItemKind.TOPIC for item in items)
    if topics:
        yield f"kohort undo cannot restore {counted(topics, 'internal topic')}: the records are lost"
    if any(item.kind is ItemKind.STEP for item in items):
        yield "kohort undo cannot restore a migration: kohort migrate --back rolls it back"
    with_offsets = {item.group for item in items if item.kind is ItemKind.OFFSET}
    bare = [item.group or "" for item in items if _is_deleted(item) and item.group not in with_offsets]
    if bare:
        yield f"kohort undo cannot restore groups without committed offsets: {first_names(bare)}"
    for item in items:
        if item.kind is ItemKind.FEATURE and item.name == METADATA_VERSION and not _is_lower(item):
            yield f"kohort undo may be refused: brokers lower {item.name} only if that deletes no metadata"
        if item.kind is ItemKind.FEATURE and _is_lower(item):
            yield (
                f"kohort undo can raise {item.name} again, but not restore what brokers delete with the lower level"
            )


def _is_deleted(item: ChangedItem) -> bool:
    return item.kind is ItemKind.GROUP and item.before is not None


def _is_lower(item: ChangedItem) -> bool:
    return isinstance(item.before, int) and isinstance(item.after, int) and item.after < item.before
