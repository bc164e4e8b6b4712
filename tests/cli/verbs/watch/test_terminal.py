"""On a terminal: drawn in place, at any size, and the terminal given back as it was found."""

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.command import Kohort
from tests.cli.schemas import faults
from tests.cli.verbs.watch.running import ENTER, LEAVE, Terminal, in_pipe, on_terminal
from tests.kafka.wait import wait_until
from tests.support.terminals import resize

pytestmark = pytest.mark.usefixtures("handled_interrupts")

LIST = ["list", "--watch", "0.1"]
COMMANDS = pytest.mark.parametrize(
    "words", [LIST, ["describe", "--all-groups", "--watch", "0.1"]], ids=" ".join
)


def more_than(count: int) -> Callable[[Terminal], bool]:
    """Whether it has drawn more often than that."""
    return lambda shown: len(shown.frames) > count


several = more_than(3)


@COMMANDS
def test_it_is_drawn_in_place_at_any_size_and_the_terminal_given_back(
    kohort: Kohort, sample: Path, tmp_path: Path, words: list[str]
) -> None:
    with on_terminal(kohort, tmp_path, *words, "--embedded", sample) as shown:
        shown.wait_for(several, "some pictures")
        for columns, lines in ((80, 24), (80, 8), (33, 12), (200, 50)):
            resize(shown.controller, columns, lines)
            # One may be incomplete at the previous size, and one now.
            started = len(shown.frames) + 1
            shown.wait_for(more_than(started + 1), "pictures of that size")
            frames = shown.frames[started:-1]
            assert {len(frame) <= lines for frame in frames} == {True}
            assert max(cell_len(line) for frame in frames for line in frame) <= columns
            assert {frame[0].startswith(f"kohort {words[0]}") for frame in frames} == {True}
        assert shown.interrupt() == 0
        said = shown.stdout
    assert said.count(ENTER) == said.count(LEAVE) == 1
    # All marks are ended, and nothing steers the terminal after it was given back.
    assert "\x1b" not in said.rpartition(LEAVE)[2]
    assert said.rpartition(LEAVE)[0].endswith("\x1b[0m")
    assert "Traceback" not in said + shown.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_the_terminal_back_too(
    kohort: Kohort, sample: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with on_terminal(kohort, tmp_path, *LIST, "--embedded", sample) as shown:
        shown.wait_for(several, "some pictures")
        assert shown.interrupt(number) == -number
        assert shown.stdout.endswith(LEAVE)


def test_ctrl_z_gives_the_terminal_back_for_a_while(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    with on_terminal(kohort, tmp_path, *LIST, "--embedded", sample) as shown:
        shown.wait_for(several, "some pictures")
        shown.process.send_signal(signal.SIGTSTP)
        _, status = os.waitpid(shown.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        wait_until(lambda: shown.stdout.endswith(LEAVE), "the terminal is given back")
        shown.process.send_signal(signal.SIGCONT)
        shown.wait_for(lambda run: run.stdout.count(ENTER) == 2 and several(run), "it draws again")
        assert shown.interrupt() == 0


def test_a_resized_terminal_is_redrawn_at_once(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    with on_terminal(kohort, tmp_path, "list", "--watch", "600", "--embedded", sample) as shown:
        shown.wait_for(lambda run: run.frames, "a picture")
        before = len(shown.frames)
        resize(shown.controller, 40, 10)
        shown.wait_for(lambda run: len(run.frames) > before, "another picture")
        assert shown.interrupt() == 0
        frame = shown.frames[-1]
    assert len(frame) <= 10
    assert max(map(cell_len, frame)) <= 40


def test_changes_are_marked(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.json"

    def save(state: str, members: int) -> None:
        listed = [{"id": f"m{number}"} for number in range(members)]
        group = {"type": "consumer", "state": state, "members": listed}
        replaced = tmp_path / "new.json"
        replaced.write_text(json.dumps({"kohort": 1, "groups": {"orders": group, "payments": {}}}))
        replaced.replace(file)

    save("Stable", 2)
    with on_terminal(kohort, tmp_path, *LIST, "--snapshot", file) as shown:
        shown.wait_for(several, "some pictures")
        assert "\x1b[7m" not in shown.stdout
        save("Reconciling", 3)
        shown.wait_for(lambda run: "\x1b[7m" in run.stdout, "a mark")
        marked = set(re.findall(r"\x1b\[7m(.*?)\x1b\[0m", shown.stdout))
        assert shown.interrupt() == 0
    assert marked <= {"Reconciling", "3"}
    assert marked


def test_a_file_that_is_gone_ends_it_and_says_so(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.json"
    file.write_text('{"kohort": 1, "groups": {"g": {}}}')
    with on_terminal(kohort, tmp_path, *LIST, "--snapshot", file) as shown:
        shown.wait_for(several, "some pictures")
        file.unlink()
        assert shown.process.wait(120) == 3
        shown.reader.join(30)
        assert shown.stdout.endswith(LEAVE)
        assert f"{file}: cannot be read" in shown.stderr


def test_a_dumb_terminal_gets_lines(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    with on_terminal(kohort, tmp_path, "watch", "checkout", "--embedded", sample, term="dumb") as shown:
        shown.wait_for(lambda run: "checkout: consumer, Stable" in run.stdout, "the first look")
        assert shown.interrupt() == 0
        assert "\x1b" not in shown.stdout


@pytest.mark.parametrize(
    ("words", "groups"), [(["--type", "consumer"], ["audit", "checkout", "fraud"]), (["fraud"], ["fraud"])]
)
def test_a_dumb_terminal_gets_the_list_of_top_once(
    kohort: Kohort, sample: Path, tmp_path: Path, words: list[str], groups: list[str]
) -> None:
    with on_terminal(kohort, tmp_path, "top", *words, "--embedded", sample, term="dumb") as shown:
        assert shown.process.wait(120) == 0
        shown.reader.join(30)
        heading, *rows, _, total = shown.stdout.splitlines()
        assert heading.split()[:4] == ["GROUP", "STATE", "#MEMBERS", "LAG"]
        assert total.startswith("Total of ")
        assert [row.split()[0] for row in rows] == groups
        assert "TERM=dumb" in shown.stderr


@pytest.mark.parametrize("output", ["table", "json", "csv", "yaml"])
def test_in_a_pipe_one_answer_follows_another(
    kohort: Kohort, sample: Path, tmp_path: Path, output: str
) -> None:
    words = [*LIST, "--embedded", str(sample), "--output", output]
    with in_pipe(kohort, tmp_path, *words) as listed:
        listed.wait_for(lambda run: run.stdout.count("warehouse") >= 3, "three answers")
        assert listed.interrupt() == 0
        reported = listed.stdout
        assert listed.stderr == ""
    once = kohort.quick("list --embedded", sample, "--output", output).stdout
    moment = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    if output == "json":
        for line in reported.splitlines():
            document = json.loads(line)
            assert faults(document) == []
            assert re.fullmatch(moment, document.pop("at"))
            assert document == json.loads(once)
    elif output == "csv":
        heads, *rows = reported.splitlines()
        expected = once.splitlines()
        assert heads == f"TIME,{expected[0]}"
        assert [re.sub(f"^{moment},", "", row) for row in rows[: len(expected) - 1]] == expected[1:]
        assert all(re.match(f"{moment},", row) for row in rows)
    elif output == "table":
        assert re.fullmatch(f"(?:{moment}\n{re.escape(once)}\n)+", reported)
    else:
        assert re.fullmatch(r"(?:---\n(?:[^-\n].*\n)+)+", reported)


def test_ctrl_c_before_anything_was_shown(kohort: Kohort, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "slow")
    with in_pipe(kohort, tmp_path, "list", "--watch", "1", "--snapshot", tmp_path / "slow") as listed:
        # It is open when a writer does not have to wait for its reader any more.
        writer = wait_until(lambda: _opened(tmp_path / "slow"), "the file is being read")
        assert listed.interrupt() == 130
        os.close(writer)
        assert (listed.stdout, listed.stderr) == ("", "")


def _opened(fifo: Path) -> int | None:
    try:
        return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None
