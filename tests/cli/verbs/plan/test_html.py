"""A plan as a page holds what the runbook in markdown holds, and the picture."""

import re
from html import escape, unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.command import Kohort

SVG = "{http://www.w3.org/2000/svg}"
SNAPSHOTS = Path(__file__).parents[3] / "migration" / "runbooks"
PLANS = {
    "java-two-bounces": ["orders-app", "--to", "cooperative"],
    "bridge-leader": ["invoices", "--to", "consumer"],
    "static": ["ledger", "--to", "consumer"],
    "consumer-to-classic": ["orders-app", "--to", "classic"],
}


@pytest.mark.parametrize("name", PLANS)
def test_the_page_is_whole(kohort: Kohort, name: str) -> None:
    arguments: list[str | Path] = ["plan", *PLANS[name], "--snapshot", SNAPSHOTS / f"{name}.yaml", "--output"]
    written = {"SOURCE_DATE_EPOCH": "1795867200"}
    runbook = kohort.quick(*arguments, "markdown", **written).stdout
    answer = kohort.quick(*arguments, "html", **written).succeeded(stderr="")
    page = answer.stdout
    assert page.count('<input type="checkbox"') == len(re.findall(r"^- \[ \]|☐", runbook, re.MULTILINE)) > 0
    assert page.count("<svg ") == 1
    assert "Written on 2026-11-28 12:00 UTC.</p>" in page
    assert '<p class="faint">Cluster 5L6g3nShT-eMCtK--X86sw. ' in page
    titles = re.findall(r"<h\d>(.*?)</h\d>", page)
    assert [plain(title) for title in titles] == re.findall(r"^#+ (.*)$", without_code(runbook), re.MULTILINE)
    blocks = re.findall(r"^```\w+\n(.*?)\n```$", runbook, re.MULTILINE | re.DOTALL)
    assert [unescape(code) for code in re.findall(r"<pre><code[^>]*>(.*?)</code>", page, re.DOTALL)] == blocks


def test_scripts_get_the_findings_as_a_table(kohort: Kohort) -> None:
    snapshot = SNAPSHOTS / "static.yaml"
    plan: list[str | Path] = ["plan", "ledger", "--to", "consumer", "--snapshot", snapshot]
    answer = kohort.quick(*plan, "--output", "csv").succeeded()
    assert answer.stdout.startswith("LEVEL,RULE,MEMBER,FINDING,REMEDY,SOURCE\nwarning,")
    table = kohort.quick(*plan, "--output", "markdown", "--columns", "LEVEL,RULE").succeeded().stdout
    assert table.startswith("| LEVEL | RULE |")


def plain(title: str) -> str:
    return unescape(re.sub(r"</?code>", "`", title))


def without_code(runbook: str) -> str:
    return re.sub(r"^```.*?^```$", "", runbook, flags=re.MULTILINE | re.DOTALL)


def test_the_picture_is_a_separate_file_too(kohort: Kohort, tmp_path: Path) -> None:
    snapshot, file = SNAPSHOTS / "java-two-bounces.yaml", tmp_path / "course.svg"
    arguments: list[str | Path] = ["plan", "orders-app", "--to", "cooperative", "--snapshot", snapshot]
    answer = kohort.quick(*arguments, "--svg", file).succeeded(stderr="")
    assert "--svg" not in answer.stdout  # the command that writes PLAN.yaml draws nothing
    drawing = ElementTree.parse(file).getroot()
    assert drawing.tag == f"{SVG}svg"
    page = kohort.quick(*arguments, "--output", "html").stdout
    for title in drawing.iter(f"{SVG}title"):
        assert escape(title.text or "", quote=False) in page


def test_what_cannot_be_drawn(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "nowhere" / "course.svg"
    plan: list[str | Path] = [
        "plan orders-app --to cooperative --snapshot",
        SNAPSHOTS / "java-two-bounces.yaml",
    ]
    kohort.quick(*plan, "--svg", file).assert_said(3, "course.svg: cannot be written")
    file.parent.mkdir()
    for groups, said in (
        ("--all-groups", "--svg draws one plan; this is"),
        ("connect-s3-sink", "has no rounds to draw"),
    ):
        answer = kohort.quick(f"plan {groups} --to consumer --embedded", sample, "--svg", file)
        answer.assert_refused(said)
    assert not file.exists()
