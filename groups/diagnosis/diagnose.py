"""All rules, causes before effects, and the verdict on a group, with the rules that could not be checked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from groups.diagnosis import (
    assignments,
    classic_streams,
    lag,
    members,
    offsets,
    rebalances,
    stalls,
    transactions,
)
from groups.diagnosis.case import DiagnosisCase, DiagnosisRule, Need, Observation, Thresholds, unmet_needs
from groups.findings import Finding, Level, worst_first
from groups.offsets_progress import OffsetsAt, progress_of
from groups.progress import GroupProgress
from groups.times import duration_text
from groups.waits import labels_of

RULES: tuple[DiagnosisRule, ...] = (
    rebalances.unavailable,
    rebalances.stuck,
    members.poll_interval,
    members.storm,
    members.static_fencing,
    members.static_away,
    members.evicted,
    classic_streams.streams_error,
    classic_streams.version_probe,
    assignments.without_owner,
    assignments.target_not_reached,
    assignments.topic_missing,
    assignments.regex_matches_nothing,
    transactions.open_transaction,
    transactions.pending_offsets,
    offsets.topic_recreated,
    offsets.records_lost,
    offsets.beyond_end,
    stalls.stalled_member,
    stalls.stalled_partition,
    stalls.stopped,
    lag.overtaken,
    lag.falling_behind,
    lag.slow_catch_up,
    lag.rewound,
    lag.hot_partition,
    offsets.never_committed,
    offsets.expiring,
    assignments.skew,
    classic_streams.probe_overdue,
    rebalances.in_progress,
    offsets.left_over,
    transactions.aborted_records,
    assignments.idle_members,
    members.mixed_protocols,
    classic_streams.mixed_versions,
)


class Health(Enum):
    """The level of a group's worst finding; notes do not count."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotChecked:
    why: str
    rules: tuple[str, ...]
    least_ms: int | None = None  # the time of observation that they need, if only that is missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    group: str
    findings: tuple[Finding, ...] = ()  # sorted by level, the worst first
    not_checked: tuple[NotChecked, ...] = ()

    @property
    def verdict(self) -> Health:
        levels = {finding.level for finding in self.findings}
        if Level.ERROR in levels:
            return Health.ERROR
        return Health.WARNING if Level.WARNING in levels else Health.OK


def diagnose(
    group: str,
    observations: Sequence[Observation],
    thresholds: Thresholds,
    rules: Iterable[DiagnosisRule] = RULES,
    progress: GroupProgress | None = None,
) -> Diagnosis:
    """Check the observations of one group, oldest first; its progress is computed from them unless it is passed."""
    is_seen = any(observation.group is not None for observation in observations)
    labels: dict[str, str] = {}
    for observation in observations:
        if observation.group is not None and observation.group.members:
            labels |= labels_of(observation.group)
    seen = [
        OffsetsAt(one.at_ms, one.group, one.topics, one.waiting_since_ms, one.next_records)
        for one in observations
        if one.group is not None and one.group.offsets is not None and one.topics is not None
    ]
    case = DiagnosisCase(
        observations=tuple(observations),
        thresholds=thresholds,
        labels=labels,
        partitions=progress_of(seen, commit_interval_ms=thresholds.commit_interval_ms)
        if progress is None
        else progress.partitions,
    )
    unmet = unmet_needs(case) if is_seen else []
    findings: list[Finding] = []
    missing: dict[tuple[str, int | None], list[str]] = {}
    for each_rule in rules:
        if not (each_rule.applies(case.group) if is_seen else each_rule.of_unread):
            continue
        lacking = next((need for need in each_rule.needs if need in unmet), None) if unmet else None
        if lacking is not None:
            missing.setdefault((lacking.value, None), []).append(each_rule.name)
            continue
        results = list(each_rule.findings(case))
        findings += results
        is_found = any(result.level is not Level.NOTE for result in results)
        least_ms = None if is_found or each_rule.least is None else each_rule.least.lacking_ms(case)
        if least_ms is not None:
            changed = " without a rebalance" if case.seen_ms >= least_ms else ""
            why = f"needs to observe the group for {duration_text(least_ms)}{changed}"
            too_short = (why, least_ms) if case.seen_ms else (Need.TWO_OBSERVATIONS.value, None)
            missing.setdefault(too_short, []).append(each_rule.name)
    return Diagnosis(
        group=group,
        findings=worst_first(findings),
        not_checked=tuple(
            NotChecked(why=why, rules=tuple(names), least_ms=least_ms)
            for (why, least_ms), names in missing.items()
        ),
    )
