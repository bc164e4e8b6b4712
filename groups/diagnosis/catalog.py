"""All rules. Findings of the same level are shown in this order: causes before effects."""

from __future__ import annotations

from groups.diagnosis import (
    assignments,
    coordinators,
    lag,
    members,
    offsets,
    rebalances,
    stalls,
    subscriptions,
    transactions,
)
from groups.diagnosis.case import Rule

RULES: tuple[Rule, ...] = (
    coordinators.unavailable,
    rebalances.stuck,
    members.poll_interval,
    members.storm,
    members.static_fencing,
    members.static_away,
    members.evicted,
    assignments.without_owner,
    assignments.target_not_reached,
    subscriptions.topic_missing,
    subscriptions.regex_matches_nothing,
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
    rebalances.in_progress,
    offsets.left_over,
    transactions.aborted_records,
    assignments.idle_members,
    members.mixed_protocols,
)
