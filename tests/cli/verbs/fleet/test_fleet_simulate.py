"""`kohort fleet simulate`: invalid requests, and its report."""

import pytest

from tests.cli.command import Kohort
from tests.pipeline.conftest import spark as spark


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ("no-such-scenario", "no scenario"),
        ("scale-out --vary session.timeout.ms", "NAME=VALUE"),
        ("scale-out --vary session.timeout.ms=2000", "heartbeat"),
        ("scale-out --vary loss=0,0.1 --vary loss=0.2", "given twice"),
        ("scale-out --break no-such-rule", "there is no rule"),
        ("scale-out --report no-such-directory/page.html", "does not exist"),
    ],
)
def test_an_invalid_request_is_refused_before_spark_starts(kohort: Kohort, words: str, reported: str) -> None:
    kohort.quick("fleet simulate", *words.split()).assert_refused(reported, status=2)
