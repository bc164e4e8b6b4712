"""An error is in the fields in which Kafka's own requests set it (`AbstractRequest.getErrorResponse`)."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coordinator.server.faults.error_answers import error_answer
from coordinator.server.served import SERVED
from tests.coordinator.server.faults.test_error_answers import OF_THE_REQUEST, sample
from tests.kafka.programs import SILENT, Answerer
from wire.messages.definition import Api
from wire.messages.reader import DICTIONARIES, OBJECTS, message_reader
from wire.messages.writer import message_writer

REPEATED_INSIDE = {
    *("Fetch", "Metadata", "ElectLeaders", "AlterPartitionReassignments", "DescribeUserScramCredentials")
}
"""APIs for which Kafka sets the error both at the top and in the elements."""
WITHOUT_ROOM = {("DescribeLogDirs", 1), ("DescribeLogDirs", 2)}
"""Kafka answers them without an error, as the request names no directory; here a directory without a name has it."""


@pytest.mark.kafka
def test_errors_are_where_kafka_has_them(kafka_jars: Path) -> None:
    with closing(Answerer(kafka_jars, "ErrorAnswers", heap_mb=128, options=(SILENT,))) as java:
        for served in SERVED.values():
            for version in range(served.api.versions[0], served.newest + 1):
                theirs, ours = _both(java, served.api, version)
                if (served.api.name, version) in WITHOUT_ROOM:
                    assert (theirs, len(ours)) == ([], 1)
                elif served.api.name in REPEATED_INSIDE:
                    assert set(ours) <= set(theirs), (served.api, version)
                else:
                    assert ours == theirs, (served.api, version)


def _both(java: Answerer, api: Api, version: int) -> tuple[list[str], list[str]]:
    """The paths of the error in Kafka's answer to one request, and in ours."""
    request = bytearray()
    message_writer(api.request, version)(request, sample(api.request.struct, version))
    asked = {"key": api.key, "version": version, "request": request.hex(), "code": int(OF_THE_REQUEST)}
    theirs = bytes.fromhex(java.answer(asked)["bytes"])
    message, _ = message_reader(api.request, version, OBJECTS)(bytes(request), 0)
    ours = bytearray()
    message_writer(api.response, version)(ours, error_answer(api, version, message, OF_THE_REQUEST))
    read = message_reader(api.response, version, DICTIONARIES)
    return list(_placed(read(theirs, 0)[0])), list(_placed(read(bytes(ours), 0)[0]))


def _placed(body: Any, path: str = "") -> Iterator[str]:
    for name, value in body.items():
        if name in ("errorCode", "partitionErrorCode") and value:
            assert value == OF_THE_REQUEST
            yield f"{path}{name}"
        elif isinstance(value, list):
            for number, element in enumerate(value):
                if isinstance(element, dict):
                    yield from _placed(element, f"{path}{name}[{number}].")
