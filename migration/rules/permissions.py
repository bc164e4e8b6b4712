"""Who may do what: the consumer protocol asks for more than the classic one."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from groups.findings import Finding
from migration.access import undescribable
from migration.model import first_of
from migration.rules.case import Case

_SOURCE = "apache/kafka pulls 18989 and 19042"
MOST_TOPICS = 5


def topics_may_be_described(case: Case) -> Iterator[Finding]:
    """A heartbeat needs DESCRIBE on every topic subscribed to; a regex silently matches nothing that is forbidden."""
    if not case.upgrades:
        return
    access, topics = case.access, _topics(case)
    if access is None or access.problem is not None:
        why = "" if access is None else f" ({access.problem})"
        yield case.info(
            "acl",
            message=f"Whether the members may describe their topics is not known here{why}: a heartbeat is refused "
            "with TOPIC_AUTHORIZATION_FAILED, and a regex passes over what it may not see, without a word.",
            remedy="Where there is an authorizer: the members' principals need DESCRIBE (READ has it) on every topic, "
            "and READ on the group; whoever runs kohort needs DESCRIBE on both. kafka-acls.sh --bootstrap-server … "
            "--list shows what they have.",
            source=_SOURCE,
        )
        return
    if access.is_open:
        return
    readers = access.readers(case.group.id)
    if not readers:
        yield case.warning(
            "acl",
            message="No access control entry lets anybody READ the group: its members are super users, or everybody "
            "may do what no entry is about (allow.everyone.if.no.acl.found).",
            remedy="See that this is meant to be so on every broker.",
            source=_SOURCE,
        )
    for principal, missing in undescribable(access, case.group.id, topics).items():
        shown = first_of(missing, MOST_TOPICS)
        yield case.warning(
            "acl",
            message=f"{principal} may read the group but has no entry to DESCRIBE {shown}: as a member that "
            "subscribes to it, it is refused with TOPIC_AUTHORIZATION_FAILED.",
            remedy=f"If members run as {principal}: kafka-acls.sh --bootstrap-server … --add --allow-principal "
            f"{quote(principal)} --operation Describe --topic {missing[0]} (and so on).",
            source=_SOURCE,
        )


def _topics(case: Case) -> set[str]:
    """What the members subscribe to."""
    return {
        topic
        for member in case.group.members
        if member.subscription is not None
        for topic in member.subscription.topics
    }
