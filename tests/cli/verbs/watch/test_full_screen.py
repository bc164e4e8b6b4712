"""On a terminal, kohort watch opens kohort top on its groups, unless lines are asked for."""

import os
from pathlib import Path

import pytest

from cli.verbs.top.choice import opened_group
from cli.verbs.top.options import TopOptions, option_words
from tests.cli.command import Kohort
from tests.cli.verbs.watch.running import on_terminal


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[TopOptions]:
    """There is a terminal; the options with which the screens were opened on it."""
    screens: list[TopOptions] = []
    monkeypatch.setattr("cli.verbs.top.action.has_terminal", lambda: True)
    monkeypatch.setattr("cli.verbs.top.action.run_top", lambda options, *_: screens.append(options))
    return screens


@pytest.fixture
def recorded(kohort: Kohort, sample: Path, tmp_path: Path) -> Path:
    kohort.quick("watch fraud --for 0 --embedded", sample, "--record", tmp_path / "recorded").succeeded()
    return tmp_path / "recorded"


@pytest.mark.parametrize(
    ("words", "chosen", "every_s"),
    [
        ("fraud", ["--", "fraud"], 0.5),
        ("fraud checkout --every 7", ["--", "fraud", "checkout"], 7.0),
        ("--match ^f --type share --every 0.1", ["--match", "^f", "--type", "share"], 0.2),
        ("--all-groups --every 3s", [], 3.0),
    ],
)
def test_a_terminal_shows_the_groups_in_full_screen(
    kohort: Kohort, sample: Path, opened: list[TopOptions], words: str, chosen: list[str], every_s: float
) -> None:
    kohort.quick(f"watch {words} --embedded", sample).succeeded()
    (options,) = opened
    assert (option_words(options.selection), options.every) == (chosen, every_s)
    assert opened_group(options.selection) == ("fraud" if words == "fraud" else None)


def test_a_recording_is_shown_in_full_screen(
    kohort: Kohort, recorded: Path, opened: list[TopOptions]
) -> None:
    assert kohort.quick("watch --replay", recorded).succeeded().stdout == ""
    assert [options.replay for options in opened] == [recorded]


@pytest.mark.usefixtures("handled_interrupts")
def test_a_real_terminal_has_screens_also_if_errors_go_elsewhere(
    kohort: Kohort, sample: Path, tmp_path: Path
) -> None:
    with on_terminal(kohort, tmp_path, "watch", "fraud", "--embedded", sample) as shown:
        shown.wait_for(lambda run: "Esc" in run.stdout, "the line of keys")
        assert "\x1b[?1049h" in shown.stdout
        os.write(shown.controller, b"q")
        assert shown.process.wait(60) == 0


@pytest.mark.parametrize(
    "words",
    ["--for 0", "--until 1 --for 0", "--output json --for 0", "--commits --for 0", "--record - --for 0"],
)
def test_options_of_lines_print_lines(
    kohort: Kohort, sample: Path, tmp_path: Path, opened: list[TopOptions], words: str
) -> None:
    words = words.replace("-record -", f"-record {tmp_path / 'file'}")
    assert "Reconciling" in kohort.quick(f"watch fraud {words} --embedded", sample).stdout
    assert opened == []


@pytest.mark.parametrize("words", ["--speed 1000", "--until stable", "--commits", "--output json"])
def test_options_of_lines_print_a_recording(
    kohort: Kohort, recorded: Path, opened: list[TopOptions], words: str
) -> None:
    assert "Reconciling" in kohort.quick(f"watch {words} --replay", recorded).stdout
    assert opened == []


def test_without_the_extra_lines_are_printed_and_how_to_get_it(
    kohort: Kohort, recorded: Path, opened: list[TopOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wire.extras._is_found", lambda module: not module.startswith("textual"))
    answer = kohort.quick("watch --replay", recorded).succeeded()
    assert "Reconciling" in answer.stdout
    assert "to watch in full screen, run `" in answer.stderr
    assert "top" in answer.stderr
    assert opened == []


def test_what_cannot_be_watched_is_refused_on_a_terminal_too(
    kohort: Kohort, sample: Path, opened: list[TopOptions]
) -> None:
    kohort.quick("watch --embedded", sample).assert_refused("name the groups to watch")
    kohort.quick("watch fraud --speed 2 --embedded", sample).assert_refused("they need --replay")
    assert opened == []
