"""The brokers' errors in Java's words, which Java's own classes give."""

import subprocess
from pathlib import Path

import pytest

from cli.dropin.errors import _ERRORS, error_message, exception_text
from tests.kafka.programs import program
from wire.errors import Failure


@pytest.mark.kafka
def test_they_are_kafkas(kafka_jars: Path) -> None:
    done = subprocess.run(
        program(kafka_jars, "ErrorNames", options=("-Dorg.slf4j.simpleLogger.defaultLogLevel=off",)),
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    reported = {
        int(code): (name, words)
        for code, name, words in (line.split("\t") for line in done.stdout.splitlines())
    }
    assert {code: reported[code] for code in _ERRORS} == _ERRORS


def test_the_brokers_own_words_come_first() -> None:
    bare = Failure(message="GROUP_ID_NOT_FOUND", code=69, name="GROUP_ID_NOT_FOUND")
    with_words = Failure(
        message="Group a not found. (GROUP_ID_NOT_FOUND)", code=69, name="GROUP_ID_NOT_FOUND"
    )
    assert error_message(bare) == "The group id does not exist."
    assert exception_text(with_words).endswith("GroupIdNotFoundException: Group a not found.")


def test_other_errors_keep_their_message() -> None:
    assert exception_text(Failure(message="b:9092: connection refused")) == "b:9092: connection refused"
    unknown = Failure(message="Something new (NEW_ERROR)", code=999, name="NEW_ERROR")
    assert exception_text(unknown) == "Something new (NEW_ERROR)"
