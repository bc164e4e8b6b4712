"""Answers to an invalid command line and to nothing found. The mistakes themselves are in tests/cli/mistakes."""

from pathlib import Path

import pytest

from tests.cli.command import Answer, Kohort
from tests.support.terminals import on_terminal


def test_a_usage_error_of_the_whole_process(kohort: Kohort, sample: Path) -> None:
    said = "kohort: unknown group type 'clasic'; did you mean classic?\n"
    assert kohort("list --type clasic --embedded", sample) == Answer(status=2, stdout="", stderr=said)


@pytest.mark.parametrize("columns", [40, 80, 400])
def test_a_terminal_breaks_messages_between_words(kohort: Kohort, sample: Path, columns: int) -> None:
    group = "a-group-with-a-name-that-is-longer-than-a-line-of-a-narrow-terminal"
    describe = [kohort.executable, "describe", group]
    message = (
        "kohort: give only one of GROUP, --match and --all-groups; filters such as --type narrow it down"
    )
    for options, text in (
        (["--match", "x"], message),
        (["--nothing-like-it"], "`kohort describe --help` shows what is valid"),
        ([], group),
        ([], str(sample)),
    ):
        shown = on_terminal([*describe, *options, "--embedded", sample], kohort.env, columns=columns).terminal
        lines = shown.replace("\r\n", "\n").splitlines()
        assert text in " ".join(line.strip() for line in lines)
        assert all(len(line) <= columns or len(line.split()) == 1 for line in lines)
