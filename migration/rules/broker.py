"""Rules about the brokers: their releases, features and settings."""

from collections.abc import Iterator, Mapping

from groups.features import AFTER_CONSUMER_GROUPS
from groups.findings import Finding, Level
from groups.model import GroupType, MemberProtocol
from migration.model import Destination
from migration.rules.assignors import OnlinePath, online_path
from migration.rules.case import Case

_KIP = "KIP-848, Compatibility, Deprecation, and Migration Plan"
_MANAGER = "GroupMetadataManager of Kafka 4.3.1"
POLICY = "group.consumer.migration.policy"
_OFFLINE = "Or plan to stop all members first (--offline): an Empty group needs no conversion."


def brokers_offer_the_protocol(case: Case) -> Iterator[Finding]:
    if case.destination is Destination.CONSUMER and case.cluster.consumer_protocol is False:
        yield case.blocker(
            "broker-version",
            message="The brokers do not offer the consumer protocol (ConsumerGroupHeartbeat 68, ConsumerGroupDescribe "
            "69): they are older than Kafka 4.0, are not Apache Kafka (Redpanda), or a gateway in front of them does "
            "not offer it.",
            remedy="Upgrade the brokers to 4.0 or later first. Behind a gateway or proxy (Conduktor Gateway), upgrade "
            "and configure that first too; the change may rebalance every group once.",
            source=f"{_KIP}; redpanda issue 29223; Conduktor Gateway, consumer group protocol",
        )
    elif case.cluster.is_before((0, 9)):
        yield case.blocker(
            "broker-version",
            message=f"The brokers are {case.cluster.kafka}: they have no group protocol.",
            remedy="Upgrade the brokers to 0.9 or later first.",
            source="KIP-429, Minimum Version Requirement",
        )


def group_version_is_finalized(case: Case) -> Iterator[Finding]:
    if case.destination is not Destination.CONSUMER or case.cluster.consumer_protocol is False:
        return
    level = case.cluster.features.get("group.version")
    if level is None and not case.cluster.features:
        yield case.warning(
            "group-version",
            message="It is unknown from this source whether the cluster has finalized group.version=1.",
            remedy="Check the cluster: kohort features list --bootstrap-server … Redpanda has no such feature.",
            source=_KIP,
        )
    elif not level:
        # The coordinator of 3.7 to 3.9 supports the protocol if the new coordinator is enabled, without a feature.
        is_preview = (case.cluster.kafka or "").startswith("3.")
        message = "The cluster has not finalized group.version=1; it does not speak the consumer protocol."
        if is_preview:
            message = f"The brokers are Kafka {case.cluster.kafka}, where the consumer protocol is a preview."
        upgrade = "kohort features set group.version=1 --bootstrap-server … --execute (or kafka-features.sh upgrade)"
        remedy = f"With brokers 4.0 or later, run {upgrade}."
        yield case.blocker("group-version", message=message, remedy=remedy, source=_KIP)


def rebalance_protocols_are_enabled(case: Case) -> Iterator[Finding]:
    protocol = {Destination.CONSUMER: "consumer", Destination.CLASSIC: "classic"}.get(case.destination)
    enabled = case.setting_list("group.coordinator.rebalance.protocols")
    if protocol is not None and enabled is not None and protocol not in (name.lower() for name in enabled):
        yield case.blocker(
            "rebalance-protocols",
            message=f"group.coordinator.rebalance.protocols is {','.join(enabled)}: the brokers refuse members of the "
            f"{protocol} protocol.",
            remedy=f"{_enable(case, protocol)} Restart the brokers one by one.",
            source="GroupCoordinatorConfig of Kafka 4.3.1; KIP-1237",
        )


def _enable(case: Case, protocol: str) -> str:
    add = f"Add {protocol} to it on every broker."
    if case.cluster.is_before((4, 3)):
        return add
    remove = (
        "Remove the setting from every broker: it is deprecated since 4.3 and removed in 5.0, where feature versions "
        "decide (kohort features set group.version=1)."
    )
    if case.cluster.is_before((4, 3)) is False:
        return remove
    return f"{add} From 4.3 on: {remove[0].lower()}{remove[1:]}"


_ASK = (
    "Plan against the live cluster with a login that may DESCRIBE_CONFIGS the cluster. Or run kafka-configs.sh "
    "--bootstrap-server … --entity-type brokers --entity-name ID --describe --all."
)


def settings_are_known(case: Case) -> Iterator[Finding]:
    if not case.must_convert:
        return
    cluster = case.cluster
    if cluster.settings is None or cluster.settings_problem is not None:
        asked = f" ({cluster.settings_problem})" if cluster.settings_problem else " from this source"
        whose = "The brokers' settings" if cluster.settings is None else "The settings of some brokers"
        yield case.warning(
            "broker-settings",
            message=f"{whose} are unknown{asked}. {POLICY} may not allow the step, and group.consumer.max.size may "
            "not allow the members.",
            remedy=_ASK,
            source=_MANAGER,
        )
    elif POLICY not in cluster.settings and POLICY not in cluster.settings_differ:
        yield case.warning(
            "broker-settings",
            message=f"{POLICY} is not among the brokers' settings of this source: it may not allow the step.",
            remedy=_ASK,
            source=_MANAGER,
        )
    for name in (POLICY, "group.consumer.max.size", "group.max.size"):
        values = cluster.settings_differ.get(name)
        if values:
            yield case.warning(
                "broker-settings",
                message=f"The brokers have different values of {name}: {', '.join(values)}. The coordinator of the "
                "group decides which applies.",
                remedy="Set the same value on all brokers before the first step.",
                source="GroupCoordinatorConfig of Kafka 4.3.1",
            )


def policy_allows_it(case: Case) -> Iterator[Finding]:
    policy = (case.setting(POLICY) or "").lower()
    allowed = _POLICIES[case.destination is Destination.CONSUMER].get(policy)
    if allowed is not None and case.must_convert:
        level, means, remedy = allowed
        message, remedy = f"{POLICY}={policy}: {means}", f"Set {POLICY}=bidirectional {remedy}"
        yield case.finding(level, "migration-policy", message=message, remedy=remedy, source=_MANAGER)


_NO_UPGRADE = (
    Level.BLOCKER,
    "the broker refuses the online upgrade with GROUP_ID_NOT_FOUND ('online upgrade is disabled').",
    f"on every broker and restart them one by one. {_OFFLINE}",
)
_POLICIES: Mapping[bool, Mapping[str, tuple[Level, str, str]]] = {
    True: {
        "disabled": _NO_UPGRADE,
        "downgrade": _NO_UPGRADE,
        "upgrade": (
            Level.WARNING,
            "there is no online rollback. When the last member of the consumer protocol leaves, the group stays on "
            "it, with classic members.",
            "on every broker first, or accept that a rollback stops all members.",
        ),
    },
    False: {
        "disabled": (
            Level.BLOCKER,
            "a classic member cannot join (INCONSISTENT_GROUP_PROTOCOL).",
            f"on every broker and restart them one by one. {_OFFLINE}",
        ),
        "upgrade": (
            Level.BLOCKER,
            "classic members may join, but the group does not become classic when the last member of the consumer "
            "protocol leaves.",
            f"(or downgrade) on every broker and restart them one by one. {_OFFLINE}",
        ),
    },
}
"""By upgrade to the consumer protocol (True) or downgrade: the effect of a policy, and the value to set instead."""


def group_is_small_enough(case: Case) -> Iterator[Finding]:
    names = {Destination.CONSUMER: "group.consumer.max.size", Destination.CLASSIC: "group.max.size"}
    name = names.get(case.destination)
    most = None if name is None else case.setting_number(name)
    if name is None or most is None:
        return
    size = len(case.group.members)
    if size > most:
        yield case.blocker(
            "group-size",
            message=f"The group has {size} members, and {name} is {most}: {_too_large(case)}",
            remedy=f"Raise {name} on every broker and restart them one by one, or run at most {most} members.",
            source=_MANAGER,
        )
    elif (
        # The clients of the case do not include a bridge leader that is yet to come.
        case.must_convert and len(case.clients) == most > 1 and online_path(case) is OnlinePath.BRIDGE_LEADER
    ):
        yield case.blocker(
            "group-size",
            message=f"The group has {most} members, the maximum that {name} allows, and needs a bridge leader, one "
            "more member, for an online migration: the first member of the consumer protocol would be refused with "
            "GROUP_MAX_SIZE_REACHED.",
            remedy=f"Raise {name} on every broker and restart them one by one, or run one member fewer. {_OFFLINE}",
            source=_MANAGER,
        )
    elif size == most and case.must_convert:
        yield case.warning(
            "group-size",
            message=f"The group has {size} members, the maximum that {name} allows: one more is refused with "
            "GROUP_MAX_SIZE_REACHED.",
            remedy=f"Stop each member before its successor starts: there is no room for one more. Or raise {name} "
            "first.",
            source=_MANAGER,
        )


def _too_large(case: Case) -> str:
    if case.destination is Destination.CLASSIC:
        return "the broker does not convert it to classic, and it stays on the consumer protocol."
    if case.request.offline:
        return "members above the limit are refused with GROUP_MAX_SIZE_REACHED."
    if case.group.type is GroupType.CONSUMER:
        return "a member that leaves cannot rejoin (GROUP_MAX_SIZE_REACHED)."
    return "the broker refuses the online upgrade with GROUP_ID_NOT_FOUND ('the group size exceeds')."


def cluster_cannot_go_far_back(case: Case) -> Iterator[Finding]:
    if case.upgrades:
        yield case.info(
            "cluster-downgrade",
            message=AFTER_CONSUMER_GROUPS,
            remedy="Do not plan to downgrade the brokers further.",
            source=_KIP,
        )


def regex_members_may_go_back(case: Case) -> Iterator[Finding]:
    newer = [member for member in case.group.members if member.protocol is not MemberProtocol.CLASSIC]
    by_regex = any(member.subscription is not None and member.subscription.regex for member in newer)
    leaving = case.destination is Destination.CLASSIC and case.group.type is GroupType.CONSUMER
    version = case.cluster.kafka or ""
    if leaving and by_regex and (not version or version.startswith("4.0")):
        which = "the brokers are 4.0: early ones" if version else "if the brokers are an early 4.0.x, they"
        yield case.warning(
            "regex-rollback",
            message=f"Members subscribe by a regex, and {which} do not reassign when a classic member replaces such a "
            "member.",
            remedy="Use brokers 4.1 or later, or restart any member once more if partitions stay without an owner.",
            source="apache/kafka pull 20926",
        )


def fenced_members_may_stay_out(case: Case) -> Iterator[Finding]:
    if case.destination is Destination.CONSUMER and case.cluster.is_before((4, 3)):
        yield case.info(
            "fenced-members",
            message=f"The brokers are {case.cluster.kafka}. Unless their patch release has the fix of 4.3, a member "
            "of the consumer protocol that was fenced cannot rejoin at epoch 0: it gets FENCED_MEMBER_EPOCH "
            "repeatedly, and consumes nothing.",
            remedy="Restart a member that logs it: it rejoins under a new id.",
            source="KAFKA-19233, apache/kafka pull 21305",
        )
