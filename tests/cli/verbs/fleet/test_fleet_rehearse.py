"""`kohort fleet rehearse`: invalid requests, and its report."""

from pathlib import Path
from typing import Any

import pytest

from cli.render.document import Document
from cli.render.output_format import OutputFormat
from cli.verbs.fleet.rehearse import rehearsal_report
from pipeline.rehearsal.run import RehearsalRun
from tests.cli.command import Kohort
from tests.cli.render.rendered import rendered
from tests.pipeline.conftest import spark as spark

DISABLED = "group.consumer.migration.policy=disabled"


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ("--vary concurrency=0", "members that are restarted together, not '0'"),
        ("--vary bounce-seconds=soon", "'soon' is not a duration: write 5s"),
        ("--vary heartbeat.interval=1000", "did you mean heartbeat.interval.ms?"),
        ("--vary loss=0.1", "Settings of plans that can be varied: concurrency, bounce-seconds"),
        ("--vary session.timeout.ms=0", "a number of ms"),
        ("--report no-such-directory/page.html", "does not exist"),
    ],
)
def test_what_is_invalid_is_refused_before_spark_starts(
    kohort: Kohort, tmp_path: Path, words: str, reported: str
) -> None:
    kohort.quick("fleet rehearse --to consumer --snapshots", tmp_path, *words.split()).assert_refused(
        reported, status=2
    )


def test_a_snapshot_that_is_not_there(kohort: Kohort, tmp_path: Path) -> None:
    kohort.quick("fleet rehearse --to consumer --snapshots", tmp_path / "none").assert_refused(
        "does not exist", status=3
    )


def page_of(report: Document) -> str:
    return rendered(report, OutputFormat.HTML)


def run_of(*names: str, settings: tuple[str, ...] = ("",)) -> RehearsalRun:
    """Two safe groups and one of each other verdict, for each name and settings."""
    rows: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    figures = dict.fromkeys(("rebalances", "moved", "read_twice", "commits_refused"), 12)
    for setting in settings:
        for name in names:
            head: dict[str, Any] = {
                "source": f"{name}.yaml", "cluster": name, "group": name, "destination": "consumer",
                "settings": setting,
                "members": 3, "warnings": 1, "path": name, "rounds": 3, "unsafe": 0, "unsafe_seed": None, "seeds": 5,
                "why": [], **figures, "without_owner_s": 36.25, "duration_s": 4_000.0,
            }  # fmt: skip
            head |= {
                f"{figure}_median": head[figure] for figure in (*figures, "without_owner_s", "duration_s")
            }
            rows += [{**head, "verdict": "safe", "rank": rank, "source": f"{rank}"} for rank in (1, 2)]
            rows += [
                {**head, "verdict": verdict, "rank": None, "why": [name], "unsafe": 1}
                for verdict in ("unsafe", "blocked", "unplayable", "arrived", "threw")
            ]
            failures.append(
                {
                    **head,
                    "seed": 7,
                    "verdict": "unsafe",
                    "why": [name],
                    "story": [name] * 40,
                    "commands": [name],
                }
            )
    return RehearsalRun(
        rehearsals=rows,
        ends=[],
        failures=failures,
        quarantined=[{"file": name, "reason": name} for name in names],
        paths={},
    )


def test_a_page_of_nothing() -> None:
    page = page_of(
        rehearsal_report(RehearsalRun(rehearsals=[], failures=[], quarantined=[], ends=[], paths={}))
    )
    assert "Rehearsals of 0 groups" in page
