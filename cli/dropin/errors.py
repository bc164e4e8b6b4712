"""Exceptions that stop `kohort-consumer-groups`, and the names and messages of Kafka's own exceptions.
cli/dropin/main.py turns the former into exit statuses."""

from collections.abc import Iterable, Mapping

from cli.dropin.wording import wording
from cli.errors import CommandError, ExitStatus
from wire.errors import Failure

USAGE_STATUS = ExitStatus.FALSE
"""The tool's exit status after its usage."""


class ToolUsageError(CommandError):
    """The command line is invalid: the message and the usage go to stderr."""

    status = USAGE_STATUS


class ToolFailure(CommandError):
    """The command failed while it ran: `Error: Executing consumer group command failed due to …` goes to stdout.
    `reason` goes to stderr: details that the tool prints only in its stack trace."""

    def __init__(self, message: str, status: ExitStatus = ExitStatus.UNREADABLE, *, reason: str = "") -> None:
        super().__init__(message)
        self.status, self.reason = status, reason


class BadValue(ToolFailure):
    """A value of the command line is invalid, which the tool detects only while it runs."""

    def __init__(self, message: str) -> None:
        super().__init__(message, USAGE_STATUS)


class ToolRefusal(CommandError):
    """The command must not be carried out: the message goes to stderr, and nothing else is printed."""

    status = USAGE_STATUS


class VersionRequested(Exception):
    """`--version`."""


_ERRORS: Mapping[int, tuple[str, str]] = {
    -1: ("UnknownServerException", "The server experienced an unexpected error when processing the request."),
    3: ("UnknownTopicOrPartitionException", "This server does not host this topic-partition."),
    5: (
        "LeaderNotAvailableException",
        "There is no leader for this topic-partition as we are in the middle of a leadership election.",
    ),
    7: ("TimeoutException", "The request timed out."),
    12: ("OffsetMetadataTooLarge", "The metadata field of the offset request was too large."),
    14: (
        "CoordinatorLoadInProgressException",
        "The coordinator is loading and hence can't process requests.",
    ),
    15: ("CoordinatorNotAvailableException", "The coordinator is not available."),
    16: ("NotCoordinatorException", "This is not the correct coordinator."),
    17: ("InvalidTopicException", "The request attempted to perform an operation on an invalid topic."),
    22: ("IllegalGenerationException", "Specified group generation id is not valid."),
    24: ("InvalidGroupIdException", "The group id is invalid."),
    25: ("UnknownMemberIdException", "The coordinator is not aware of this member."),
    27: ("RebalanceInProgressException", "The group is rebalancing, so a rejoin is needed."),
    28: ("InvalidCommitOffsetSizeException", "The committing offset data size is not valid."),
    29: ("TopicAuthorizationException", "Topic authorization failed."),
    30: ("GroupAuthorizationException", "Group authorization failed."),
    31: ("ClusterAuthorizationException", "Cluster authorization failed."),
    35: ("UnsupportedVersionException", "The version of API is not supported."),
    42: (
        "InvalidRequestException",
        "This most likely occurs because of a request being malformed by the client library or the message was sent "
        "to an incompatible broker. See the broker logs for more details.",
    ),
    68: ("GroupNotEmptyException", "The group is not empty."),
    69: ("GroupIdNotFoundException", "The group id does not exist."),
    86: (
        "GroupSubscribedToTopicException",
        "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it.",
    ),
    88: ("UnstableOffsetCommitException", "There are unstable offsets that need to be cleared."),
    110: (
        "FencedMemberEpochException",
        "The member epoch is fenced by the group coordinator. The member must abandon all its partitions and rejoin.",
    ),
    113: (
        "StaleMemberEpochException",
        "The member epoch is stale. The member must retry after receiving its updated member epoch via the "
        "ConsumerGroupHeartbeat API.",
    ),
}
"""Kafka 4.3's exception class and message by error code (org.apache.kafka.common.protocol.Errors)."""


def exception_text(failure: Failure) -> str:
    """The exception as Java prints it: its class and its message; the bare message if no broker refused."""
    if failure.code is None or failure.code not in _ERRORS:
        return failure.message
    return f"org.apache.kafka.common.errors.{_ERRORS[failure.code][0]}: {error_message(failure)}"


def error_message(failure: Failure) -> str:
    """The broker's own message if it sent one, else Kafka's default."""
    if failure.code is not None and failure.code in _ERRORS and failure.message == failure.name:
        return _ERRORS[failure.code][1]
    return failure.message.removesuffix(f" ({failure.name})")


def assignment_exception(data: bytes) -> str | None:
    """Java's exception for an assignment that its ConsumerProtocol cannot read; None if it can, or if there is none."""
    if not data:
        return None
    from wire.messages.embedded_protocol import read_assignment
    from wire.messages.reader import DecodeError

    try:
        read_assignment(data)
    except DecodeError:
        version = int.from_bytes(data[:2], "big", signed=True)
        reason = wording().malformed
        if len(data) < 2:
            reason = "Buffer underflow while parsing consumer protocol's header"
        elif version < 0:
            reason = f"Unsupported assignment version: {version}"
        return f"org.apache.kafka.common.protocol.types.SchemaException: {reason}"
    return None


_ABSENT = (3, 17, 24, 69)
"""UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION, INVALID_GROUP_ID, GROUP_ID_NOT_FOUND: something is missing."""


def status_of(failures: Iterable[Failure]) -> ExitStatus:
    """REFUSED if a broker refused one of them, UNREADABLE if something is missing or did not answer, else DONE."""
    status = ExitStatus.DONE
    for failure in failures:
        refused = failure.code is not None and failure.code not in _ABSENT and not failure.retriable
        status = max(status, ExitStatus.REFUSED if refused else ExitStatus.UNREADABLE)
    return status
