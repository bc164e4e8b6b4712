"""Rules about operation: changes to commits, shutdowns, errors, permissions, tools and dashboards."""

from collections.abc import Iterator
from shlex import quote

from groups.counts import first_names
from groups.findings import Finding, Level
from migration.access import undescribable
from migration.client_config import SESSION_TIMEOUT
from migration.model import Destination
from migration.rules.case import Case, members_by
from migration.rules.client_configs import timeout_now
from migration.rules.clients import is_there

_ASSIGNMENT_EPOCHS = (4, 3)
"""The first release whose brokers check a commit against the epoch at which its partition was assigned."""
_ON_JAVA = {"java", "connect"}
_INTRODUCTION = "librdkafka INTRODUCTION.md, Next Generation Consumer Group Protocol, Contract Changes"


def _librdkafka_members(case: Case) -> list[str | None]:
    if case.destination is not Destination.CONSUMER:
        return []
    members = members_by(case, lambda client: client.library.name if client.library else None)
    return [member for member in members.get("librdkafka", ()) if not is_there(case, member)]


def commits_may_be_stale(case: Case) -> Iterator[Finding]:
    early = case.cluster.is_before(_ASSIGNMENT_EPOCHS)
    if case.destination is not Destination.CONSUMER or early is False:
        return
    if all(is_there(case, member) for member in case.clients):
        return
    brokers = f"The brokers are {case.cluster.kafka}. They" if early else "Brokers older than 4.3"
    yield case.finding(
        Level.WARNING if early else Level.INFO,
        "stale-commits",
        message=f"{brokers} refuse a commit with STALE_MEMBER_EPOCH when the member's epoch has changed since its "
        "last heartbeat, even for partitions that it keeps. This happens whenever members join or leave.",
        remedy="Upgrade the brokers to 4.3 or later first (KIP-1251). Otherwise make sure that the application "
        "commits again after STALE_MEMBER_EPOCH, and that its alerts tolerate it.",
        source="KIP-1251, apache/kafka pull 21692; node-rdkafka issue 1146, arroyo issue 419",
    )


def shutdown_has_time(case: Case) -> Iterator[Finding]:
    members = _librdkafka_members(case)
    if not members:
        return
    session = timeout_now(case, SESSION_TIMEOUT)
    seconds = max(_LONGEST_CLOSE_S, int(session) // 1000 if session.isdigit() else 0)
    yield case.warning(
        "shutdown-grace",
        members=members,
        message="While no coordinator answers, librdkafka's close() retries its last commit, under the consumer "
        f"protocol for {seconds} s or longer. Kubernetes kills a pod after 30 s by default: then its offsets are not "
        "committed, and it keeps its partitions until its session expires.",
        remedy="Before the first step, set terminationGracePeriodSeconds (or the stop timeout of your supervisor) to "
        f"more than {seconds} s plus the time of preStop.",
        source=f"{_INTRODUCTION}: Closing / Auto-Commit; 2.16.0 closed while a broker did not answer, tried",
    )


_LONGEST_CLOSE_S = 45
"""The brokers' default session timeout, which librdkafka uses regardless of the settings of brokers and group."""


def fetching_continues(case: Case) -> Iterator[Finding]:
    members = _librdkafka_members(case)
    if members:
        yield case.info(
            "fetch-without-coordinator",
            members=members,
            message="Under the consumer protocol a librdkafka member continues to fetch while it cannot reach the "
            "group's coordinator; under the classic protocol it stops after session.timeout.ms. Its partitions may "
            "already have another owner, and it cannot commit.",
            remedy="Alert on failed commits, not only on members that stop reading. Make processing idempotent.",
            source=f"{_INTRODUCTION}: Session Timeout & Fetching",
        )
        yield case.info(
            "missing-topics",
            members=members,
            message="Under the consumer protocol librdkafka reports no error for a subscribed topic that does not "
            "exist, and TOPIC_AUTHORIZATION_FAILED at every heartbeat.",
            remedy="Replace alerts on UNKNOWN_TOPIC_OR_PART by an alert on members without partitions, and rate-limit "
            "the alert on TOPIC_AUTHORIZATION_FAILED.",
            source=f"{_INTRODUCTION}: Error Handling Changes; 2.16.0 on 4.3.1, tried",
        )


def tools_know_the_protocol(case: Case) -> Iterator[Finding]:
    if case.upgrades:
        yield case.warning(
            "old-tools",
            message="Monitoring that only knows DescribeGroups (up to version 5) loses the group when it converts. It "
            "shows the group as Dead, with 0 members, or not at all. kafka_exporter up to 1.10.0 reports 0 members; "
            "KMinion without its pull 352 drops the group; Redpanda Console without its pull 2222 shows it as Dead; "
            "tools on sarama depend on its issue 3746.",
            remedy="Upgrade exporters, dashboards and consoles before the first step. If that is not possible, add an "
            "alert on committed offsets that do not move: an alert on lag may not fire for a group that is not shown.",
            source="kafka_exporter issue 533; kminion pull 352; redpanda console issue 1815 and pull 2222; sarama "
            "issue 3746",
        )


def metrics_are_renamed(case: Case) -> Iterator[Finding]:
    if not case.upgrades:
        return
    java = (
        "Java's consumers no longer have join-* and sync-* in consumer-coordinator-metrics (rebalance-* and "
        "heartbeat-* stay), nor the log lines '(Re-)joining group' and 'Successfully joined group'. "
    )
    yield case.info(
        "renamed-metrics",
        message=f"Dashboards and log filters change. {java if case.libraries & _ON_JAVA else ''}On the brokers, "
        "group-completed-rebalance-* counts classic groups only, consumer-group-rebalance-* counts the others; the "
        "broker log has 'Bumped group epoch' and 'Computed a new target assignment' instead of 'Preparing to "
        "rebalance group' and 'Stabilized group'.",
        remedy="Add the new names to panels, alerts and log filters before the first step. Keep the old ones until "
        "the last group has moved.",
        source="KIP-1068; metrics and logs of kafka-clients and brokers 4.3.1, both protocols compared",
    )


def classic_is_deprecated(case: Case) -> Iterator[Finding]:
    libraries = case.libraries
    if case.destination is Destination.CLASSIC and (libraries & _ON_JAVA or not libraries):
        yield case.warning(
            "classic-deprecated",
            message="Java's consumer will lose the classic protocol: it is no longer the default and deprecated in "
            "5.0, and removed in 6.0 (KIP-1274).",
            remedy="Set group.protocol=classic explicitly, and plan --to consumer again before the members run "
            "kafka-clients 6.0.",
            source="KIP-1274; KIP-1237: brokers cannot switch a protocol off from 5.0 on",
        )


_PERMISSIONS = "apache/kafka pulls 18989 and 19042"
MOST_TOPICS = 5


def topics_may_be_described(case: Case) -> Iterator[Finding]:
    if not case.upgrades:
        return
    subscriptions = [one.subscription for one in case.group.members if one.subscription is not None]
    access, topics = case.access, {topic for one in subscriptions for topic in one.topics}
    if access is None or access.problem is not None:
        why = "" if access is None else f" ({access.problem})"
        yield case.info(
            "acl",
            message=f"It is unknown whether the members may DESCRIBE their topics{why}. Without that, a heartbeat is "
            "refused with TOPIC_AUTHORIZATION_FAILED, and a regex silently skips the topic.",
            remedy="If the cluster has an authorizer, the members' principals need DESCRIBE (implied by READ) on "
            "every topic and READ on the group; the principal that runs kohort needs DESCRIBE on both. Check with "
            "kafka-acls.sh --bootstrap-server … --list.",
            source=_PERMISSIONS,
        )
        return
    if access.is_open:
        return
    readers = access.readers(case.group.id)
    if not readers:
        yield case.warning(
            "acl",
            message="No access control entry allows READ on the group: its members are super users, or operations "
            "without an entry are allowed to everyone (allow.everyone.if.no.acl.found).",
            remedy="Check that this is intended on every broker.",
            source=_PERMISSIONS,
        )
    for principal, missing in undescribable(access, case.group.id, topics).items():
        shown = first_names(missing, MOST_TOPICS)
        yield case.warning(
            "acl",
            message=f"{principal} may READ the group but has no entry to DESCRIBE {shown}: a member with this "
            "principal that subscribes to it is refused with TOPIC_AUTHORIZATION_FAILED.",
            remedy=f"If members run as {principal}, run kafka-acls.sh --bootstrap-server … --add --allow-principal "
            f"{quote(principal)} --operation Describe --topic {missing[0]} (and so on).",
            source=_PERMISSIONS,
        )
