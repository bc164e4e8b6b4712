"""Rules about offsets that do not move (`groups.progress`): stalled members and partitions, stopped groups."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from groups.commits import timed_commits
from groups.counts import counted
from groups.diagnosis import case as cases
from groups.diagnosis.lag import BURROW, DAY_MS, is_alone, is_consuming
from groups.diagnosis.rebalances import assigned_ms, held_ms
from groups.findings import Evidence, Finding
from groups.model import Group, Member, TopicPartition, each_partition
from groups.progress import COMMIT_INTERVAL_MS, FEW_RECORDS, STILL_INTERVALS, BurrowVerdict, PartitionProgress
from groups.times import duration_text, format_moment

SELDOM_MS = 60_000  # the longest commit interval of a healthy group; Kafka Streams: every 30 seconds
ABANDONED_MS = 7 * DAY_MS  # without members and commits for this long: abandoned, not stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    member: Member
    places: Mapping[TopicPartition, PartitionProgress]  # without those that wait for an open transaction
    moving: Mapping[TopicPartition, PartitionProgress]  # the partitions whose offsets the member commits


def _stalls(case: cases.DiagnosisCase) -> Iterator[Stall]:
    """Members with partitions that have been stalled since the member got them."""
    if all(one.verdict is not BurrowVerdict.STALLED for one in case.partitions.values()):
        return
    for member in case.group.members:
        owned = {
            partition: case.partitions[partition]
            for partition in each_partition(member.owned)
            if partition in case.partitions
        }
        stalled = {
            partition: one
            for partition, one in owned.items()
            if one.verdict is BurrowVerdict.STALLED and not _waits(case, partition)
        }
        if stalled and _had(case, member, stalled) < case.seen_ms:
            least_ms = STILL_INTERVALS * case.thresholds.commit_interval_ms
            stalled = {
                partition: one._replace(still_ms=still_ms)
                for partition, one in stalled.items()
                if (still_ms := min(one.still_ms, _had(case, member, (partition,)))) >= least_ms
            }
        if stalled and _is_certain(case, owned, stalled):
            moving = {
                partition: one
                for partition, one in owned.items()
                if one.committed_per_s and one.verdict is not BurrowVerdict.STALLED
            }
            yield Stall(member=member, places=stalled, moving=moving)


def _waits(case: cases.DiagnosisCase, partition: TopicPartition) -> bool:
    return partition in case.pending or cases.waits_for_transaction(case, partition)


def _is_certain(
    case: cases.DiagnosisCase,
    owned: Iterable[TopicPartition],
    stalled: Mapping[TopicPartition, PartitionProgress],
) -> bool:
    """Whether a record is known to be unread, or no partition was searched for one."""
    searched = [partition for partition in owned if partition in case.last.next_records]
    return not searched or any(partition in stalled for partition in searched)


def _had(case: cases.DiagnosisCase, member: Member, partitions: Iterable[TopicPartition]) -> int:
    expected = set(partitions)

    def owns(group: Group) -> bool:
        same = next((other for other in group.members if other.id == member.id), None)
        return same is not None and expected <= set(each_partition(same.owned))

    return held_ms(case, owns)


def _had_lag(one: PartitionProgress, limits: cases.Thresholds) -> bool:
    """Whether there was more to read at the first or the last reading than is produced in a commit interval."""
    in_interval = (one.produced_per_s or 0) * limits.commit_interval_ms / 1000
    lag = one.lag or 0
    return max(lag, lag - (one.lag_change or 0)) > max(in_interval, FEW_RECORDS)


def _joined(stalls: Iterable[Stall]) -> dict[TopicPartition, PartitionProgress]:
    return {partition: one for stall in stalls for partition, one in stall.places.items()}


def _still_ms(partitions: Mapping[TopicPartition, PartitionProgress]) -> int:
    return min(one.still_ms for one in partitions.values())


def _lag(partitions: Mapping[TopicPartition, PartitionProgress]) -> int:
    return sum(one.lag or 0 for one in partitions.values())


def _may_stall(case: cases.DiagnosisCase) -> bool:
    """Whether a member's partition has records to read and an offset that has not moved, but not for long."""
    return any(
        (one.lag or 0) > 0 and not one.committed_per_s and not _waits(case, partition)
        for partition, one in case.partitions.items()
    )


STILL = cases.Least(
    ms=lambda limits: STILL_INTERVALS * limits.commit_interval_ms,
    may_hide=_may_stall,
    observed_ms=assigned_ms,
)


def _evidence(case: cases.DiagnosisCase, partitions: Mapping[TopicPartition, PartitionProgress]) -> Evidence:
    produced = [one.produced_per_s for one in partitions.values() if one.produced_per_s is not None]
    timed = timed_commits(case.offsets)
    commits = [one.timestamp for place, one in timed if place in partitions and one.timestamp is not None]
    return {
        "partitions": cases.all_names(partitions),
        "lag": _lag(partitions),
        "still_for_s": _still_ms(partitions) / 1000,
        "produced_per_s": round(sum(produced), 2) if produced else None,
        "last_commit": format_moment(max(commits)) if commits else None,
    }


def _level(case: cases.DiagnosisCase, still_ms: int, facts: Evidence) -> tuple[Callable[..., Finding], str]:
    """The level of a stall, with a sentence if the group may commit less often than assumed."""
    gap_ms, rebalanced_ms = case.group.commit_gap_ms, case.group.rebalanced_ms
    is_long = still_ms >= SELDOM_MS
    is_set = case.thresholds.commit_interval_ms != COMMIT_INTERVAL_MS
    changed_ms = None if rebalanced_ms is None else case.last.at_ms - rebalanced_ms
    if facts["last_commit"] is None and not is_long:
        return cases.warning, " Its last commit could not be read: it may be healthy and commit less often."
    if changed_ms is not None and changed_ms < 2 * SELDOM_MS and not is_set:
        # members also commit when partitions are revoked: the time between the last two commits is not the interval.
        why = f" It was rebalanced {duration_text(changed_ms)} ago: it may be healthy and commit less often."
        return (cases.error, "") if is_long else (cases.note, why)
    if gap_ms is None:
        why = " Its commit before the last one is not known: it may be healthy and commit less often."
        return (cases.error, "") if is_long or is_set else (cases.warning, why)
    why = f" Its last two commits were {duration_text(gap_ms)} apart: it may be healthy and commit no more often."
    return (cases.error, "") if still_ms >= STILL_INTERVALS * gap_ms else (cases.note, why)


def _since_ms(case: cases.DiagnosisCase, partitions: Mapping[TopicPartition, PartitionProgress]) -> int:
    return case.last.at_ms - _still_ms(partitions)


@cases.rule(
    "stalled-member",
    source=f"{BURROW}; confluentinc/librdkafka#4723",
    needs=(cases.Need.MEMBERS, cases.Need.OFFSETS, cases.Need.COMMITS, cases.Need.END_OFFSETS),
    least=STILL,
    applies=is_consuming,
)
def stalled_member(case: cases.DiagnosisCase) -> Iterator[Finding]:
    """None of the member's partitions advances, and some have unread records."""
    stalls = [stall for stall in _stalls(case) if not stall.moving]
    if not stalls:
        return
    partitions = _joined(stalls)
    members = [stall.member.id for stall in stalls]
    evidence = _evidence(case, partitions)
    one = len(members) == 1
    still_ms = _still_ms(partitions)
    level, seldom = _level(case, still_ms, evidence)
    host = stalls[0].member.client.address
    where = f" ({host})" if host else ""
    yield level(
        message=f"{case.named(members)} {'is' if one else 'are'} in the group and {'has' if one else 'have'} committed "
        f"nothing for at least {duration_text(still_ms)} in {cases.names(partitions)}, with "
        f"{counted(_lag(partitions), 'record')} to read there.{seldom}",
        remedy=f"Take a thread dump of {case.named(members[:1])}{where}: it is blocked between two polls, has paused "
        "its partitions, or does not commit. Restart it. If it commits less often than every "
        f"{duration_text(case.thresholds.commit_interval_ms)}, set --commit-interval.",
        members=tuple(members),
        since_ms=_since_ms(case, partitions),
        evidence=evidence,
    )


@cases.rule(
    "stalled-partition",
    source=BURROW,
    needs=(cases.Need.MEMBERS, cases.Need.TWO_OFFSETS, cases.Need.COMMITS, cases.Need.END_OFFSETS),
    least=STILL,
    applies=is_consuming,
)
def stalled_partition(case: cases.DiagnosisCase) -> Iterator[Finding]:
    """A record on which the consumer fails again and again, or it reads its other partitions first."""
    stalls = [stall for stall in _stalls(case) if stall.moving]
    partitions = _joined(stalls)
    if not partitions:
        return
    topic, number = min(partitions)
    at = case.offsets[topic][number].offset
    still_ms = _still_ms(partitions)
    moving = {partition: one for stall in stalls for partition, one in stall.moving.items()}
    unread = [partition for partition, one in moving.items() if _had_lag(one, case.thresholds)]
    elsewhere = (
        f" {'It reads' if len(stalls) == 1 else 'They read'} a backlog of {cases.names(unread)}, and may read one "
        "partition after another."
    )
    have = "has" if len(unread) == 1 else "have"
    wait = f"Wait until {cases.names(unread)} {have} caught up. If it does not move then, "
    look = (
        f"inspect the next record of {topic}-{number}: kohort peek {case.in_shell} {topic}:{number}. Search the log of "
        f"{case.named([stalls[0].member.id])} for errors with this record: the consumer must be able to process it, or "
        "put it aside (a dead-letter topic)."
    )
    yield (cases.warning if unread or still_ms < SELDOM_MS else cases.error)(
        message=f"The committed offset of {cases.names(partitions)} has not moved for at least "
        f"{duration_text(still_ms)}, with {counted(_lag(partitions), 'record')} to read there, while the same "
        f"{'member commits' if len(stalls) == 1 else 'members commit'} other partitions: "
        f"{case.named(stall.member.id for stall in stalls)}.{elsewhere if unread else ''}",
        remedy=wait + look if unread else look[0].upper() + look[1:],
        members=tuple(stall.member.id for stall in stalls),
        since_ms=_since_ms(case, partitions),
        evidence={**_evidence(case, partitions), "offset": at},
    )


@cases.rule("stopped", source=BURROW, needs=(cases.Need.OFFSETS, cases.Need.END_OFFSETS), applies=is_alone)
def stopped(case: cases.DiagnosisCase) -> Iterator[Finding]:
    """The group has no members, its offsets do not move, and there are unread records."""
    lagging = {partition: one for partition, one in case.partitions.items() if (one.lag or 0) > 0}
    had_members = any(group.members for _, group in case.seen)
    if not lagging or (not had_members and any(one.committed_per_s for one in lagging.values())):
        return  # consumers may read and commit without being members
    evidence = _evidence(case, lagging)
    unread = _lag(lagging)
    commits = [one.timestamp for _, one in timed_commits(case.offsets) if one.timestamp is not None]
    idle_ms = case.last.at_ms - max(commits) if commits else None
    # A snapshot without a time is as old as its newest commit.
    last_commit = f" The last commit was {duration_text(idle_ms)} ago." if idle_ms and idle_ms > 0 else ""
    has_stopped = any(one.verdict is BurrowVerdict.STOPPED for one in lagging.values())
    abandoned = idle_ms is not None and idle_ms > ABANDONED_MS
    level: Callable[..., Finding] = cases.error
    seldom = ""
    if has_stopped and case.group.protocol_type == "":
        level, seldom = _level(case, _still_ms(lagging), evidence)
    if abandoned or not (has_stopped and _is_certain(case, case.last.next_records, lagging)):
        level = cases.warning
    delete = (
        f" If it is no longer needed: kohort delete {case.in_shell}. This loses its committed offsets: a consumer that "
        "starts later follows auto.offset.reset."
    )
    yield level(
        message=f"The group has no members, and {counted(unread, 'record')} {'is' if unread == 1 else 'are'} unread in "
        f"{counted(len(lagging), 'partition')}: {cases.names(lagging)}.{last_commit}{seldom}",
        remedy=f"Restart its consumers.{delete if abandoned else ''}",
        since_ms=_since_ms(case, lagging) if has_stopped else None,
        evidence=evidence,
    )
