"""`kohort … | head`: a closed pipe is not an error, and nothing is printed."""

import subprocess
from pathlib import Path

import pytest

from groups.model import Group, GroupState, GroupType
from groups.snapshot import Snapshot, write_snapshot
from tests.cli.command import Kohort
from tests.cli.coordinator_log import commit, pairs, save_log
from tests.coordinator.store.logs import Written

GROUPS = 5_000
"""Several times what a pipe holds."""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("many") / "many.json"
    names = [f"group-{number:06}" for number in range(GROUPS)]
    groups = {name: Group(id=name, type=GroupType.CLASSIC, state=GroupState.EMPTY) for name in names}
    write_snapshot(Snapshot(groups=groups), file)
    return file


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = Written()
    for number in range(100):
        log.batch(pairs(*(commit(f"group-{number}", "topic", index, index) for index in range(200))))
    return save_log(log, tmp_path_factory.mktemp("long"))


@pytest.mark.parametrize(
    "line",
    [
        *(f"list --output {output} --snapshot" for output in ("table", "json", "yaml", "csv", "markdown")),
        "describe --all-groups --state --snapshot",
        "snapshot --snapshot",
        *(f"log dump --output {output}" for output in ("table", "ndjson", "json", "yaml", "csv")),
    ],
)
def test_head_ends_it_quietly(kohort: Kohort, many: Path, long_log: Path, tmp_path: Path, line: str) -> None:
    source = long_log if line.startswith("log") else many
    with (
        (tmp_path / "stderr").open("w+") as stderr,
        subprocess.Popen(
            [kohort.executable, *line.split(), source], stdout=subprocess.PIPE, stderr=stderr, env=kohort.env
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.wait(60) == 0
        stderr.seek(0)
        # describe remarks on every empty group before it prints.
        assert [line for line in stderr if "has no active members" not in line] == []


def test_streams_that_were_closed_before(kohort: Kohort, sample: Path) -> None:
    done = kohort.in_shell(f"list --embedded '{sample}' | true")
    assert (done.stdout, done.stderr) == ("", "")
    answer = kohort.in_shell(f"list --embedded '{sample}' >&-")
    assert (answer.status, answer.stderr) == (3, "kohort: standard output is closed\n")
    answer = kohort.in_shell(f"describe billing missing --embedded '{sample}' --output csv 2>&-")
    # What has no place to go does not go among the data.
    assert (answer.status, "no such group" in answer.stdout, "billing" in answer.stdout) == (3, False, True)


SOURCES = ("--embedded '{sample}'", "--snapshot '{many}'")
LINES = [f"{command} {source}" for command in ("list", "snapshot") for source in SOURCES]


@pytest.mark.parametrize(
    "line", ["--help", "list --help", "--version", "log dump '{long_log}' --output ndjson", *LINES]
)
def test_the_disk_is_full(kohort: Kohort, sample: Path, many: Path, long_log: Path, line: str) -> None:
    answer = kohort.in_shell(f"{line.format(sample=sample, many=many, long_log=long_log)} >/dev/full")
    reason = "standard output cannot be written: No space left on device"
    assert (answer.status, answer.stderr) == (3, f"kohort: {reason}\n")
