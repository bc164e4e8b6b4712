"""The guides of docs/migrate: every rule that stops a run has its section, and the demonstration does what it says."""

import re
import subprocess
import sys
from pathlib import Path

from migration.execution.stops import REMEDIES, ExecutionStop, StopRule
from tests.docs.pages import DOCS, ROOT, as_a_reader, blocks
from tests.kafka.ports import free_ports
from tests.support.long import LONG

GUIDES = DOCS / "migrate"


def plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def test_every_rule_has_a_section_with_its_remedy() -> None:
    sections = re.split(r"^### ", (GUIDES / "stopped.md").read_text(), flags=re.M)[1:]
    remedies = {}
    for section in sections:
        name, _, text = section.partition("\n")
        assert re.findall(r"^\*\*(.*?):\*\*", text, re.M) == ["Meaning", "The group", "Next"]
        remedies[name] = plain(text.partition("**Next:**")[2].split("\n\n")[0])
    assert remedies == {rule.value: plain(REMEDIES[rule]) for rule in StopRule}


def test_the_rules_that_no_rollback_follows_are_listed() -> None:
    (names,) = re.findall(r"but not after (.*?): then", plain((GUIDES / "stopped.md").read_text()))
    stops = (ExecutionStop(rule=rule, message="", at_s=0.0) for rule in StopRule)
    assert re.split(", | and ", names) == [stop.rule.value for stop in stops if not stop.allows_rollback]


@LONG
def test_the_demonstration_migrates_its_group(tmp_path: Path) -> None:
    home, (port,) = tmp_path / "home", free_ports(1)
    home.mkdir()
    environment = {**as_a_reader(home), "PORT": str(port), "PYTHON": sys.executable}
    text = (GUIDES / "README.md").read_text().partition("## Your service")[0]
    page = tmp_path / "page.md"
    page.write_text(text.replace("CLONE", str(ROOT)).replace("19092", str(port)))
    script = "set -e\n" + "".join(block.text for block in blocks(page, "sh"))
    directory = tmp_path / "work"
    directory.mkdir()

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=directory, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    try:
        done = run("sh", "-c", script)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "every step is complete" in done.stdout
        assert not list((directory / "demo").glob("*.pid"))
    finally:
        run(GUIDES / "demo.sh", "down")
    lines = (directory / "demo" / "billing-1.properties").read_text().splitlines()
    assert "group.protocol=consumer" in lines
