"""All rules, in the order in which a plan prints what they find."""

from __future__ import annotations

from migration.model import Finding, Level
from migration.rules import assignors, broker, clients, kind, members
from migration.rules.case import Case, Rule

KIND: tuple[Rule, ...] = (kind.type_is_classic, kind.protocol_type_is_consumer, kind.group_is_alive)
"""Whether there is anything to migrate; where there is not, no other rule has a meaning."""

RULES: tuple[Rule, ...] = (
    kind.group_is_at_rest,
    clients.library_is_known,
    clients.library_supports_destination,
    clients.library_mixes_assignors,
    clients.callbacks_change,
    assignors.assignor_is_kafkas_own,
    assignors.no_user_data_in_assignments,
    assignors.assignor_has_a_successor,
    broker.group_version_is_finalised,
    members.static_members_stop_first,
    members.racks_are_lost,
)

_WEIGHT = {Level.BLOCKER: 0, Level.WARNING: 1, Level.INFO: 2}


def judge(case: Case) -> tuple[Finding, ...]:
    """Everything that the rules find, blockers first."""
    findings = [finding for rule in KIND for finding in rule(case)]
    if not any(finding.level is Level.BLOCKER for finding in findings):
        findings += [finding for rule in RULES for finding in rule(case)]
    return tuple(sorted(findings, key=lambda finding: _WEIGHT[finding.level]))
