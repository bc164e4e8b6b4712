"""A command line that makes no sense: exit status 2, a reason, and nothing on stdout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Kohort

NAMED = ["--snapshot", "a.yaml"]

USAGE = {
    "two-sources": (["list", "-b", "a:1", *NAMED], "--bootstrap-server and --snapshot name different sources"),
    "three-sources": (["list", "-b", "a:1", *NAMED, "--embedded", "d"], "give one"),
    "config-for-a-file": (["list", *NAMED, "--command-config", "c"], "--command-config is for a live cluster"),
    "no-groups": (["describe", "--embedded", "{sample}"], "name groups, or give --match REGEX, or --all-groups"),
    "groups-twice": (["describe", "a", "--all-groups", "--embedded", "{sample}"], "one of these"),
    "match-and-all": (["describe", "--match", "a", "--all-groups", "--embedded", "{sample}"], "one of these"),
    "match-is-no-regex": (["list", "--match", "(", "--embedded", "{sample}"], "--match `(` is invalid"),
    "match-looks-ahead": (["describe", "--match", "(?=a)", "--embedded", "{sample}"], "--match `(?=a)` is invalid"),
    "type": (["list", "--type", "clasic", "--embedded", "{sample}"], "unknown group type 'clasic'"),
    "second-type": (["list", "--type", "share,x", "--embedded", "{sample}"], "unknown group type 'x'"),
    "state": (["list", "--state", "Fine", "--embedded", "{sample}"], "unknown group state 'Fine'"),
    "output": (["list", "--output", "xml", "--embedded", "{sample}"], "'xml' is not one of"),
    "timeout-0": (["list", "--timeout", "0"], "--timeout"),
    "timeout-text": (["list", "--timeout", "soon"], "--timeout"),
    "two-modes": (["describe", "a", "--members", "--state", "--embedded", "{sample}"], "different tables; give one"),
    "unknown-command": (["descibe"], "No such command 'descibe'"),
    "unknown-option": (["list", "--groups"], "No such option"),
    "plan-without-group": (["plan", "--to", "consumer", "--embedded", "{sample}"], "name groups, or give --match"),
    "plan-without-to": (["plan", "billing"], "Missing option '--to'"),
    "plan-elsewhere": (["plan", "billing", "--to", "sideways"], "'sideways' is not one of"),
    "plan-nobody-at-once": (["plan", "billing", "--to", "eager", "--concurrency", "0"], "--concurrency"),
    "plan-restart-of-no-length": (["plan", "billing", "--to", "eager", "--bounce-seconds", "nan"], "--bounce-seconds"),
    "plan-restart-of-the-past": (["plan", "billing", "--to", "eager", "--bounce-seconds", "-1"], "--bounce-seconds"),
    "plan-library": (
        ["plan", "billing", "--to", "consumer", "--client", "jawa", "--embedded", "{sample}"],
        "--client: unknown client library 'jawa'",
    ),
    "plan-version": (
        ["plan", "billing", "--to", "consumer", "--client", "java:new", "--embedded", "{sample}"],
        "--client: 'new' is not a version",
    ),
    "plan-stranger": (
        ["plan", "billing", "--to", "consumer", "--client", "nobody=java", "--embedded", "{sample}"],
        "--client names 'nobody', which is no member of billing",
    ),
    "no-pattern": (["validate-regex"], "give a PATTERN, or --file FILE"),
    "demo-twice": (["demo", "{sample}"], "holds groups already; --force replaces them"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "reason"), USAGE.values(), ids=USAGE.keys())
def test_a_command_line_that_makes_no_sense(
    kohort: Kohort, sample: Path, arguments: list[str], reason: str
) -> None:
    answer = kohort.quick(*(argument.format(sample=sample) for argument in arguments))
    assert answer.status == 2, answer
    assert answer.stdout == ""
    # Typer draws a box around its messages and folds them.
    assert reason in " ".join(answer.stderr.replace("│", " ").split())
    assert not answer.traceback


def test_a_usage_error_of_the_whole_process(kohort: Kohort, sample: Path) -> None:
    answer = kohort("list", "--type", "clasic", "--embedded", sample)
    known = "classic, consumer, share, streams (generic is classic)"
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr == f"kohort: unknown group type 'clasic'; known: {known}\n"


@pytest.mark.parametrize("command", ["list", "describe", "plan", "snapshot"])
def test_without_a_source_the_demo_is_named(kohort: Kohort, command: str) -> None:
    rest = {"describe": ["a"], "plan": ["a", "--to", "consumer"]}.get(command, [])
    answer = kohort(command, *rest)
    assert (answer.status, answer.stdout) == (3, "")
    assert str(kohort.data) in answer.stderr
    assert "kohort demo" in answer.stderr


def test_no_group_matches(kohort: Kohort, sample: Path) -> None:
    answer = kohort("describe", "--match", "^no-such", "--embedded", sample)
    assert (answer.status, answer.stdout) == (3, "")
    assert answer.stderr == f"kohort: no group in {sample} matches '^no-such'\n"


def test_a_list_without_a_match_is_an_empty_list(kohort: Kohort, sample: Path) -> None:
    answer = kohort("list", "--match", "^no-such", "--embedded", sample, "--output", "json")
    assert answer.status == 0
    assert answer.document["groups"] == []


@pytest.mark.parametrize("output", ["table", "json"])
def test_a_blocked_plan_is_an_answer(kohort: Kohort, sample: Path, output: str) -> None:
    answer = kohort("plan", "legacy-etl", "--to", "consumer", "--embedded", sample, "--output", output)
    assert answer.status == 1
    assert "blocked" in answer.stdout.lower()
    assert answer.stderr == ""
