"""What the tests of the audit share: the command line, whose word on one group is the audit's on all."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from pipeline.audit.judge import AuditSettings, judge_work
from pipeline.audit.work import list_snapshots, work_of_file
from tests.cli.command import Kohort

RUNBOOKS = Path(__file__).parents[2] / "migration" / "runbooks"
Judged = dict[str, list[dict[str, Any]]]


def judged(path: Path, settings: AuditSettings) -> Judged:
    rows: Judged = {"audit": [], "regex": [], "quarantined": []}
    for file in list_snapshots([str(path)], {}):
        for work in work_of_file(file, {}, all_topics=bool(settings.regexes)):
            for row in judge_work(work, settings) if "names" not in work else ():
                ((kind, content),) = row.items()
                rows[kind].append(content)
    return rows


@pytest.fixture(scope="session")
def kohort(tmp_path_factory: pytest.TempPathFactory) -> Kohort:
    return Kohort(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("fleet")
    (directory / "sample.yaml").write_text(files("cli.verbs.demo").joinpath("sample.yaml").read_text())
    below = directory / "runbooks"
    below.mkdir()
    for snapshot in sorted(RUNBOOKS.glob("*.yaml")):
        (below / snapshot.name).write_bytes(snapshot.read_bytes())
    (directory / ".hidden.yaml").write_text("kohort: 1\n")
    (directory / "notes.txt").write_text("no snapshot\n")
    (directory / "broken.yaml").write_text("kohort: 1\ngroups:\n  g:\n    members:\n      - {owned: {}}\n")
    (directory / "bytes.yaml").write_bytes(b"kohort: 1\xff\n")
    (directory / "other.json").write_text('{"apps": []}')
    return directory
