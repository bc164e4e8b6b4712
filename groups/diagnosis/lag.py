"""Rules about lag that grows, shrinks slowly (`groups.progress`), is uneven or overtaken by retention; and rewinds."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from groups import progress
from groups.counts import counted
from groups.diagnosis.case import DiagnosisCase, Least, Need, all_names, error, names, note, rule, warning
from groups.diagnosis.rebalances import assigned_ms, is_unsettled
from groups.findings import Finding
from groups.model import Group, GroupType, TopicPartition
from groups.times import seconds_text

BURROW = "Burrow, Consumer Lag Evaluation Rules (groups.progress says where it differs)"
DAY_MS = 24 * 3_600_000


def has_offsets(group: Group) -> bool:
    """Whether the group commits offsets. Share groups do not: a broker tracks the records that they deliver."""
    return group.type is not GroupType.SHARE


def is_consuming(group: Group) -> bool:
    """Whether the group commits offsets, has members, and its state shows no rebalance."""
    return has_offsets(group) and bool(group.members) and not is_unsettled(group)


def is_alone(group: Group) -> bool:
    return has_offsets(group) and not group.members


def _any(holds: Callable[[progress.PartitionProgress], object]) -> Callable[[DiagnosisCase], bool]:
    return lambda case: any(map(holds, case.partitions.values()))


TREND = Least(
    ms=lambda limits: progress.TREND_INTERVALS * limits.commit_interval_ms,
    may_hide=_any(lambda one: one.trend in (progress.Trend.UNKNOWN, progress.Trend.DRAINS)),
    observed_ms=assigned_ms,
)  # unless times of records and commits show it at once


@rule(
    "overtaken",
    source="LogManager, deleteOldSegments; KIP-405",
    needs=(Need.TWO_OFFSETS, Need.START_OFFSETS),
    least=Least(
        ms=lambda _: 2 * progress.RETENTION_CHECK_S * 1000,
        may_hide=_any(lambda one: one.catch_up_s and one.lag),
    ),
    applies=has_offsets,
)
def overtaken(case: DiagnosisCase) -> Iterator[Finding]:
    """The log start approaches the committed offset and will reach it before the group has caught up."""
    lost = {
        partition: one.overtaken_s
        for partition, one in case.partitions.items()
        if one.overtaken_s is not None
        and 0 < one.overtaken_s < DAY_MS / 1000
        and (one.catch_up_s is None or one.overtaken_s < one.catch_up_s)
    }
    if not lost:
        return
    soonest = min(lost.values())
    yield error(
        message=f"Retention deletes records of {names(lost)} before the group reads them: at current rates the "
        f"first are deleted in {seconds_text(soonest)}.",
        remedy="Raise retention.ms (or retention.bytes) of the topic until the group has caught up: kafka-configs.sh "
        "--alter --entity-type topics --entity-name "
        f"{min(lost)[0]} --add-config retention.ms=…. Then add consumers, or make them faster.",
        evidence={"partitions": all_names(lost), "lost_in_s": round(soonest, 1)},
    )


@rule(
    "falling-behind",
    source=BURROW,
    needs=(Need.TWO_OFFSETS, Need.COMMITS, Need.END_OFFSETS),
    least=TREND,
    applies=lambda group: bool(group.members),
)
def falling_behind(case: DiagnosisCase) -> Iterator[Finding]:
    """Lag grows although offsets move, or have not moved for a short time only, for a group that commits seldom."""
    gap_ms = case.group.commit_gap_ms or 0
    growing = {
        partition: one
        for partition, one in case.partitions.items()
        if one.verdict is progress.BurrowVerdict.WARN
        or (one.trend is progress.Trend.GROWS and one.still_ms < progress.STILL_INTERVALS * gap_ms)
    }
    if not growing:
        return
    produced = sum(one.produced_per_s or 0 for one in growing.values())
    read = sum(one.committed_per_s or 0 for one in growing.values())
    oldest_s = max((one.age_s for one in growing.values() if one.age_s is not None), default=None)
    oldest = "" if oldest_s is None else f" The oldest unread record is {seconds_text(oldest_s)} old."
    yield warning(
        message=f"Lag grows in {counted(len(growing), 'partition')} of {len(case.partitions):,}: "
        f"{names(growing)}. {produced:,.1f} records per second are produced there and {read:,.1f} consumed: at "
        f"these rates the group never catches up.{oldest}",
        remedy="Add members, up to the number of partitions, or make processing faster. To follow it: "
        f"kohort watch {case.in_shell}.",
        evidence={
            "partitions": all_names(growing),
            "lag": sum(one.lag or 0 for one in growing.values()),
            "lag_grown_by": sum(one.lag_change or 0 for one in growing.values()),
            "produced_per_s": round(produced, 2),
            "committed_per_s": round(read, 2),
            "oldest_unread_s": oldest_s,
            "observed_for_s": case.seen_ms / 1000,
        },
    )


@rule(
    "slow-catch-up",
    source="groups.progress",
    needs=(Need.TWO_OFFSETS, Need.COMMITS, Need.END_OFFSETS),
    least=TREND,
    applies=lambda group: bool(group.members),
)
def slow_catch_up(case: DiagnosisCase) -> Iterator[Finding]:
    """Lag shrinks; reports the partition that takes longest to catch up at the present rates."""
    times = {
        partition: one.catch_up_s
        for partition, one in case.partitions.items()
        if one.catch_up_s is not None
        and 0 < one.catch_up_s < progress.NEVER
        and one.trend in (progress.Trend.SHRINKS, progress.Trend.DRAINS)
    }
    if not times:
        return
    partition = max(times, key=times.__getitem__)
    of_group = progress.progress_in(case.partitions)
    longest, lag = times[partition], of_group.lag
    yield (warning if longest * 1000 > case.thresholds.catch_up_ms else note)(
        message=f"The group is catching up: {counted(lag or 0, 'record')} {'is' if lag == 1 else 'are'} unread; at "
        f"current rates {names([partition])} takes longest, {seconds_text(longest)}.",
        remedy="None if that is soon enough; otherwise add members, up to the number of partitions.",
        evidence={
            "lag": lag,
            "produced_per_s": _rounded(of_group.produced_per_s),
            "committed_per_s": _rounded(of_group.committed_per_s),
            "catch_up_s": round(longest, 1),
        },
    )


@rule(
    "rewound",
    source="linkedin/Burrow#716",
    needs=(Need.TWO_OFFSETS,),
    least=Least(ms=TREND.ms, may_hide=_any(lambda one: one.lag or one.committed_per_s)),
    applies=has_offsets,
)
def rewound(case: DiagnosisCase) -> Iterator[Finding]:
    """By a reset, a seek, commits in the wrong order, or two consumers that commit a partition in turn."""
    partitions = {partition: one for partition, one in case.partitions.items() if one.rewinds}
    if not partitions:
        return
    yield warning(
        message=f"Committed offsets moved backwards in {counted(len(partitions), 'partition')}: {names(partitions)}; "
        "records are read again.",
        remedy="If the group was not reset, check for two consumers that commit the same partition, one of them "
        "evicted or assigned manually.",
        evidence={
            "partitions": all_names(partitions),
            "lag": sum(one.lag or 0 for one in partitions.values()),
        },
    )


@rule(
    "hot-partition",
    source="linkedin/Burrow#170",
    needs=(Need.TWO_OFFSETS, Need.COMMITS, Need.END_OFFSETS),
    least=Least(
        ms=TREND.ms,
        may_hide=lambda case: any(not one.committed_per_s for _, one in _hottest(case)),
        observed_ms=assigned_ms,
    ),
    applies=is_consuming,
)
def hot_partition(case: DiagnosisCase) -> Iterator[Finding]:
    """Partitions that advance but lag far more than the topic's others: a too frequent key, or a slow member."""
    partitions = {partition: one.lag or 0 for partition, one in _hottest(case) if one.committed_per_s}
    if not partitions:
        return
    lag = sum(partitions.values())
    yield warning(
        message=f"{names(partitions)} {'lags' if len(partitions) == 1 else 'lag'} far more than the other partitions "
        f"of the topic: {counted(lag, 'record')}.",
        remedy="Check whether one key has most of the records there; if so, split the key. Otherwise compare the "
        "member that owns the partition with the others.",
        evidence={"partitions": all_names(partitions), "lag": lag},
    )


def _hottest(case: DiagnosisCase) -> Iterator[tuple[TopicPartition, progress.PartitionProgress]]:
    if all((one.lag or 0) <= case.thresholds.hot for one in case.partitions.values()):
        return
    by_topic: dict[str, list[tuple[TopicPartition, progress.PartitionProgress]]] = {}
    for partition, one in case.partitions.items():
        if one.lag is not None:
            by_topic.setdefault(partition[0], []).append((partition, one))
    for rows in by_topic.values():
        if len(rows) < 3:
            continue
        usual = median(max(one.lag or 0, 0) for _, one in rows)
        for partition, one in rows:
            late = one.catch_up_s is not None and one.catch_up_s > _HOT_AFTER_S
            # What is produced in a minute may not have been committed yet.
            late &= (one.lag or 0) > (one.produced_per_s or 0) * _HOT_AFTER_S
            if late and (one.lag or 0) > case.thresholds.hot * max(usual, 1) and one.verdict in _GETS_ON:
                yield partition, one


_HOT_AFTER_S = 60
_GETS_ON: Sequence[progress.BurrowVerdict] = (progress.BurrowVerdict.OK, progress.BurrowVerdict.WARN)


def _rounded(rate: float | None) -> float | None:
    return None if rate is None else round(rate, 2)
