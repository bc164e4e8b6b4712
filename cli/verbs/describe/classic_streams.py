"""Threads of Kafka Streams on the classic protocol in `kohort describe`: what their assignor's user data contains."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cli.render.cells import Cell
from cli.render.document import Table, columns
from groups.classic_streams import MEANINGS, StreamsThread, error_name, streams_threads, task_lags
from groups.model import Group, Topic
from groups.times import duration_text, format_moment
from wire.messages.streams_assignor import IS_ACTIVE, NO_REBALANCE, TaskId


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicStreamsGroup:
    """A classic Streams group with its threads; `lags` of their tasks by member, empty if no changelog was read."""

    group: Group
    threads: tuple[StreamsThread, ...]
    lags: Mapping[str, Mapping[TaskId, int]] = field(default_factory=dict)


def application(group: Group, topics: Mapping[str, Topic]) -> ClassicStreamsGroup:
    threads = streams_threads(group)
    return ClassicStreamsGroup(group=group, threads=threads, lags=task_lags(group, threads, topics))


def _labels(group: Group) -> dict[str, str]:
    # It imports assignors and numpy, which take more memory than most groups.
    from groups.waits import labels_of

    return labels_of(group)


def thread_data(thread: StreamsThread, lags: Mapping[TaskId, int]) -> dict[str, object]:
    """`members[].streams` of the JSON document."""
    subscription, assignment = thread.subscription, thread.assignment
    return {
        "subscription": subscription
        and {
            "version": subscription.version,
            "supported": subscription.newest_known,
            "process": thread.process,
            "active": _names(subscription.active),
            "standby": _names(subscription.standby),
            "endpoint": subscription.end_point,
            "error": error_name(subscription.error),
            "tags": None if subscription.tags is None else dict(sorted(subscription.tags.items())),
            "offset_sums": {str(task): offsets for task, offsets in sorted(subscription.offset_sums.items())},
            "lags": {str(task): lags.get(task) for task in sorted(subscription.offset_sums)},
        },
        "assignment": assignment
        and {
            "version": assignment.version,
            "common": assignment.commonly_known,
            "active": _names(thread.active),
            "standby": _names(thread.standby),
            "warm_ups": None if thread.warm_ups is None else _names(thread.warm_ups),
            "error": error_name(assignment.error),
            "next_rebalance_ms": None
            if assignment.next_rebalance_ms in (None, NO_REBALANCE)
            else assignment.next_rebalance_ms,
        },
        "rebalancing": thread.rebalancing and thread.rebalancing.value,
        "unreadable": thread.unreadable,
    }


def _names(tasks: Iterable[TaskId]) -> list[str]:
    return [str(task) for task in sorted(tasks)]


def threads_table(applications: Sequence[ClassicStreamsGroup]) -> Table:
    """A row for each thread: what its process had when it last joined, and the versions that it and its leader use."""
    names = ["GROUP", "THREAD", "#ASSIGNOR-VERSION", "#NEWEST-VERSION", "REBALANCE-PROTOCOL", "TASK-OFFSETS"]
    names += ["NEXT-REBALANCE", "ERROR"]

    def row(application: ClassicStreamsGroup, label: str, thread: StreamsThread) -> list[Cell]:
        lags = application.lags.get(thread.member.id, {})
        return [
            application.group.id,
            label,
            thread.used,
            thread.newest_known,
            thread.rebalancing and thread.rebalancing.value,
            _state_text(thread, lags),
            _next_rebalance(thread),
            error_name(thread.error),
        ]

    return Table(
        columns=columns(*names),
        rows=[
            row(application, labels[thread.member.id], thread)
            for application in applications
            for labels in (_labels(application.group),)
            for thread in application.threads
        ],
    )


def _state_text(thread: StreamsThread, lags: Mapping[TaskId, int]) -> str | None:
    """`0_1: active; 0_2: 42 (lag 7)`: the sum of offsets of each task that the process has."""

    def text(task: TaskId, offsets: int) -> str:
        if offsets == IS_ACTIVE:
            return f"{task}: active"
        if offsets < 0:
            return f"{task}: copy"
        lag = f" (lag {lags[task]})" if task in lags else ""
        return f"{task}: {offsets}{lag}"

    return "; ".join(text(task, offsets) for task, offsets in sorted(thread.offset_sums.items())) or None


def _next_rebalance(thread: StreamsThread) -> str | None:
    if thread.follows_up:
        return "at once"
    return None if thread.probes_at_ms is None else format_moment(thread.probes_at_ms)


def streams_remarks(applications: Sequence[ClassicStreamsGroup], now_ms: int) -> Iterator[str]:
    """Sentences on probing rebalances, errors in words, and data that cannot be read."""
    for application in applications:
        labels = _labels(application.group)
        name = application.group.id
        for thread in application.threads:
            label = labels[thread.member.id]
            if thread.probes_at_ms is not None:
                yield f"{name}: {_probing(application, thread, label, labels, now_ms)}"
            if thread.error:
                meaning = MEANINGS.get(thread.error, "unknown to Kafka 4.4")
                yield f"{name}: {label} has the error {error_name(thread.error)}: {meaning}."
            if thread.unreadable is not None:
                yield f"{name}: user data of {label} cannot be read: {thread.unreadable}."
        if application.threads and all(thread.subscription is None for thread in application.threads):
            yield f"{name}: the tasks of its threads are not known from this source."


def _probing(
    application: ClassicStreamsGroup,
    prober: StreamsThread,
    label: str,
    labels: Mapping[str, str],
    now_ms: int,
) -> str:
    due_ms = prober.probes_at_ms or 0
    left = f" (in {duration_text(due_ms - now_ms)})" if due_ms > now_ms else ""
    warm_ups = [
        f"{task} on {labels[thread.member.id]}"
        for thread in application.threads
        for task in thread.warm_ups or ()
    ]
    if warm_ups:
        why = f"whether its warm-ups have caught up: {', '.join(warm_ups)}"
    else:
        why = "whether its warm-ups, which its standby tasks contain, have caught up"
    return f"a probing rebalance is due at {format_moment(due_ms)}{left}, by {label}. It checks {why}."
