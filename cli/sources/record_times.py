"""When the first records that groups have not read were written, from the leaders of a live cluster's partitions."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cli.sources.permissions import Needs, cause_of, worded
from cli.sources.source import RecordTimes
from groups.model import Problem
from wire.client.answers import Failure
from wire.client.client import Client

READING_RECORDS = Needs(topic="READ")


def read_record_times(
    client: Client, wanted: Mapping[tuple[str, int], Collection[int]], timeout_ms: int
) -> RecordTimes:
    """The times of the first records at or behind the offsets; what could not be told is a problem."""
    answers = client.first_records(wanted, timeout_ms=timeout_ms)
    failed = [(place, failure) for place, failure in answers.failed.items()]
    times: dict[tuple[str, int], dict[int, int | None]] = {}
    for place, records in answers.found.items():
        known = times[place] = {}
        for offset, told in records.items():
            if isinstance(told, Failure):
                failed.append((place, told))
            else:
                known[offset] = None if told is None else told.timestamp_ms
    problems = (_problem(topic, partition, failure) for (topic, partition), failure in failed)
    return RecordTimes(times=times, problems=tuple(dict.fromkeys(problems)))


def _problem(topic: str, partition: int, failure: Failure) -> Problem:
    # A whole topic is refused, a partition fails by itself.
    cause = cause_of(failure.name)
    subject = topic if failure.name == "TOPIC_AUTHORIZATION_FAILED" else f"{topic}-{partition}"
    why = worded(failure.name, failure.message, READING_RECORDS)
    return Problem(subject=subject, message=f"lag time is not known: {why}", cause=cause)
