"""`kohort fleet rehearse` from the command line to its document and its status."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.schemas import faults
from tests.pipeline.conftest import spark as spark


@pytest.mark.usefixtures("spark")
def test_groups_come_in_the_order_in_which_to_go(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    saved = tmp_path / "a.yaml"
    assert kohort.quick("snapshot --embedded", sample, "-o", saved).status == 0
    answer = kohort.quick(
        *("fleet rehearse --to cooperative --snapshots", saved, "--out", tmp_path / "out", "--output", "json")
    )
    document = answer.succeeded(stderr="").document
    assert faults(document) == []
    assert sum(document["verdicts"].values()) == len(document["groups"])
    ranked = [row for row in document["groups"] if row["verdict"] == "safe"]
    assert [row["rank"] for row in ranked] == list(range(1, len(ranked) + 1))
    assert ranked
    assert {Path(path).parent.name for path in document["tables"].values()} == {"rehearsals", "quarantine"}


def test_a_snapshot_that_is_not_there(kohort: Kohort, tmp_path: Path) -> None:
    kohort.quick("fleet rehearse --to consumer --snapshots", tmp_path / "none").assert_refused(
        "is not there", status=3
    )
