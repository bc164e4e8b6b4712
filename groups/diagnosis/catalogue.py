"""All rules, in the order in which findings of the same level are shown: what explains others comes first."""

from __future__ import annotations

from groups.diagnosis import assignments, rebalances
from groups.diagnosis.case import Rule

RULES: tuple[Rule, ...] = (
    rebalances.stuck,
    rebalances.in_progress,
    assignments.idle_members,
)
