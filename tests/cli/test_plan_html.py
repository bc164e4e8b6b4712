"""A plan as a page holds what the runbook in markdown holds, and the picture."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from tests.cli.command import Kohort

SNAPSHOTS = Path(__file__).parents[1] / "migration" / "runbooks"
PLANS = {
    "java-two-bounces": ["orders-app", "--to", "cooperative"],
    "bridge-leader": ["invoices", "--to", "consumer"],
    "static": ["ledger", "--to", "consumer"],
    "consumer-to-classic": ["orders-app", "--to", "classic"],
}


@pytest.fixture(scope="module")
def kohort(tmp_path_factory: pytest.TempPathFactory) -> Kohort:
    """Give the installed command."""
    return Kohort(tmp_path_factory.mktemp("home"))


@pytest.mark.parametrize("name", PLANS)
def test_the_page_is_whole(kohort: Kohort, name: str) -> None:
    arguments: list[str | Path] = ["plan", *PLANS[name], "--snapshot", SNAPSHOTS / f"{name}.yaml", "--output"]
    runbook = kohort.quick(*arguments, "markdown").stdout
    answer = kohort.quick(*arguments, "html")
    assert (answer.status, answer.stderr) == (0, "")
    page = answer.stdout
    assert page.count('<input type="checkbox"') == len(re.findall(r"^- \[ \]|☐", runbook, re.MULTILINE)) > 0
    assert page.count("<svg ") == 1
    titles = re.findall(r"<h\d>(.*?)</h\d>", page)
    assert [plain(title) for title in titles] == re.findall(r"^#+ (.*)$", without_code(runbook), re.MULTILINE)
    blocks = re.findall(r"^```\w+\n(.*?)\n```$", runbook, re.MULTILINE | re.DOTALL)
    assert [unescape(code) for code in re.findall(r"<pre><code[^>]*>(.*?)</code>", page, re.DOTALL)] == blocks


def plain(title: str) -> str:
    return unescape(re.sub(r"</?code>", "`", title))


def without_code(runbook: str) -> str:
    return re.sub(r"^```.*?^```$", "", runbook, flags=re.MULTILINE | re.DOTALL)
