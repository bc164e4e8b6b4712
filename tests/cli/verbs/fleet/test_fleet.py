"""`kohort fleet` on Spark, from the command line to its tables: all of it on one session, with recorded results.

`make test` starts Spark for this file alone. It reads the sample that `kohort demo` writes, at a fixed time: a story of
all kinds of groups. `KOHORT_WRITE_GOLDEN=1` writes tests/golden/fleet again; read the difference before you commit it.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow.dataset as ds
import pytest

from tests.cli.command import Answer, Kohort
from tests.cli.verbs.fleet.recorded import check_recorded
from tests.docs.pages import ROOT, blocks, command_lines
from tests.pipeline.conftest import spark as spark
from tests.support.html_pages import Page
from tests.support.long import LONG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("spark")
NOW_NS = 1_780_000_000_000_000_000
FEW = {"ownership": ("fraud", "clickstream"), "commits": ("fraud", "nightly-report")}
"""Groups whose rows of a long table are recorded."""
DISABLED = "group.consumer.migration.policy=disabled"


def check_rows(name: str, rows: Iterable[dict[str, Any]], directory: Path) -> None:
    """Compare rows, each as a line; paths are relative to `directory`, and the cluster's id is a random one."""
    lines = (
        json.dumps({name: value for name, value in row.items() if name != "cluster"}, default=str)
        for row in rows
    )
    check_recorded(name, (line.replace(f"{directory}/", "") for line in lines))


@pytest.fixture(scope="module")
def run(kohort: Kohort, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> tuple[Answer, Path]:
    """Give what the README's command answers after `kohort demo`, as JSON, and the directory that it was given in."""
    lines = [words for block in blocks(ROOT / "README.md", "sh") for words in command_lines(block.text)]
    (words,) = [words for words in lines if words[:2] == ["fleet", "history"] and "--log-dir" not in words]
    directory = tmp_path_factory.mktemp("fleet")
    with pytest.MonkeyPatch.context() as context:
        context.setenv("XDG_DATA_HOME", str(directory))
        context.chdir(directory)
        with patch("time.time_ns", lambda: NOW_NS):
            assert kohort.quick("demo").status == 0
        reports = ("--report", "fleet.json", "--report", "fleet.md")
        answer = kohort.quick(*words, *reports, "--output", "json")
    assert (answer.status, answer.stderr) == (0, "")
    return answer, directory


@pytest.fixture(scope="module")
def log(run: tuple[Answer, Path]) -> Path:
    """Give the log that the run read."""
    return run[1] / "kohort"


@pytest.fixture(scope="module")
def history(run: tuple[Answer, Path], log: Path) -> str:
    """Give the command that reads the tables again."""
    return f"fleet history --log-dir {log} --out {run[1] / 'tables'}"


def test_the_document_counts_what_the_log_contains(
    run: tuple[Answer, Path], kohort: Kohort, log: Path
) -> None:
    document = run[0].document
    counted: dict[str, int] = {}
    for partition in kohort.quick("log verify", log, "--output", "json").document["partitions"]:
        for key in partition["keys"]:
            counted[str(key["type"])] = counted.get(str(key["type"]), 0) + key["records"]
    assert document["by_key_version"] == counted
    assert document["records"] == sum(counted.values()) == document["tables"]["events"]["rows"]
    assert (document["quarantined"], document["quarantined_total"]) == ([], 0)
    check_rows("overview.jsonl", document["groups"], run[1])


@pytest.mark.parametrize("table", ["rebalances", "ownership", "commits", "groups"])
def test_a_table_has_the_recorded_rows(run: tuple[Answer, Path], table: str) -> None:
    directory = str(run[1] / "tables" / table)
    rows = ds.dataset(directory, format="parquet", partitioning="hive").to_table().drop(["run"]).to_pylist()
    shown = [row for row in rows if row["group"] in FEW.get(table, (row["group"],))]
    check_recorded(f"{table}.jsonl", sorted(json.dumps(row, default=str) for row in shown))


def test_the_report_has_the_recorded_numbers(run: tuple[Answer, Path]) -> None:
    page = (run[1] / "fleet.html").read_text()
    Page(page).check_harmless()
    assert "checkout" in page
    created, *text = (run[1] / "fleet.md").read_text().splitlines()[2:]
    assert created.startswith("Created ")
    check_recorded("report.md", text)
    numbers = json.loads((run[1] / "fleet.json").read_text())["report"]
    del numbers["made"], numbers["sources"]
    check_recorded("report.json", json.dumps(numbers, indent=1).splitlines())


@LONG
def test_a_second_run_adds_nothing(run: tuple[Answer, Path], kohort: Kohort, history: str) -> None:
    first, again = run[0].document, kohort.quick(history, "--output", "json").document
    assert {name: table["rows"] for name, table in again["tables"].items()} == {
        name: table["rows"] for name, table in first["tables"].items()
    }
    assert again["tables"]["events"]["added"] == 0
    assert again["rebalances"] == first["rebalances"]


def test_a_group_is_shown_along_the_time(run: tuple[Answer, Path], kohort: Kohort, history: str) -> None:
    svg = run[1] / "checkout.svg"
    checkout = [row for row in run[0].document["rebalances"] if row["group"] == "checkout"]
    answer = kohort.quick(
        history, "--group", "checkout", "--since", checkout[-4]["start"], "--svg", svg, "--output", "csv"
    )
    assert (answer.status, answer.stderr) == (0, "")
    assert [row["GROUP-EPOCH"] for row in answer.rows] == ["28", "29", "30", "31"]
    assert {row["GROUP"] for row in answer.rows} == {"checkout"}
    assert ET.parse(svg).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_a_group_at_a_moment_is_as_described(
    run: tuple[Answer, Path], kohort: Kohort, history: str, log: Path
) -> None:
    checkout = [row for row in run[0].document["rebalances"] if row["group"] == "checkout"]
    moment = checkout[-3]["start"]
    answer = kohort.quick(f"{history} --group checkout --as-of", moment, "--output", "json")
    described = kohort.quick(
        "describe checkout --log-dir", log, "--as-of", moment, "--output", "json"
    ).document
    for group in described["groups"]:
        group["protocol"] = None  # the broker's default: no member names one, so no record does
    assert answer.document["as_of"] == {"time": moment, "groups": described["groups"]}


@LONG
def test_a_group_that_does_not_exist_is_an_error(kohort: Kohort, history: str) -> None:
    said = "kohort: no-such-group: the sources contain nothing about this group\n"
    assert kohort.quick(f"{history} --group no-such-group") == Answer(status=3, stdout="", stderr=said)


def test_a_directory_of_other_files_is_refused(kohort: Kohort, log: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    kohort.quick("fleet history --log-dir", log, "--out", tmp_path).assert_refused(str(tmp_path), status=3)
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


@LONG
def test_unreadable_input_is_reported_and_stops_nothing(kohort: Kohort, log: Path, tmp_path: Path) -> None:
    partition = tmp_path / "data" / "__consumer_offsets-28"
    partition.mkdir(parents=True)
    whole = (log / "__consumer_offsets-28" / "00000000000000000000.log").read_bytes()
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


@pytest.fixture(scope="module")
def saved(run: tuple[Answer, Path], kohort: Kohort, log: Path) -> Path:
    """Give a snapshot of the sample."""
    file = run[1] / "snapshots" / "a.yaml"
    file.parent.mkdir()
    assert kohort.quick("snapshot --embedded", log, "--file", file).status == 0
    return file


@LONG
def test_an_audit_of_snapshots_and_a_log_is_the_recorded_one(
    run: tuple[Answer, Path], kohort: Kohort, log: Path, tmp_path: Path
) -> None:
    (tmp_path / "b.yaml").write_text("groups: [")
    report = tmp_path / "readiness.html"
    answer = kohort.quick(
        f"fleet audit --snapshots {tmp_path / 'b.yaml'} --log-dir {log} --to consumer --report", report,
        "--output", "json",
    )  # fmt: skip
    document = answer.succeeded().document
    assert [destination["destination"] for destination in document["destinations"]] == ["consumer"]
    assert [Path(row["file"]).name for row in document["quarantined"]] == ["b.yaml"]
    assert "1 file could not be read" in answer.stderr
    for row in document["groups"]:
        row["findings"] = [finding["rule"] for finding in row["findings"]]
    check_rows("audit.jsonl", document["groups"], run[1])
    assert "Readiness for consumer" in Page(report.read_text()).texts["h2"]


def test_rehearsals_under_two_settings_are_the_recorded_ones(
    run: tuple[Answer, Path], kohort: Kohort, saved: Path, tmp_path: Path
) -> None:
    page, numbers = tmp_path / "report.html", tmp_path / "report.json"
    answer = kohort.quick(
        "fleet rehearse --to consumer --group billing --group biling --client java:4.1.0 --snapshots", saved,
        *("--vary", "group.consumer.migration.policy=bidirectional,disabled", "--vary", "concurrency=2"),
        *("--out", tmp_path / "out", "--report", page, "--report", numbers, "--output", "json"),
    )  # fmt: skip
    assert (answer.status, answer.stderr) == (3, "kohort: biling: is in none of the snapshots\n")
    document = answer.document
    assert [row["verdict"] for row in document["groups"]] == ["safe", "unsafe"]
    assert {Path(path).parent.name for path in document["tables"].values()} == set(document["tables"])
    assert json.loads(numbers.read_text())["failures"] == document["failures"]
    (failure,) = document["failures"]
    assert failure["commands"] == [
        f"kohort plan billing --to consumer --client java:4.1.0 --concurrency 2 --snapshot {saved} "
        "--output yaml > PLAN.yaml",
        f"kohort rehearse PLAN.yaml --snapshot {saved} --set {DISABLED} --seed 1 --story",
    ]
    assert "What each setting costs" in Page(page.read_text()).texts["h2"]
    check_rows("rehearsals.jsonl", document["groups"], run[1])


def test_simulations_of_every_combination_are_the_recorded_ones(
    run: tuple[Answer, Path], kohort: Kohort, tmp_path: Path
) -> None:
    page, numbers = tmp_path / "report.html", tmp_path / "report.json"
    answer = kohort.quick(
        "fleet simulate two-bounces scale-out --seeds 2 --break two-bounces --vary",
        "group.initial.rebalance.delay.ms=0,3000",
        *("--out", tmp_path / "tables", "--report", page, "--report", numbers, "--output", "json"),
    )
    assert answer.status == 1
    document = answer.document
    assert json.loads(numbers.read_text())["costs"] == document["costs"]
    assert {Path(path).parent.name for path in document["tables"].values()} == set(document["tables"])
    assert "Records read twice" in Page(page.read_text()).texts["h2"]
    check_rows("costs.jsonl", document["costs"], run[1])
    check_rows("spans.jsonl", document["spans"], run[1])
    commands = [
        {name: row[name] for name in ("verdict", "invariant", "command")} for row in document["failures"]
    ]
    check_rows("failures.jsonl", commands, run[1])
