"""A command line that makes no sense: exit status 2, a reason, and nothing on stdout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Answer, Kohort

USAGE = {
    "list -b a:1 --snapshot a.yaml": "--bootstrap-server and --snapshot name different sources",
    "list -b a:1 --snapshot a.yaml --embedded d": "give one",
    "list --snapshot a.yaml --command-config c": "--command-config is for a live cluster",
    "describe --embedded {sample}": "name groups, or give --match REGEX or --all-groups",
    "describe a --all-groups --embedded {sample}": "name groups, or give --match REGEX or --all-groups",
    "describe --match a --all-groups --embedded {sample}": "name groups, or give --match REGEX or --all-groups",
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
    "descibe": "there is no command 'descibe'; did you mean describe?",
    "list --groups": "no such option: --groups",
    "plan --to consumer --embedded {sample}": "name groups, or give --match",
    "plan billing": "missing option '--to'",
    "plan billing --to sideways": "'sideways' is not one of",
    "plan billing --to eager --concurrency 0": "--concurrency",
    "plan billing --to eager --bounce-seconds nan": "--bounce-seconds",
    "plan billing --to eager --bounce-seconds -1": "--bounce-seconds",
    "plan billing --to consumer --client jawa --embedded {sample}": "--client: unknown client library 'jawa'",
    "plan billing --to consumer --client java:new --embedded {sample}": "--client: 'new' is not a version",
    "plan billing --to consumer --client nobody=java --embedded {sample}": "--client names 'nobody', which",
    "validate-regex": "give a PATTERN, or --file FILE",
    "demo {sample}": "contains groups already; --force replaces them",
    "config set g consumer.session.timeout.ms -b 127.0.0.1:1": "is not NAME=VALUE",
    "config set g =1 -b 127.0.0.1:1": "is not NAME=VALUE",
    "config set g consumer.session.timeout.ms=1 consumer.session.timeout.ms=2 -b 127.0.0.1:1": "given twice",
    "config set g consumer.session.timeout.ms=1 --yes -b 127.0.0.1:1": "without --execute nothing is changed",
    "config set g consumer.session.timeout.ms=1 --execute -b 127.0.0.1:1": "here is no terminal; add --yes",
    "list --watch 1 --embedded {sample} --output html": "--watch prints table, json, csv or yaml",
    "list --watch 1 --embedded {sample} --output markdown": "--watch prints table, json, csv or yaml",
    "serve --listen 0.0.0.0:9092": "can be reached from other machines",
    "serve --listen 9092": "is not a listen address",
    "serve --config group.max.size": "write NAME=VALUE",
    "serve --config group.max.sizes=3": "did you mean group.max.size?",
    "serve --config group.max.size=many": "must be an integer",
    "serve --topic orders:none": "must be an integer",
    "serve --topic 'no space'": "Topic name is invalid",
    "serve --topic a --topic a:2": "given twice",
    "watch": "name the groups to watch",
    "watch g --until soon": "write stable, empty",
    "watch g --speed 2": "--speed and --svg are for recordings",
    "watch g --svg x.svg": "--speed and --svg are for recordings",
    "watch g --force": "--force",
    "watch g --log-dir . --as-of -1h": "the past does not change",
    "watch --replay x --force": "--force",
    "watch --replay x --record y": "copy its file",
    "watch --replay x -b h:1": "cannot be used with another source",
}  # fmt: skip
"""What is said of a command line; {sample} is the sample fleet."""


@pytest.mark.parametrize(("line", "reason"), USAGE.items())
def test_a_command_line_that_is_invalid(kohort: Kohort, sample: Path, line: str, reason: str) -> None:
    kohort.quick(line.replace("{sample}", str(sample))).assert_refused(reason)


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
