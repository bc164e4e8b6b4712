"""Groups with which nothing is wrong have no error and no warning."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.command import Kohort


def test_sample_fleet_is_healthy(kohort: Kohort, sample: Path) -> None:
    answer = kohort.quick("diagnose --all-groups --output json --embedded", sample)
    groups = answer.document["groups"]
    assert answer.status == 0
    assert {group["group"]: group["findings"] for group in groups if group["verdict"] != "ok"} == {}
    assert len(groups) == 10
    # What one moment of a file cannot tell is said, not guessed.
    assert "needs two observations" in answer.stderr or all(group["not_checked"] for group in groups)
    text = kohort.quick("diagnose --all-groups --embedded", sample).succeeded()
    assert re.match(
        r"No problems found in 10 groups \(\d+ rules not checked; --verbose shows them\)\.\n", text.stdout
    )
    verbose = kohort.quick("diagnose --all-groups --verbose --embedded", sample).succeeded()
    assert "not checked: rebalance-stuck" in verbose.stderr
    assert "--verbose" not in verbose.stdout
