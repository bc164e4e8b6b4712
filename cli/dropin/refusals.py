"""What a script learns of what brokers did not do."""

from __future__ import annotations

from collections.abc import Iterable

from cli.errors import ExitStatus
from wire.client.answers import Failure

_ABSENT = (3, 17, 24, 69)
"""UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION, INVALID_GROUP_ID, GROUP_ID_NOT_FOUND: there is nothing there."""


def status_of(failures: Iterable[Failure]) -> ExitStatus:
    """REFUSED where a broker said no to one of them, UNREADABLE for what is not there or did not answer, else DONE."""
    statuses = {_status_of(failure) for failure in failures}
    return max(statuses, default=ExitStatus.DONE)


def _status_of(failure: Failure) -> ExitStatus:
    refused = failure.code is not None and failure.code not in _ABSENT and not failure.retriable
    return ExitStatus.REFUSED if refused else ExitStatus.UNREADABLE
