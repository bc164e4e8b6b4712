"""The brokers' errors in Java's words, which Java's own classes give."""

import subprocess
from pathlib import Path

import pytest

from cli.dropin.errors import _ERRORS
from tests.kafka.programs import program


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
