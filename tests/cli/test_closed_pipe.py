"""`kohort … | head`: the reader has seen enough, and nobody is told of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from groups.model import Group, GroupState, GroupType
from groups.snapshot import Snapshot, write_snapshot
from tests.cli.command import Kohort

GROUPS = 20_000
"""Several times what a pipe holds."""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a snapshot of many groups."""
    file = tmp_path_factory.mktemp("many") / "many.json"
    names = [f"group-{number:06}" for number in range(GROUPS)]
    groups = {name: Group(id=name, type=GroupType.CLASSIC, state=GroupState.EMPTY) for name in names}
    write_snapshot(Snapshot(groups=groups), file)
    return file


@pytest.mark.parametrize(
    "arguments",
    [
        *(["list", "--output", output] for output in ("table", "json", "yaml", "csv", "markdown")),
        ["describe", "--all-groups", "--state"],
        ["snapshot"],
    ],
    ids=" ".join,
)
def test_head_ends_it_quietly(kohort: Kohort, many: Path, tmp_path: Path, arguments: list[str]) -> None:
    with (
        (tmp_path / "stderr").open("w+") as stderr,
        subprocess.Popen(
            [kohort.executable, *arguments, "--snapshot", str(many)],
            stdout=subprocess.PIPE, stderr=stderr, env=kohort.env,
        ) as process,
    ):  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.wait(60) == 0
        stderr.seek(0)
        # describe remarks on every empty group before it prints.
        assert [line for line in stderr if "has no active members" not in line] == []


def test_a_pipe_that_was_closed_before(kohort: Kohort, sample: Path) -> None:
    done = _in_shell(kohort, f"list --embedded '{sample}' | true")
    assert (done.stdout, done.stderr) == ("", "")


def test_stderr_is_closed(kohort: Kohort, sample: Path) -> None:
    answer = _in_shell(kohort, f"describe billing nobody --embedded '{sample}' --output csv 2>&-")
    assert answer.returncode == 3
    # What has no place to go does not go among the data.
    assert "no such group" not in answer.stdout
    assert "billing" in answer.stdout


def test_stdout_is_closed(kohort: Kohort, sample: Path) -> None:
    answer = _in_shell(kohort, f"list --embedded '{sample}' >&-")
    assert (answer.returncode, answer.stderr) == (3, "kohort: standard output is closed\n")


@pytest.mark.parametrize("command", ["list", "snapshot"])
def test_the_disk_is_full(kohort: Kohort, sample: Path, many: Path, command: str) -> None:
    for source in (f"--embedded '{sample}'", f"--snapshot '{many}'"):
        answer = _in_shell(kohort, f"{command} {source} >/dev/full")
        reason = "standard output cannot be written: No space left on device"
        assert (answer.returncode, answer.stderr) == (3, f"kohort: {reason}\n")


@pytest.mark.parametrize("command", ["--help", "list --help", "--version"])
def test_help_has_no_room(kohort: Kohort, command: str) -> None:
    answer = _in_shell(kohort, f"{command} >/dev/full")
    reason = "standard output cannot be written: No space left on device"
    assert (answer.returncode, answer.stderr) == (3, f"kohort: {reason}\n")


def _in_shell(kohort: Kohort, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", f"'{kohort.executable}' {command}"],
        capture_output=True, text=True, env=kohort.env, check=False,
    )  # fmt: skip
