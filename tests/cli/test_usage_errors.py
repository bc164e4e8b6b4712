"""A command line that makes no sense: exit status 2, a reason, and nothing on stdout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Kohort

USAGE = {
    "list -b a:1 --snapshot a.yaml": "--bootstrap-server and --snapshot name different sources",
    "list -b a:1 --snapshot a.yaml --embedded d": "give one",
    "list --snapshot a.yaml --command-config c": "--command-config is for a live cluster",
    "describe --embedded {sample}": "name groups, or give --match REGEX, or --all-groups",
    "describe a --all-groups --embedded {sample}": "one of these",
    "describe --match a --all-groups --embedded {sample}": "one of these",
    "list --match '(' --embedded {sample}": "--match `(` is invalid",
    "describe --match '(?=a)' --embedded {sample}": "--match `(?=a)` is invalid",
    "list --type clasic --embedded {sample}": "unknown group type 'clasic'",
    "list --type share,x --embedded {sample}": "unknown group type 'x'",
    "list --state Fine --embedded {sample}": "unknown group state 'Fine'",
    "list --output xml --embedded {sample}": "'xml' is not one of",
    "list --timeout 0": "--timeout",
    "list --timeout soon": "--timeout",
    **{
        f"describe a {mode} --embedded {{sample}}": "different tables; give one"
        for mode in ("--members --state", *(f"--migration {other}" for other in ("--members", "--offsets", "--state")))
    },
    "descibe": "No such command 'descibe'",
    "list --groups": "No such option",
    "plan --to consumer --embedded {sample}": "name groups, or give --match",
    "plan billing": "Missing option '--to'",
    "plan billing --to sideways": "'sideways' is not one of",
    "plan billing --to eager --concurrency 0": "--concurrency",
    "plan billing --to eager --bounce-seconds nan": "--bounce-seconds",
    "plan billing --to eager --bounce-seconds -1": "--bounce-seconds",
    "plan billing --to consumer --client jawa --embedded {sample}": "--client: unknown client library 'jawa'",
    "plan billing --to consumer --client java:new --embedded {sample}": "--client: 'new' is not a version",
    "plan billing --to consumer --client nobody=java --embedded {sample}": "--client names 'nobody', which",
    "validate-regex": "give a PATTERN, or --file FILE",
    "demo {sample}": "holds groups already; --force replaces them",
}  # fmt: skip
"""What is said of a command line; {sample} is the sample fleet."""


@pytest.mark.parametrize(("line", "reason"), USAGE.items())
def test_a_command_line_that_is_invalid(kohort: Kohort, sample: Path, line: str, reason: str) -> None:
    answer = kohort.quick(line.replace("{sample}", str(sample)))
    assert answer.status == 2, answer
    assert answer.stdout == ""
    # Typer draws a box around its messages and folds them.
    assert reason in " ".join(answer.stderr.replace("│", " ").split())
    assert not answer.traceback


def test_a_usage_error_of_the_whole_process(kohort: Kohort, sample: Path) -> None:
    answer = kohort("list --type clasic --embedded", sample)
    known = "classic, consumer, share, streams (generic is classic)"
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr == f"kohort: unknown group type 'clasic'; known: {known}\n"


@pytest.mark.parametrize("command", ["list", "describe", "plan", "snapshot"])
def test_without_a_source_the_demo_is_named(kohort: Kohort, command: str) -> None:
    rest = {"describe": ["a"], "plan": ["a", "--to", "consumer"]}.get(command, [])
    answer = kohort.quick(command, *rest, XDG_DATA_HOME=str(kohort.data.parent))
    answer.assert_refused(str(kohort.data), "kohort demo", status=3)


def test_no_group_matches(kohort: Kohort, sample: Path) -> None:
    answer = kohort.quick("describe --match", "^no-such", "--embedded", sample)
    assert (answer.status, answer.stdout) == (3, "")
    assert answer.stderr == f"kohort: no group in {sample} matches '^no-such'\n"


def test_a_list_without_a_match_is_an_empty_list(kohort: Kohort, sample: Path) -> None:
    answer = kohort.quick("list --match", "^no-such", "--embedded", sample, "--output", "json").succeeded()
    assert answer.document["groups"] == []


@pytest.mark.parametrize("output", ["table", "json"])
def test_a_blocked_plan_is_an_answer(kohort: Kohort, sample: Path, output: str) -> None:
    answer = kohort.quick("plan legacy-etl --to consumer --embedded", sample, "--output", output)
    assert answer.status == 1
    assert "blocked" in answer.stdout.lower()
    assert answer.stderr == ""
