"""Answers to an invalid command line and to nothing found. The mistakes themselves are in tests/cli/mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Answer, Kohort
from tests.support.terminals import on_terminal


def test_a_usage_error_of_the_whole_process(kohort: Kohort, sample: Path) -> None:
    said = "kohort: unknown group type 'clasic'; did you mean classic?\n"
    assert kohort("list --type clasic --embedded", sample) == Answer(status=2, stdout="", stderr=said)


@pytest.mark.parametrize("command", ["list", "describe", "plan", "snapshot"])
def test_without_a_source_the_demo_is_named(kohort: Kohort, command: str) -> None:
    rest = {"describe": ["a"], "plan": ["a", "--to", "consumer"]}.get(command, [])
    answer = kohort.quick(command, *rest, XDG_DATA_HOME=str(kohort.data.parent))
    answer.assert_refused(str(kohort.data), "kohort demo", status=3)


def test_no_group_matches(kohort: Kohort, sample: Path) -> None:
    said = f"kohort: no group in {sample} matches '^no-such'\n"
    answer = kohort.quick("describe --match ^no-such --embedded", sample)
    assert answer == Answer(status=3, stdout="", stderr=said)


def test_a_list_without_a_match_is_an_empty_list(kohort: Kohort, sample: Path) -> None:
    answer = kohort.quick("list --match", "^no-such", "--embedded", sample, "--output", "json").succeeded()
    assert answer.document["groups"] == []


@pytest.mark.parametrize("output", ["table", "json"])
def test_a_blocked_plan_is_an_answer(kohort: Kohort, sample: Path, output: str) -> None:
    answer = kohort.quick("plan legacy-etl --to consumer --embedded", sample, "--output", output)
    assert answer.status == 1
    assert "blocked" in answer.stdout.lower()
    assert answer.stderr == ""


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
