"""`kohort top` on a real terminal: typed keys, sizes, and what it leaves behind however it ends."""

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.verbs.top.pages import SAMPLE, children
from tests.cli.verbs.top.tmux import PROMPT, Tmux, terminal
from tests.kafka.wait import wait_until

BROKEN = """
from cli.app import main
from cli.verbs.top.group_rows import GroupRows
def table(rows, sight):
    password = "s3cret"
    raise RuntimeError("broken")
GroupRows.table = table
main()
"""


@pytest.fixture(scope="module")
def shell(kohort: Kohort, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tmux]:
    with terminal(tmp_path_factory.mktemp("tmux"), kohort.env) as tmux:
        yield tmux


@pytest.fixture(scope="module")
def top(kohort: Kohort) -> str:
    return f"{kohort.executable} top --snapshot {SAMPLE}"


def started(shell: Tmux) -> int:
    """The process that the shell has started."""
    (process,) = children(int(shell.ask("display", "-p", "#{pane_pid}")))
    return process


def test_keys_are_typed_and_the_terminal_is_given_back(shell: Tmux, top: str, tmp_path: Path) -> None:
    before = tmp_path / "before"
    shell.run(f"stty -g > {before}; {top} 2> {tmp_path}/notices")
    listed = shell.wait_for("warehouse")
    assert len(listed.splitlines()) == 24
    assert max(map(len, listed.splitlines())) <= 80
    shell.type("/bill")
    shell.wait_for(lambda screen: "billing" in screen and "warehouse" not in screen)
    shell.press("Enter")
    shell.press("Enter")
    shell.wait_for("group billing")
    shell.resize(120, 40)
    opened = shell.wait_for(lambda screen: len(screen.splitlines()) == 40)
    assert max(map(len, opened.splitlines())) > 80
    shell.press("C-z")
    shell.wait_for("Stopped")
    assert shell.modes == "0 1 0 0"
    shell.type("fg\n")
    shell.wait_for("group billing")
    shell.resize(80, 24)
    shell.press("Escape")
    shell.wait_for(lambda screen: "billing" in screen and "warehouse" not in screen)
    shell.press("C-c")
    shell.wait_for(lambda screen: screen.endswith(PROMPT.strip()))
    shell.type("echo status $?\n")
    shell.ended(130)
    shell.run(f"stty -g | cmp - {before}")
    shell.ended(0)


def test_signals_and_errors_end_as_in_other_commands(shell: Tmux, top: str, kohort: Kohort) -> None:
    shell.run(top)
    shell.wait_for("warehouse")
    os.kill(started(shell), signal.SIGTERM)
    assert "warehouse" not in shell.ended(143)
    shell.run(f"{kohort.executable} top --snapshot nowhere.yaml")
    assert "nowhere.yaml" in shell.ended(3)
    words = ["top", "--snapshot", str(SAMPLE)]
    shell.run(shlex.join([sys.executable, "-c", BROKEN, *words]))
    screen = shell.ended(3)
    assert "broken" in screen
    assert "s3cret" not in screen


def test_it_ends_with_its_terminal(kohort: Kohort, top: str, tmp_path: Path) -> None:
    with terminal(tmp_path, kohort.env) as shell:
        shell.run(top)
        shell.wait_for("warehouse")
        process = started(shell)
    wait_until(lambda: not Path(f"/proc/{process}").exists(), "it has ended", timeout_s=30)
