"""Rules about permissions: the consumer protocol needs more than the classic one."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from groups.counts import first_names
from groups.findings import Finding
from migration.access import undescribable
from migration.rules.case import Case

_SOURCE = "apache/kafka pulls 18989 and 19042"
MOST_TOPICS = 5


def topics_may_be_described(case: Case) -> Iterator[Finding]:
    """A heartbeat needs DESCRIBE on every subscribed topic; a regex silently skips topics without it."""
    if not case.upgrades:
        return
    access, topics = case.access, _topics(case)
    if access is None or access.problem is not None:
        why = "" if access is None else f" ({access.problem})"
        yield case.info(
            "acl",
            message=f"It is unknown whether the members may DESCRIBE their topics{why}. Without that, a heartbeat is "
            "refused with TOPIC_AUTHORIZATION_FAILED, and a regex silently skips the topic.",
            remedy="If the cluster has an authorizer, the members' principals need DESCRIBE (implied by READ) on "
            "every topic and READ on the group; the principal that runs kohort needs DESCRIBE on both. Check with "
            "kafka-acls.sh --bootstrap-server … --list.",
            source=_SOURCE,
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
            source=_SOURCE,
        )
    for principal, missing in undescribable(access, case.group.id, topics).items():
        shown = first_names(missing, MOST_TOPICS)
        yield case.warning(
            "acl",
            message=f"{principal} may READ the group but has no entry to DESCRIBE {shown}: a member with this "
            "principal that subscribes to it is refused with TOPIC_AUTHORIZATION_FAILED.",
            remedy=f"If members run as {principal}, run kafka-acls.sh --bootstrap-server … --add --allow-principal "
            f"{quote(principal)} --operation Describe --topic {missing[0]} (and so on).",
            source=_SOURCE,
        )


def _topics(case: Case) -> set[str]:
    """The topics that the members subscribe to."""
    return {
        topic
        for member in case.group.members
        if member.subscription is not None
        for topic in member.subscription.topics
    }
