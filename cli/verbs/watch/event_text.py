"""Events as text for people."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby

from cli.verbs.watch.events import EventKind, EventValue, WatchEvent
from cli.verbs.watch.state import Gap, ObservedEvent
from groups.counts import counted
from groups.model import Group, GroupType
from groups.times import duration_text, format_moment

MOST_NAMES = 3
_IMPLIED = (
    EventKind.COORDINATOR_MOVED,
    EventKind.GENERATION_CHANGED,
    EventKind.EPOCH_CHANGED,
    EventKind.ASSIGNMENT_EPOCH_CHANGED,
    EventKind.MEMBER_PROTOCOL_CHANGED,
    EventKind.SUBSCRIPTION_CHANGED,
    EventKind.MEMBER_EPOCH_CHANGED,
)
_TOGETHER = frozenset(
    {
        EventKind.MEMBER_EPOCH_CHANGED,
        EventKind.MEMBER_JOINED,
        EventKind.MEMBER_LEFT,
        EventKind.MEMBER_PROTOCOL_CHANGED,
        EventKind.SUBSCRIPTION_CHANGED,
        EventKind.OFFSETS_COMMITTED,
        EventKind.OFFSETS_SET_BACK,
        EventKind.OFFSETS_DELETED,
    }
)
"""Kinds of events of which similar ones share a line."""


def event_lines(
    happened: Iterable[ObservedEvent], labels: Mapping[str, str], *, commits: bool = False
) -> Iterator[tuple[int, str, str]]:
    """The time, group and text of an event, or of several similar ones; frequent commits only with `commits`."""
    shown = [observed for observed in happened if commits or not _is_implied(observed.event)]
    for _, alike in groupby(shown, key=_grouping_key):
        together = list(alike)
        first = together[0]
        yield first.at_ms, first.event.group, text_of_events(together, labels)


def clock_text(ms: int) -> str:
    """The time of day in UTC, to the millisecond: `12:03:07.412`."""
    try:
        moment = datetime.fromtimestamp(ms / 1000, tz=UTC)
    except (OverflowError, OSError, ValueError):
        return format_moment(ms)
    return f"{moment:%H:%M:%S}.{ms % 1000:03}"


def ranges_text(numbers: Sequence[int]) -> str:
    """Ascending numbers; runs of three or more are shortened: `0-3,7,9`."""
    parts: list[str] = []
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        values = [str(value) for _, value in run]
        parts += [f"{values[0]}-{values[-1]}"] if len(values) > 2 else values
    return ",".join(parts)


def places_text(partitions: Mapping[str, Sequence[int]]) -> str:
    """Partitions of topics: `orders:0-3,7;payments:1`."""
    return ";".join(
        f"{topic}:{ranges_text(numbers)}" for topic, numbers in sorted(partitions.items()) if numbers
    )


def span_text(span: Gap) -> str:
    """`1 s to 1.9 s`, `at most 400 ms`, `at least 3 s`."""
    if span.most_ms is None:
        return f"at least {duration_text(span.least_ms)}"
    most = duration_text(span.most_ms)
    if not span.least_ms:
        return f"at most {most}"
    least = duration_text(span.least_ms)
    return least if least == most else f"{least} to {most}"


def epoch_words(group: Group) -> list[str]:
    """`generation 7` for a classic group, `epoch 7` for others, with the target's epoch if it is older."""
    if group.type is GroupType.CLASSIC:
        return [] if group.generation is None else [f"generation {group.generation}"]
    words = [] if group.group_epoch is None else [f"epoch {group.group_epoch}"]
    if group.assignment_epoch is not None and group.assignment_epoch != group.group_epoch:
        words.append(f"target of epoch {group.assignment_epoch}")
    return words


def _is_implied(event: WatchEvent) -> bool:
    """Whether an event is hidden by default: a commit, or the initial state of a group or a member."""
    return event.kind is EventKind.OFFSETS_COMMITTED or (event.kind in _IMPLIED and event.before is None)


def _grouping_key(observed: ObservedEvent) -> tuple[object, ...]:
    event = observed.event
    if event.kind not in _TOGETHER:
        return (id(observed),)
    if event.kind is EventKind.OFFSETS_COMMITTED or event.topic is not None:
        return event.kind, event.group, event.topic
    if event.kind in (EventKind.MEMBER_JOINED, EventKind.MEMBER_LEFT):
        return event.kind, event.group
    return event.kind, event.group, event.before, event.after


def text_of_events(together: Sequence[ObservedEvent], labels: Mapping[str, str]) -> str:
    """The text of one event, or of several similar ones, without the time and group."""
    first = together[0]
    event = first.event
    if event.topic is not None and event.kind in _OFFSETS:
        return _offsets_text([observed.event for observed in together])
    if event.topic is not None:
        return _partitions_text(first, labels)
    who = _names([observed.event.member for observed in together], labels)
    if event.kind is EventKind.MEMBER_REPLACED:
        return f"{who} rejoined with a new member id, {event.after} instead of {event.before}"
    if event.kind is EventKind.STATE_CHANGED:
        taken = f", after {span_text(first.span)}" if first.span is not None else ""
        return f"{event.before} → {event.after}{taken}"
    if event.kind is EventKind.SUBSCRIPTION_CHANGED:
        topics = ", ".join(event.after) if isinstance(event.after, tuple) and event.after else "nothing"
        return f"{who} {'reads' if len(together) == 1 else 'read'} {topics}"
    if event.kind is EventKind.ASSIGNOR_CHANGED and event.before is None:
        return f"the assignor is {event.after}"
    return _TEXTS[event.kind].format(who=who, before=_value(event.before), after=_value(event.after))


_OFFSETS = (EventKind.OFFSETS_COMMITTED, EventKind.OFFSETS_SET_BACK, EventKind.OFFSETS_DELETED)
_TEXTS: Mapping[EventKind, str] = {
    EventKind.GROUP_APPEARED: "the group exists: {before}, {after}",
    EventKind.GROUP_GONE: "the group no longer exists",
    EventKind.TYPE_CHANGED: "the group's type is {after} now, {before} before",
    EventKind.COORDINATOR_MOVED: "the coordinator is {after} now, {before} before",
    EventKind.ASSIGNOR_CHANGED: "the assignor is {after} now, {before} before",
    EventKind.MEMBER_LEFT: "{who} left",
    EventKind.MEMBER_JOINED: "{who} joined",
    EventKind.MEMBER_PROTOCOL_CHANGED: "{who}: {after} protocol",
    EventKind.GENERATION_CHANGED: "generation {before} → {after}",
    EventKind.EPOCH_CHANGED: "epoch {before} → {after}",
    EventKind.ASSIGNMENT_EPOCH_CHANGED: "target assignment of epoch {after} computed, {before} before",
    EventKind.MEMBER_EPOCH_CHANGED: "{who}: epoch {before} → {after}",
}


def _value(value: EventValue) -> str:
    if value is None:
        return "none"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _names(ids: Sequence[str | None], labels: Mapping[str, str]) -> str:
    names = [labels.get(member, member) for member in ids if member is not None]
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[:MOST_NAMES])} and {counted(len(names) - MOST_NAMES, 'more member')}"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _partitions_text(observed: ObservedEvent, labels: Mapping[str, str]) -> str:
    event, span = observed.event, observed.span
    what = f"{event.topic}:{ranges_text(event.partitions)}"
    old, new = _owners(event.before, labels), _owners(event.after, labels)
    if event.kind is EventKind.PARTITIONS_LOST:
        return f"{what} without an owner; {old} had {'it' if len(event.partitions) == 1 else 'them'}"
    gap = f", {span_text(span)} without an owner" if span is not None else ""
    if event.kind is EventKind.PARTITIONS_ASSIGNED:
        return f"{what} to {new}{gap}"
    more = event.epochs is not None and event.epochs > 1
    least = f" (at least: {event.epochs} epochs passed between two observations)" if more else ""
    return f"{what} moved from {old} to {new}{gap}{least}"


def _owners(owners: EventValue, labels: Mapping[str, str]) -> str:
    return _names(owners, labels) if isinstance(owners, tuple) else _value(owners)


def _offsets_text(alike: Sequence[WatchEvent]) -> str:
    first = alike[0]
    numbers = ranges_text(sorted(number for event in alike for number in event.partitions))
    what = f"{first.topic}:{numbers}"
    if first.kind is EventKind.OFFSETS_DELETED:
        return f"{what}: committed offset{'' if len(alike) == 1 else 's'} deleted"
    steps = [
        event.after - event.before
        for event in alike
        if isinstance(event.after, int) and isinstance(event.before, int)
    ]
    if len(alike) == 1:
        was = "none" if first.before is None else f"{first.before}"
        back = "set back, " if first.kind is EventKind.OFFSETS_SET_BACK else ""
        return f"{what}: committed offset {back}{was} → {first.after}"
    if first.kind is EventKind.OFFSETS_SET_BACK:
        return f"{what}: committed offsets set back by {-sum(steps):,} records"
    new = len(alike) - len(steps)
    fresh = f", {new} for the first time" if new else ""
    return f"{what}: offsets committed, {sum(steps):,} records further{fresh}"
