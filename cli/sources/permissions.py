"""Kafka's authorization errors, worded with the operation that an ACL must allow. `KafkaApis` checks these operations
with its authorizer; docs/security.md lists them by command."""

from dataclasses import dataclass

from cli.errors import CommandError, RefusedError
from groups.listing import Cause, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The operations that a request needs, by the kind of resource."""

    group: str = "DESCRIBE"
    topic: str = "DESCRIBE"
    cluster: str = "DESCRIBE"


READING = Needs()
COMMITTING = Needs(group="READ", topic="READ")
DELETING_OFFSETS = Needs(group="DELETE", topic="READ")
DELETING_TOPICS = Needs(topic="DELETE")
DELETING_GROUPS = Needs(group="DELETE")
REMOVING_MEMBERS = Needs(group="READ")
READING_CONFIGS = Needs(group="DESCRIBE_CONFIGS", cluster="DESCRIBE_CONFIGS")
CHANGING_FEATURES = Needs(cluster="ALTER")
CHANGING_CONFIGS = Needs(group="ALTER_CONFIGS", cluster="ALTER_CONFIGS")


def with_missing_operations(name: str | None, message: str, needs: Needs) -> str:
    """`message`, or for an authorization error (by its Kafka `name`) the missing operations."""
    missing = {
        "GROUP_AUTHORIZATION_FAILED": f"{needs.group} on the group",
        "TOPIC_AUTHORIZATION_FAILED": f"{needs.topic} on the topic",
        "CLUSTER_AUTHORIZATION_FAILED": f"{needs.cluster} on the cluster",
    }.get(name or "")
    return (
        message
        if missing is None
        else f"not allowed: this needs {missing} ({name}); see `kohort help security`"
    )


def cause_of(name: str | None) -> Cause:
    """FORBIDDEN for an authorization error."""
    return Cause.FORBIDDEN if (name or "").endswith("_AUTHORIZATION_FAILED") else Cause.UNREAD


def ending(problem: Problem) -> CommandError:
    """The error that stops a command if a problem is its only result."""
    kind = RefusedError if problem.cause is Cause.FORBIDDEN else CommandError
    return kind(f"{problem.subject}: {problem.message}")
