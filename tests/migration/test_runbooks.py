"""The runbooks in the documentation are the output of `kohort plan` for the snapshots next to this test.

`KOHORT_WRITE_GOLDEN=1 pytest tests/migration/test_runbooks.py` writes them again; read the difference before you
commit it.
"""

import os
import re
from pathlib import Path

import pytest

from tests.cli.command import Kohort

ROOT = Path(__file__).parents[2]
SNAPSHOTS = Path(__file__).parent / "runbooks"
PAGES = ROOT / "docs" / "runbooks"

RUNBOOKS = {
    "java-two-bounces": ["orders-app", "--to", "cooperative"],
    "java-one-bounce": ["orders-app", "--to", "cooperative"],
    "java-sticky-to-consumer": ["orders-app", "--to", "consumer"],
    "librdkafka-stop-and-start": ["invoices", "--to", "cooperative"],
    "librdkafka-range-to-consumer": ["invoices", "--to", "consumer"],
    "bridge-leader": ["invoices", "--to", "consumer"],
    "sarama-sticky": ["audit", "--to", "consumer"],
    "consumer-to-classic": ["orders-app", "--to", "classic"],
    "cooperative-to-eager": ["orders-app", "--to", "eager"],
    "streams-two-bounces": ["billing", "--to", "cooperative"],
    "static": ["ledger", "--to", "consumer"],
    "regex": ["clicks", "--to", "consumer", "--regex", "clicks-(eu|us)"],
    "offline": ["orders-app", "--to", "consumer", "--offline"],
}
WRITTEN = "1795867200"  # The time of writing, in seconds since 1970


@pytest.fixture(scope="module")
def kohort(tmp_path_factory: pytest.TempPathFactory) -> Kohort:
    return Kohort(tmp_path_factory.mktemp("home"))


@pytest.mark.parametrize("name", RUNBOOKS)
def test_runbook(kohort: Kohort, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # the page shows the command, with the file as it is named here
    snapshot = (SNAPSHOTS / f"{name}.yaml").relative_to(ROOT)
    answer = kohort.quick(
        "plan", *RUNBOOKS[name], "--snapshot", snapshot, "--output", "markdown", SOURCE_DATE_EPOCH=WRITTEN
    )
    assert (answer.status, answer.stderr) == (0, "")
    page = PAGES / f"{name}.md"
    if os.environ.get("KOHORT_WRITE_GOLDEN") == "1":
        page.parent.mkdir(exist_ok=True)
        page.write_text(answer.stdout, encoding="utf-8")
    assert answer.stdout == page.read_text(encoding="utf-8")


def test_the_index_names_every_runbook_and_snapshot() -> None:
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([a-z-]+)\.md\)", index)) == set(RUNBOOKS)
    assert {page.stem for page in PAGES.glob("*.md")} == {*RUNBOOKS, "README"}
    assert {file.stem for file in SNAPSHOTS.glob("*.yaml")} == set(RUNBOOKS)
