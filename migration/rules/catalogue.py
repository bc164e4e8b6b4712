"""All rules, in the order in which a plan prints what they find."""

from __future__ import annotations

from migration.model import Finding, Level
from migration.rules import (
    assignors,
    broker,
    client_configs,
    clients,
    members,
    permissions,
    regexes,
    user_data,
)
from migration.rules import members as kind
from migration.rules.case import Case, Rule

KIND: tuple[Rule, ...] = (
    kind.type_fits_destination,
    kind.protocol_type_is_consumer,
    kind.streams_has_its_own_way,
    kind.group_is_alive,
)
"""Whether there is anything to migrate; where there is not, no other rule has a meaning."""

RULES: tuple[Rule, ...] = (
    kind.group_is_at_rest,
    clients.library_is_known,
    clients.declared_library_matches_observed,
    clients.library_supports_destination,
    client_configs.configs_are_of_the_group,
    client_configs.configs_fit_their_library,
    client_configs.configs_do_not_mix,
    client_configs.configs_speak_the_right_protocol,
    client_configs.remote_assignor_is_offered,
    client_configs.configs_have_no_leftovers,
    clients.library_mixes_assignors,
    clients.library_has_the_assignor,
    clients.members_share_a_library,
    broker.brokers_offer_the_protocol,
    broker.group_version_is_finalised,
    broker.rebalance_protocols_are_enabled,
    broker.policy_allows_it,
    broker.group_is_small_enough,
    broker.settings_are_known,
    user_data.no_user_data_in_assignments,
    user_data.user_data_may_come,
    assignors.metadata_can_be_read,
    assignors.assignor_is_known,
    assignors.assignor_is_kafkas_own,
    regexes.regexes_stay_the_same,
    broker.regex_members_may_go_back,
    broker.fenced_members_may_stay_out,
    clients.callbacks_change,
    members.static_members_stop_first,
    members.racks_are_lost,
    client_configs.timeouts_become_the_groups,
    permissions.topics_may_be_described,
    assignors.assignor_has_a_successor,
    clients.rebalances_are_not_enforced,
    members.members_want_the_same,
    members.group_has_members,
    broker.cluster_cannot_go_far_back,
)

_WEIGHT = {Level.BLOCKER: 0, Level.WARNING: 1, Level.INFO: 2}


def judge(case: Case) -> tuple[Finding, ...]:
    """Everything that the rules find, blockers first."""
    findings = [finding for rule in KIND for finding in rule(case)]
    if not any(finding.level is Level.BLOCKER for finding in findings):
        findings += [finding for rule in RULES for finding in rule(case)]
    return tuple(sorted(findings, key=lambda finding: _WEIGHT[finding.level]))


def nothing_to_migrate(case: Case) -> Finding | None:
    """What says that a group is none that can go to its destination at all, whatever else holds of it."""
    found = (finding for rule in KIND for finding in rule(case))
    return next((finding for finding in found if finding.level is Level.BLOCKER), None)
