"""Completion without a shell: the scripts are the command's own, and a line is answered or not at all."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.app import app
from cli.dropin.parse import FLAGS
from cli.options import SourceOptions
from cli.verbs.completion.answer import HELP, command_of, complete, first_sentence, split_line
from cli.verbs.completion.command import Shell
from cli.verbs.completion.values import ANY, typed_options, values_of
from tests.cli.command import Answer, Kohort, command_names
from tests.cli.journal.entries import entry_of, write_journal
from tests.cli.shells.terminal import SCRIPTS

SHELLS = [shell.value for shell in Shell]
FREE_TEXT = {
    "--add", "--advertise", "--as-of", "--at", "--at-once", "--back", "--bootstrap-server", "--bounce-seconds",
    "--brokers", "--by-duration", "--catch-up", "--chance", "--client", "--cluster", "--cluster-id",
    "--columns", "--commit-interval", "--concurrency", "--conf", "--config", "--every", "--expires-within",
    "--fail-rack", "--for", "--from", "--gate-timeout", "--group", "--groups", "--hot", "--http", "--instance",
    "--interval", "--jobs", "--keep", "--key-type", "--limit", "--listen", "--loading", "--master", "--match",
    "--match-topic", "--max-series", "--max-size", "--max-stopped", "--metrics", "--offset", "--on-finding",
    "--pause", "--per-hour", "--property", "--reason", "--rebalance-time", "--records", "--regex", "--restart",
    "--restart-timeout", "--return-timeout", "--round", "--search", "--secret", "--secret-env", "--secret-file",
    "--seed", "--seeds", "--session-timeout", "--shift-by", "--since", "--skew", "--sort", "--speed", "--step",
    "--stop-at", "--storm", "--time-limit", "--timeout", "--times", "--to", "--to-bootstrap-server",
    "--to-datetime", "--to-offset", "--tolerance", "--topic", "--topic-prefix", "--transaction-time", "--until",
    "--unused-for", "--user", "--validate-regex", "--wait", "--wait-empty", "--watch", "--webhook", "--window",
    "--label", "--otlp", "--owner-limit",
}  # fmt: skip
"""Options with arbitrary values. Any other must have its values in cli/verbs/completion/values.py."""


def _commands() -> Iterator[Any]:
    from typer import Context

    pending = [
        Context(command_of(app, name), info_name=name) for name in ("kohort", "kohort-consumer-groups")
    ]
    while pending:
        context = pending.pop()
        yield context
        commands = getattr(context.command, "commands", {})
        pending += [Context(commands[name], info_name=name, parent=context) for name in commands]


def _words(line: str) -> list[str]:
    *words, current = line.split(" ")
    prefix, (_, items) = complete(app, words, current)
    return [prefix + item.value for item in items]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_what_is_in_the_folder(kohort: Kohort, shell: str) -> None:
    assert set(SCRIPTS) == set(SHELLS)
    answer = kohort.quick("completion", shell).succeeded(stderr="")
    assert answer.stdout == SCRIPTS[shell].read_text(encoding="utf-8"), "run `make completions`"


def test_every_command_is_offered() -> None:
    offered = _words("kohort ")
    for family in {name.split()[0] for name in command_names() if " " in name}:
        offered.remove(family)
        offered += [f"{family} {second}" for second in _words(f"kohort {family} ")]
    assert sorted(offered) == command_names()
    assert _words("kohort no-such-command ") == _words("kohort offsets no-such-command ") == []


def test_scenarios_that_ship_and_files_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scale.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert {"scale.yaml", "scale-out", "crash"} <= set(_words("kohort simulate "))


def test_every_flag_of_the_drop_in_is_offered_and_explained() -> None:
    assert HELP.keys() == FLAGS.keys()
    assert _words("kohort-consumer-groups --") == [f"--{flag}" for flag in FLAGS]


def test_it_is_known_what_options_take() -> None:
    unknown = {
        max(option.opts, key=len)
        for context in _commands()
        for option in context.command.params
        if option.param_type_name == "option" and not option.is_flag and values_of(context, option) == ANY
    }
    assert unknown <= FREE_TEXT, (
        "say in cli/verbs/completion/values.py what they take, or that it is free text"
    )


def test_names_are_asked_for_where_there_is_a_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    asked = 0
    for context in _commands():
        for parameter in context.command.params:
            values = values_of(context, parameter) or ANY
            if values.of_source:
                asked += 1
                assert any("--bootstrap-server" in param.opts for param in context.command.params)
            else:
                assert len(list(values.names(context))) != 1 or parameter.name == "scenario"
    assert asked > 20
    assert typed_options({"log_dirs": ["a"], "topics_file": "b", "context": "c"}, 1000) == SourceOptions(
        log_dirs=[Path("a")], topics_file=Path("b"), context="c", timeout_ms=1000
    )


def test_a_description_is_cut_to_its_space() -> None:
    assert first_sentence("One. Two.") == "One"
    assert first_sentence("One\ntwo:\n\nThree.") == "One two"
    assert len(first_sentence("word " * 40)) <= 68
    assert first_sentence("word " * 40).endswith("word…")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", [""]), ("a  b", ["a", "b"]), ("a ", ["a", ""]), ("a 'b c", ["a", "b c"]),
        ("a 'b c' ", ["a", "b c", ""]), ('a "b\\" \\c', ["a", 'b" \\c']), ("a b\\ c", ["a", "b c"]),
        ("$X ${X}y \"$X\" '$X' $(touch x)", ["1 2", "1 2y", "1 2", "$X", "$(touch", "x)"]),
        ("~/a ~b a~ '~/a'", ["/home/u/a", "~b", "a~", "~/a"]), ("a '' b", ["a", "", "b"]),
    ],
)  # fmt: skip
def test_a_line_is_split_as_a_shell_does(line: str, words: list[str]) -> None:
    assert [word.text for word in split_line(line, {"X": "1 2", "HOME": "/home/u"}, "")] == words


@pytest.mark.parametrize(
    ("typed", "word", "rest"),
    [
        ("a", "a b", "a\\ b"), ("'a", "a'b c", "a'\\''b c"), ('"a', 'a"b$c!', 'a\\"b\\$c"\\!""'),
        ("d:eu:b", "d:eu:billing", "billing"), ("m@h", "m@host", "@host"),
        ("--output=m", "--output=markdown", "markdown"), ("S,", "S,~x", "S,\\~x"),
    ],
)  # fmt: skip
def test_bash_is_given_the_rest_of_a_word_quoted(typed: str, word: str, rest: str) -> None:
    assert split_line(typed, {}, " \t\n\"'@><=;|&(:")[-1].rest_for_bash(word) == rest


def _ask(home: Path, line: str, limit_ms: int = 40_000) -> Answer:
    done = subprocess.run(
        [Path(sys.executable).parent / "kohort", f"kohort {line}"], capture_output=True, text=True, timeout=60,
        env={"HOME": str(home), "_KOHORT_COMPLETE": "zsh", "KOHORT_COMPLETION_MS": str(limit_ms), "LC_ALL": "C.UTF-8"},
        check=False,
    )  # fmt: skip
    return Answer(status=done.returncode, stdout=done.stdout, stderr=done.stderr)


NOTHING = Answer(status=0, stdout="", stderr="")


def _write_config(home: Path, text: str) -> Path:
    config = home / ".config" / "kohort" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(text)
    config.chmod(0o600)
    return config


def test_contexts(tmp_path: Path) -> None:
    _write_config(tmp_path, "contexts: {staging: {bootstrap_server: 'a:9092'}, live: {snapshot: x.yaml}}\n")
    for line in ("context use ", "list --context "):
        lines = _ask(tmp_path, line).stdout.splitlines()
        assert [text.split("\t")[0] for text in lines] == ["words", "live", "staging"]


def test_entries_of_the_journal(tmp_path: Path) -> None:
    write_journal(tmp_path, entry_of(1), entry_of(2, at="2026-11-30T00:00:00Z"), b"cut o")
    for line in (f"undo --journal {tmp_path} ", f"journal --journal {tmp_path} "):
        lines = _ask(tmp_path, line).stdout.splitlines()
        assert [text.split("\t")[0] for text in lines] == ["words", "00000001", "00000002"]


@pytest.mark.parametrize(
    "line",
    [
        "describe --snapshot nothing.yaml ", "describe --snapshot a --embedded b ",
        "describe --log-dir nothing --as-of never ", "describe --bootstrap-server 'not an address' ",
        "describe --context missing ", "dry-run --rack ",
    ],
)  # fmt: skip
def test_there_is_no_word_where_there_is_no_answer(line: str, tmp_path: Path) -> None:
    assert _ask(tmp_path, line) == NOTHING


def test_a_broken_config_is_not_complained_about(tmp_path: Path) -> None:
    _write_config(tmp_path, "contexts: [")
    assert _ask(tmp_path, "context use ") == NOTHING
    assert _ask(tmp_path, "describe ") == NOTHING


def test_completion_does_not_wait_for_a_silent_broker(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert _ask(tmp_path, f"describe --bootstrap-server {address} ", limit_ms=250) == NOTHING


def test_warnings_of_a_config_are_no_words_either(tmp_path: Path) -> None:
    properties = (
        "{security.protocol: SASL_PLAINTEXT, sasl.mechanism: PLAIN, sasl.username: u, sasl.password: p}"
    )
    live = f"{{bootstrap_server: '127.0.0.1:1', properties: {properties}}}"
    config = _write_config(tmp_path, f"contexts: {{a: {live}, b: {{snapshot: saved}}}}")
    (config.parent / "saved").write_text("kohort: 1\ngroups: {g: {type: classic, later: 1}}\n")
    kohort = Kohort(tmp_path)
    assert "keep them in files" in kohort("list --context a").stderr
    assert "later" in kohort("list --context b").stderr
    assert _ask(tmp_path, "describe --context a ") == NOTHING
    asked = _ask(tmp_path, "describe --context b ")
    assert ([line.partition("\t")[0] for line in asked.stdout.splitlines()], asked.stderr) == (
        ["words", "g"],
        "",
    )
