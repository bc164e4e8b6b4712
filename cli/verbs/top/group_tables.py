"""The tables of a group's screen."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from cli.render.cells import Cell, Duration, duration_cell, safe_text
from cli.render.fit import short_names
from cli.render.lines import Line, Piece, Role
from cli.verbs.describe.members import tasks_text
from cli.verbs.describe.migration import waits_text
from cli.verbs.describe.roles import RoleColumns
from cli.verbs.top.group_rows import rate_text
from cli.verbs.top.group_summary import SETTLED, group_on_screen
from cli.verbs.top.sight import Sample, SeenGroup, Sight
from cli.verbs.top.tables import Figure, GridTable, grid_of
from cli.verbs.watch.event_text import clock_text, places_text
from cli.verbs.watch.events import Place, owners_of
from cli.verbs.watch.state import LEAST_RATE_MS, RATE_WINDOW_MS, TopicLag, topic_lags
from groups.classic_streams import as_streams_member, streams_threads
from groups.counts import first_names
from groups.findings import Finding
from groups.lag import PartitionLag, longest_lag, total_lag
from groups.model import Group, GroupType, Partitions
from groups.streams import StreamsMember
from groups.times import format_moment
from groups.waits import labels_of
from migration.inspection import InspectedMember, inspect

BARS = "▁▂▃▄▅▆▇█"
SPARKS = 10  # Samples of a sparkline
LABEL = 24  # Width of names of members and topics; more only if they would not stay unique
MemberColumn = tuple[str, Callable[[InspectedMember], Cell]]


def members_table(sight: Sight, name: str) -> GridTable:
    """What matters in a rebalance is first; the lists of partitions, which may be long, are last."""
    group = group_on_screen(sight, name)
    members = () if group is None else inspect(group).members
    labels = {one.member.id: one.label for one in members}
    names = short_names(labels.values(), LABEL)
    shown: list[MemberColumn] = [("MEMBER", lambda one: names[one.label])]
    if group is not None:
        shown += _member_columns(group, labels, sight.groups.get(name))
    return grid_of(members, lambda one: one.member.id, *shown)


def _member_columns(group: Group, labels: dict[str, str], seen: SeenGroup | None) -> list[MemberColumn]:
    is_classic, is_consumer = group.type is GroupType.CLASSIC, group.type is GroupType.CONSUMER
    owns = group.shares_partitions
    has_targets = any(one.target not in (None, one.owned) for one in group.members)
    shown: list[MemberColumn] = []
    if (
        not is_classic
        or group.generation is not None
        or any(one.generation is not None for one in group.members)
    ):
        shown.append(("#GENERATION" if is_classic else "#EPOCH", lambda one: one.epoch))
    if owns:
        shown.append(("##PARTITIONS", lambda one: _count(one.member.owned)))
    if owns and group.type is not GroupType.SHARE:  # whose members share each partition
        lags = lags_of_members(seen)
        shown.append(("#LAG", lambda one: lags.get(one.member.id)))
    if group.state not in SETTLED and owns and (is_consumer or is_classic):
        shown.append(("WAITS-FOR", lambda one: waits_text(one, labels) if one.waits else None))
    if has_targets:
        shown.append(("GAINS", lambda one: _without(one.member.target, one.member.owned)))
        shown.append(("REVOKES", lambda one: _without(one.member.owned, one.member.target)))
    if tasks := tasks_of(group):
        shown += _task_columns(tasks)
    if owns:
        shown.append(("OWNS", lambda one: places_text(one.member.owned or {}) or None))
    if has_targets:
        shown.append(("TARGET", lambda one: places_text(one.member.target or {}) or None))
    if is_classic and owns:
        shown.append(("LEADS", leads_text))
    if is_consumer:
        shown.append(("PROTOCOL", lambda one: one.member.protocol and one.member.protocol.value))
    roles = RoleColumns.of([group], verbose=False)
    for position, heading in enumerate(roles.headings):
        shown.append((heading, partial(_role_cell, roles, group, position)))
    shown.append(("HOST", lambda one: one.member.client.address))
    return shown


def _role_cell(roles: RoleColumns, group: Group, position: int, one: InspectedMember) -> Cell:
    return roles.cells(group, one.member)[position]


def _task_columns(tasks: Mapping[str, StreamsMember]) -> list[MemberColumn]:
    """Of Kafka Streams: the tasks, and those of the target where they differ."""

    def of(one: InspectedMember) -> StreamsMember:
        return tasks.get(one.member.id, StreamsMember())

    shown: list[MemberColumn] = [("TASKS", lambda one: tasks_text(of(one).tasks))]
    if any(known.target_tasks not in (None, known.tasks) for known in tasks.values()):
        shown.append(("TARGET-TASKS", lambda one: tasks_text(of(one).target_tasks)))
    shown.append(("PROCESS", lambda one: of(one).process))
    shown.append(("#TOPOLOGY-EPOCH", lambda one: of(one).topology_epoch))
    return shown


def tasks_of(group: Group) -> dict[str, StreamsMember]:
    """By member, of Kafka Streams on either protocol."""
    tasks = {thread.member.id: as_streams_member(thread) for thread in streams_threads(group)}
    return tasks | {member.id: member.streams for member in group.members if member.streams is not None}


def lags_of_members(seen: SeenGroup | None) -> dict[str, int | None]:
    by_member: dict[str, list[int | None]] = {}
    for row in seen.polled.rows() if seen else ():
        if row.member is not None:
            by_member.setdefault(row.member.id, []).append(row.lag)
    return {member: total_lag(lags) for member, lags in by_member.items()}


def leads_text(one: InspectedMember) -> str | None:
    """Whether it leads, or would when the leader leaves."""
    return "leads" if one.leads else None if one.rank is None else "next" if one.rank == 1 else str(one.rank)


def _count(partitions: Partitions | None) -> int | None:
    return None if partitions is None else sum(map(len, partitions.values()))


def _without(partitions: Partitions | None, others: Partitions | None) -> str | None:
    """The partitions in the first but not in the second; None if there are none, or if either is not known."""
    if partitions is None or others is None:
        return None
    left = {
        topic: sorted(set(numbers).difference(others.get(topic, ()))) for topic, numbers in partitions.items()
    }
    return places_text(left) or None


def topics_table(sight: Sight, name: str) -> GridTable:
    """The lag of the group by topic."""
    watched, seen = sight.watched.groups.get(name), sight.groups.get(name)
    partitions = Counter(topic for topic, _ in (watched.wanted if watched else ()))
    unowned = Counter(topic for topic, _ in (watched.unowned if watched else ()))
    lags = topic_lags(name, sight.watched.window, partitions)
    rows: dict[str, list[PartitionLag]] = {}
    for row in seen.polled.rows() if seen else ():
        rows.setdefault(row.topic, []).append(row)
    names = short_names((lag.topic for lag in lags), LABEL)
    return grid_of(
        lags,
        lambda lag: lag.topic,
        ("TOPIC", lambda lag: names[lag.topic]),
        ("##PARTITIONS", lambda lag: partitions[lag.topic] or len(rows.get(lag.topic, ()))),
        ("#LAG", lambda lag: lag.lag),
        ("#LAG-TIME", lambda lag: longest_cell(rows.get(lag.topic, ()))),
        ("#READ/S", lambda lag: rate_cell(lag.consumed_per_s)),
        ("#WRITTEN/S", lambda lag: rate_cell(lag.produced_per_s)),
        ("#ZERO-IN", _zero_in),
        ("#UNOWNED", lambda lag: unowned[lag.topic] if partitions[lag.topic] else None),
        ("##LAG-UNKNOWN", lambda lag: lag.unknown or None),
    )


def _zero_in(lag: TopicLag) -> Duration | None:
    """Nothing if all is read: there is nothing to catch up on."""
    return duration_cell(lag.seconds_to_zero) if lag.seconds_to_zero else None


PartitionColumn = tuple[str, Callable[[PartitionLag], Cell]]


def partitions_table(sight: Sight, name: str) -> GridTable:
    """In the past, and of a source without ends of logs, the commits alone."""
    seen, group = sight.groups.get(name), group_on_screen(sight, name)
    rows = sorted(seen.polled.rows(), key=lambda row: (row.topic, row.partition)) if seen else []
    topics = short_names({row.topic for row in rows}, LABEL)
    owners = owner_names(group)
    shown: list[PartitionColumn] = [
        ("TOPIC", lambda row: topics[row.topic]),
        ("#PARTITION", lambda row: row.partition),
    ]
    rates = {(row.topic, row.partition): rates_of(samples_of(seen, row)) for row in rows}
    if not rows or any(row.end is not None or row.lag is not None for row in rows):
        shown.append(("#LAG", lambda row: row.lag))
        shown.append(("#LAG-TIME", lag_time))
        shown.append(("#READ/S", lambda row: rate_cell(rates[row.topic, row.partition][0])))
        shown.append(("#WRITTEN/S", lambda row: rate_cell(rates[row.topic, row.partition][1])))
        shown.append(("OWNER", lambda row: owners.get((row.topic, row.partition))))
        shown.append(("TREND", lambda row: sparkline(samples_of(seen, row))))
        shown.append(("#COMMITTED", lambda row: row.committed))
        shown.append(("#LOG-END", lambda row: row.end))
    else:
        shown.append(("#COMMITTED", lambda row: row.committed))
        shown.append(("OWNER", lambda row: owners.get((row.topic, row.partition))))
    if any(row.last_commit_ms is not None for row in rows):
        shown.append(("LAST-COMMIT", lambda row: row.last_commit_ms and format_moment(row.last_commit_ms)))
    return grid_of(rows, lambda row: place_key(row.topic, row.partition), *shown)


def owner_names(group: Group | None) -> dict[Place, str]:
    """The owner of each partition; in a share group there may be several."""
    if group is None:
        return {}
    labels = labels_of(group)
    names = short_names(labels.values(), LABEL)
    return {
        place: first_names([names[labels[one]] for one in ids]) for place, ids in owners_of(group).items()
    }


def place_key(topic: str, partition: int) -> str:
    return f"{topic}:{partition}"


def place_of(key: str) -> tuple[str, int]:
    topic, _, number = key.rpartition(":")
    return topic, int(number)


def lag_time(row: PartitionLag) -> Duration | None:
    return None if row.lag_ms is None else Duration(row.lag_ms)


def longest_cell(rows: Iterable[PartitionLag]) -> Duration | None:
    """The age of the oldest unread record of all."""
    longest = longest_lag(rows).ms
    return None if longest is None else Duration(longest)


def rate_cell(per_s: float | None) -> Figure | None:
    return None if per_s is None else Figure(rate_text(per_s) or "", per_s)


def samples_of(seen: SeenGroup | None, row: PartitionLag) -> Sequence[Sample]:
    return seen.samples.get((row.topic, row.partition), ()) if seen else ()


def rates_of(samples: Sequence[Sample]) -> tuple[float | None, float | None]:
    """Records per second that were read and written, over the last `RATE_WINDOW_MS`; None: not known."""
    if not samples:
        return None, None
    last = samples[-1]
    window = samples[bisect_left(samples, last.at_ms - RATE_WINDOW_MS, key=lambda one: one.at_ms) :]
    committed = next((one for one in window if one.committed is not None), last)
    end = next((one for one in window if one.end is not None), last)
    read = _rate(last.at_ms - committed.at_ms, committed.committed, last.committed)
    return read, _rate(last.at_ms - end.at_ms, end.end, last.end)


def _rate(took_ms: int, before: int | None, after: int | None) -> float | None:
    if before is None or after is None or took_ms < LEAST_RATE_MS or after < before:
        return None
    return (after - before) * 1000 / took_ms


def sparkline(samples: Sequence[Sample], marks: int = SPARKS) -> str:
    """The lag at the last polls, as bars from 0 to the largest; a blank where it is not known."""
    values = [sample.lag for sample in samples[-marks:]]
    most = max((value for value in values if value is not None), default=0)
    return "".join(
        " " if value is None else BARS[0 if most <= 0 else max(value, 0) * (len(BARS) - 1) // most]
        for value in values
    )


def time_text(at_ms: int, *others_ms: int) -> str:
    """The time of the day; with the date if any of the others is of another day."""
    days = {format_moment(ms)[:10] for ms in (at_ms, *others_ms)}
    return clock_text(at_ms) if len(days) == 1 else format_moment(at_ms)[:19].replace("T", " ")


def findings_table(sight: Sight, name: str) -> GridTable:
    return grid_of(
        findings_of(sight, name).items(),
        lambda item: item[0],
        ("LEVEL", lambda item: item[1].level.value),
        ("RULE", lambda item: item[1].rule),
        ("FINDING", lambda item: item[1].message),
        ("REMEDY", lambda item: item[1].remedy),
    )


def findings_are_known(sight: Sight, name: str) -> bool:
    seen = sight.groups.get(name)
    return seen is not None and seen.history.diagnosis is not None


def findings_of(sight: Sight, name: str) -> dict[str, Finding]:
    """By a key that lasts from one poll to the next, the worst first."""
    seen = sight.groups.get(name)
    diagnosis = seen.history.diagnosis if seen else None
    findings: dict[str, Finding] = {}
    for one in diagnosis.findings if diagnosis else ():
        number = sum(key.startswith(f"{one.rule} {one.member or ''} ") for key in findings)
        findings[f"{one.rule} {one.member or ''} {number}"] = one
    return findings


def finding_lines(one: Finding) -> Iterator[Line]:
    """The problem and the remedy; the widget folds them."""
    yield (Piece(safe_text(one.message)),)
    yield (Piece("What to do: ", Role.HEADING), Piece(safe_text(one.remedy)))
