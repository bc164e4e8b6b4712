"""`kohort fleet` from the command line to the tables: on the sample that Kohort itself generates."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.command import Answer, Kohort
from tests.docs.pages import ROOT, blocks, command_lines
from tests.pipeline.conftest import spark as spark
from tests.support.long import LONG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("spark")
STORIED = {"billing", "checkout", "clickstream", "fraud", "legacy-etl", "nightly-report"}
"""Groups of the sample that have days behind them."""


@pytest.fixture(scope="module")
def run(kohort: Kohort, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> tuple[Answer, Path]:
    """Give what the README's command answers after `kohort demo`, as JSON, and the directory that it was given in."""
    lines = [words for block in blocks(ROOT / "README.md", "sh") for words in command_lines(block.text)]
    (words,) = [words for words in lines if words[:2] == ["fleet", "history"] and "--log-dir" not in words]
    directory = tmp_path_factory.mktemp("fleet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(directory))
        patch.chdir(directory)
        assert kohort.quick("demo").status == 0
        answer = kohort.quick(*words, "--report", "fleet.json", "--output", "json")
    assert (answer.status, answer.stderr) == (0, "")
    return answer, directory


@pytest.fixture(scope="module")
def log(run: tuple[Answer, Path]) -> Path:
    """Give the log that the run read."""
    return run[1] / "kohort"


def rebalances(document: dict[str, Any], group: str) -> list[dict[str, Any]]:
    return [row for row in document["rebalances"] if row["group"] == group]


def test_the_document_is_the_one_agreed_on(run: tuple[Answer, Path], kohort: Kohort, log: Path) -> None:
    document = run[0].document
    verified = kohort.quick("log verify", log, "--output", "json").document["partitions"]
    counted: dict[str, int] = {}
    for partition in verified:
        for key in partition["keys"]:
            counted[str(key["type"])] = counted.get(str(key["type"]), 0) + key["records"]
    assert document["by_key_version"] == counted
    assert document["records"] == sum(counted.values())
    assert (document["quarantined"], document["quarantined_total"]) == ([], 0)
    assert document["tables"]["events"]["rows"] == document["records"]
    assert (run[1] / "tables" / "tables.json").is_file()


def test_the_history_is_the_one_that_was_played(run: tuple[Answer, Path]) -> None:
    document = run[0].document
    assert {row["group"] for row in document["groups"] if row["rebalances"] > 1} == STORIED
    epochs = {group: [row["epoch"] for row in rebalances(document, group)] for group in STORIED}
    assert epochs["billing"] == list(range(5, 23))
    assert epochs["nightly-report"] == list(range(49, 62))
    assert sorted(set(epochs["checkout"])) == list(range(14, 32))
    crash = next(row for row in rebalances(document, "billing") if row["epoch"] == 13)
    assert (crash["cause"], crash["members_before"], crash["members"]) == ("expiry", 3, 2)
    deployed = [row["cause"] for row in rebalances(document, "billing") if 7 <= row["epoch"] <= 12]
    assert deployed == ["leave", "join"] * 3
    moved = {row["protocol"] for row in rebalances(document, "checkout") if row["cause"] == "conversion"}
    assert moved == {"consumer"}
    resets = {row["group"]: row["resets"] for row in document["groups"]}
    assert (resets["nightly-report"], resets["legacy-etl"], resets["billing"]) == (6, 12, 0)
    storms = {row["group"]: row["storms"] for row in document["groups"]}
    assert storms["legacy-etl"] > 0 == storms["billing"]


def test_the_report_stands_by_itself(run: tuple[Answer, Path]) -> None:
    page = (run[1] / "fleet.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "checkout" in page
    assert not re.search(r"<script|https?://(?!www\.w3\.org/)", page)
    numbers = json.loads((run[1] / "fleet.json").read_text())["report"]
    assert numbers["totals"]["records"] == run[0].document["records"]


def test_a_second_run_adds_nothing(run: tuple[Answer, Path], kohort: Kohort, log: Path) -> None:
    first, directory = run
    again = kohort.quick(
        "fleet history --log-dir", log, "--out", directory / "tables", "--output", "json"
    ).document
    assert {name: table["rows"] for name, table in again["tables"].items()} == {
        name: table["rows"] for name, table in first.document["tables"].items()
    }
    assert again["tables"]["events"]["added"] == 0
    assert again["rebalances"] == first.document["rebalances"]


def test_one_group_along_the_time(run: tuple[Answer, Path], kohort: Kohort, log: Path) -> None:
    first, directory = run
    svg = directory / "checkout.svg"
    since = rebalances(first.document, "checkout")[-4]["start"]
    answer = kohort.quick(
        "fleet history --log-dir", log, "--out", directory / "tables",
        "--group", "checkout", "--since", since, "--svg", svg, "--output", "csv"
    )  # fmt: skip
    assert (answer.status, answer.stderr) == (0, "")
    assert [row["GROUP-EPOCH"] for row in answer.rows] == ["28", "29", "30", "31"]
    assert {row["GROUP"] for row in answer.rows} == {"checkout"}
    assert ET.parse(svg).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_what_a_group_was(run: tuple[Answer, Path], kohort: Kohort, log: Path) -> None:
    """As `kohort describe` says it of the same log and moment."""
    moment = rebalances(run[0].document, "checkout")[-3]["start"]
    answer = kohort.quick(
        "fleet history --log-dir", log, "--out", run[1] / "tables",
        "--group", "checkout", "--as-of", moment, "--output", "json"
    )  # fmt: skip
    described = kohort.quick(
        "describe checkout --log-dir", log, "--as-of", moment, "--output", "json"
    ).document
    for group in described["groups"]:
        group["protocol"] = None  # the broker's default: no member names one, so no record does
    assert answer.document["as_of"] == {"time": moment, "groups": described["groups"]}


def test_a_group_that_is_not_there(run: tuple[Answer, Path], kohort: Kohort, log: Path) -> None:
    answer = kohort.quick(
        "fleet history --log-dir", log, "--out", run[1] / "tables", "--group", "no-such-group"
    )
    said = "kohort: no-such-group: the sources contain nothing about this group\n"
    assert answer == Answer(status=3, stdout="", stderr=said)


def test_a_directory_that_is_somebody_elses(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    kohort.quick("fleet history --log-dir", sample, "--out", tmp_path).assert_refused(str(tmp_path), status=3)
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


@LONG
def test_unreadable_input_is_reported_and_stops_nothing(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    partition = tmp_path / "data" / "__consumer_offsets-28"
    partition.mkdir(parents=True)
    whole = (sample / "__consumer_offsets-28" / "00000000000000000000.log").read_bytes()
    (partition / "00000000000000000000.log").write_bytes(whole[:-40])
    (partition / "00000000000000090000.log").write_bytes(b"no log at all")
    answer = kohort.quick("fleet history --log-dir", partition.parent, "--output", "json").succeeded()
    document = answer.document
    assert 0 < document["records"] < 200
    assert {Path(row["file"]).name for row in document["quarantined"]} == {
        "00000000000000000000.log",
        "00000000000000090000.log",
    }
    assert document["tables"]["events"]["path"] is None
    assert f"{document['quarantined_total']} records, parts or files could not be read" in answer.stderr


def test_an_audit_of_snapshots_and_logs(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    directory = tmp_path / "snapshots"
    directory.mkdir()
    assert kohort.quick("snapshot --embedded", sample, "-o", directory / "a.yaml").status == 0
    (directory / "b.yaml").write_text("groups: [")
    report = tmp_path / "readiness.html"
    answer = kohort.quick(
        f"fleet audit --snapshots {directory} --log-dir {sample} --to consumer --report", report, "--output", "json"
    )  # fmt: skip
    assert answer.status == 0
    document = answer.document
    assert [each["destination"] for each in document["destinations"]] == ["consumer"]
    assert document["audited"] == 20
    verdicts = {(row["source"], row["group"]): row["verdict"] for row in document["groups"]}
    assert len(verdicts) == 20
    assert [Path(each["file"]).name for each in document["quarantined"]] == ["b.yaml"]
    assert "1 file could not be read" in answer.stderr
    assert report.read_text().startswith("<!DOCTYPE html>")
