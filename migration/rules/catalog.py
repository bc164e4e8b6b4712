"""All rules, in the order in which a plan prints their findings."""

from groups.findings import Finding, Level, worst_first
from migration.rules import (
    assignors,
    broker,
    client_configs,
    client_intervals,
    clients,
    members,
    operations,
    programs,
    regexes,
    streams,
)
from migration.rules.case import Case, Rule

KIND: tuple[Rule, ...] = (
    members.type_fits_destination,
    members.protocol_type_is_consumer,
    streams.streams_is_not_converted,
    members.group_is_alive,
    programs.group_is_of_a_tool,
)  # Rules that decide whether the group can be migrated at all; if not, the other rules do not apply

RULES: tuple[Rule, ...] = (
    members.group_is_stable,
    members.offsets_are_not_pending,
    clients.library_is_known,
    clients.library_is_inferred,
    clients.declared_library_matches_observed,
    clients.library_supports_destination,
    clients.lost_partitions_are_committed,
    client_configs.configs_are_of_the_group,
    client_configs.configs_are_read,
    client_configs.configs_fit_their_library,
    client_configs.configs_do_not_mix,
    client_configs.configs_speak_the_right_protocol,
    client_configs.configs_use_released_settings,
    client_configs.remote_assignor_is_offered,
    client_configs.configs_have_no_leftovers,
    programs.connector_may_override,
    clients.library_mixes_assignors,
    clients.library_has_the_assignor,
    clients.members_share_a_library,
    broker.brokers_offer_the_protocol,
    broker.group_version_is_finalized,
    broker.rebalance_protocols_are_enabled,
    broker.policy_allows_it,
    broker.group_is_small_enough,
    broker.settings_are_known,
    assignors.no_user_data_in_assignments,
    assignors.user_data_may_appear,
    assignors.metadata_can_be_read,
    assignors.partitions_have_one_owner,
    assignors.assignor_is_known,
    assignors.assignor_is_kafkas_own,
    regexes.regexes_stay_the_same,
    broker.regex_members_may_go_back,
    broker.fenced_members_may_stay_out,
    operations.commits_may_be_stale,
    operations.classic_is_deprecated,
    clients.callbacks_change,
    clients.frameworks_support_it,
    members.static_members_stop_first,
    clients.librdkafka_leaves_permanently,
    members.racks_are_lost,
    client_configs.timeouts_become_the_groups,
    client_intervals.connections_outlast_rebalances,
    client_intervals.new_partitions_are_read,
    operations.shutdown_has_time,
    operations.tools_know_the_protocol,
    operations.topics_may_be_described,
    assignors.assignor_has_a_successor,
    clients.franz_go_is_asked_in_code,
    clients.rebalances_are_not_enforced,
    members.members_subscribe_alike,
    members.group_has_members,
    operations.fetching_continues,
    operations.metrics_are_renamed,
    broker.cluster_cannot_go_far_back,
)

STREAMS_RULES: tuple[Rule, ...] = (
    members.group_is_stable,
    members.offsets_are_not_pending,
    client_configs.configs_are_of_the_group,
    client_configs.configs_are_read,
    streams.streams_support_the_change,
    streams.threads_have_no_error,
    streams.versions_agree,
    streams.queries_are_affected,
    streams.copies_take_over,
)  # Rules that apply to Kafka Streams, which has its own assignor and configuration


def judge(case: Case) -> tuple[Finding, ...]:
    """All findings of the rules, blockers first."""
    findings = [finding for rule in KIND for finding in rule(case)]
    if not any(finding.level is Level.BLOCKER for finding in findings):
        rules = STREAMS_RULES if streams.is_streams(case) else RULES
        findings += [finding for rule in rules for finding in rule(case)]
    return worst_first(findings)


def nothing_to_migrate(case: Case) -> Finding | None:
    """The finding that the group cannot be migrated to its destination at all; None if it can."""
    findings = (finding for rule in KIND for finding in rule(case))
    return next((finding for finding in findings if finding.level is Level.BLOCKER), None)
