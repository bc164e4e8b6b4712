"""All rules, in the order in which findings of the same level are shown: what explains others comes first."""

from __future__ import annotations

from groups.diagnosis import assignments, coordinators, members, rebalances, subscriptions
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
    assignments.skew,
    rebalances.in_progress,
    assignments.idle_members,
    members.mixed_protocols,
)
