"""Completion without a shell: the scripts are the commands' own, and what a script asks is answered or not at all."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.dropin.flags import FLAGS
from cli.verbs.completion.asked import ASKING_LIMIT_S
from cli.verbs.completion.cache import FORGOTTEN_S, LIFETIME_S, Cache
from cli.verbs.completion.drop_in import HELP
from cli.verbs.completion.grammar import ANY, Command, Option
from cli.verbs.completion.names import typed_options
from cli.verbs.completion.question import SOURCE_OPTIONS, identity, parse_question
from cli.verbs.completion.scripts import SHELLS, script
from cli.verbs.completion.tree import first_sentence, programs
from tests.cli.command import Answer, Kohort, command_names
from tests.cli.shells.terminal import SCRIPTS

PROGRAMS = programs()
FREE_TEXT = {
    "--add", "--as-of", "--bootstrap-server", "--bounce-seconds", "--by-duration", "--columns",
    "--concurrency", "--conf", "--config", "--every", "--fail-rack", "--for", "--from", "--group",
    "--key-type", "--listen", "--master", "--match", "--property", "--regex", "--round", "--secret", "--secret-env",
    "--secret-file", "--shift-by", "--since", "--sort", "--speed", "--step", "--timeout", "--to", "--to-datetime",
    "--to-offset", "--topic", "--until", "--validate-regex", "--wait", "--watch",
}  # fmt: skip
"""Options whose values nobody can guess. Any other must say in cli/verbs/completion/kinds.py what it takes."""


def _commands() -> Iterator[Command]:
    for program in PROGRAMS:
        yield from program.walk()


def _options() -> Iterator[tuple[Command, Option]]:
    for command in _commands():
        for option in command.options:
            yield command, option


def test_every_shell_has_its_script() -> None:
    assert set(SCRIPTS) == set(SHELLS)


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_not_stale(shell: str) -> None:
    assert SCRIPTS[shell].read_text(encoding="utf-8") == script(shell, PROGRAMS), "run `make completions`"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_them(kohort: Kohort, shell: str) -> None:
    answer = kohort.quick("completion", shell)
    assert (answer.status, answer.stderr) == (0, "")
    assert answer.stdout == SCRIPTS[shell].read_text(encoding="utf-8")


def test_a_shell_that_is_not_known(kohort: Kohort) -> None:
    assert kohort.quick("completion", "tcsh").status == 2


def test_every_command_is_offered() -> None:
    leaves = {" ".join(command.words[1:]) for command in PROGRAMS[0].walk() if not command.commands}
    assert leaves == set(command_names())


def test_every_flag_of_the_drop_in_is_explained() -> None:
    assert HELP.keys() == FLAGS.keys()


def test_it_is_known_what_options_take() -> None:
    unknown = {option.name for _, option in _options() if option.values == ANY}
    assert unknown <= FREE_TEXT, (
        "say in cli/verbs/completion/kinds.py what they take, or that it is free text"
    )


def test_names_are_asked_for_only_where_there_is_a_source() -> None:
    for command in _commands():
        taken = [*command.arguments, *(option.values for option in command.options if option.values)]
        if any(values.way == "ask" and values.known != ("contexts",) for values in taken):
            assert any(option.name == "--bootstrap-server" for option in command.options), command.path


def test_what_fits_beside_a_name() -> None:
    assert first_sentence("One. Two.") == "One"
    assert first_sentence("One\ntwo:\n\nThree.") == "One two"
    assert len(first_sentence("word " * 40)) <= 68
    assert first_sentence("word " * 40).endswith("word…")


def test_every_option_of_a_source_is_handed_on() -> None:
    names = {option.name for command, option in _options() if command.path == "kohort list"}
    assert set(SOURCE_OPTIONS) <= names
    words = [word for option in SOURCE_OPTIONS for word in (option, f"value of {option}")]
    options = typed_options(parse_question(["groups", *words, "--"]), 1000)
    assert options.timeout_ms == 1000
    for field, option in (
        ("bootstrap_server", "--bootstrap-server"), ("command_config", "--command-config"),
        ("snapshot", "--snapshot"), ("embedded", "--embedded"), ("context", "--context"),
        ("as_of", "--as-of"), ("topics_file", "--topics"),
    ):  # fmt: skip
        assert str(getattr(options, field)) == f"value of {option}"
    assert list(map(str, options.log_dirs or ())) == ["value of --log-dir"]


def test_the_cache_is_private_and_short_lived(tmp_path: Path) -> None:
    cache, other = (Cache(name, {"XDG_CACHE_HOME": str(tmp_path)}) for name in ("one", "other"))
    assert cache.fresh() is None
    with cache.asking() as alone, cache.asking() as twice, other.asking() as beside:
        assert (alone, twice, beside) == (True, False, True)
        cache.store(b"a\tb\n")
    assert (cache.fresh(), other.fresh()) == (b"a\tb\n", None)
    directory = tmp_path / "kohort" / "completion"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    for file in directory.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        then = file.stat().st_mtime - LIFETIME_S - 1
        os.utime(file, (then, then))
    assert cache.fresh() is None
    for file in directory.iterdir():
        os.utime(file, (then - FORGOTTEN_S, then - FORGOTTEN_S))
    other.store(b"")
    assert len(list(directory.iterdir())) == 1


def test_without_a_cache_directory_there_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = Cache("one", {"XDG_CACHE_HOME": str(tmp_path / "file")})
    with cache.asking() as alone:
        assert alone
        cache.store(b"a\n")
    assert cache.fresh() is None


def test_other_sources_are_other_questions(tmp_path: Path) -> None:
    file = tmp_path / "saved.yaml"
    file.write_text("one")
    asked = parse_question(["groups", "--snapshot", str(file), "--", "typed"])
    home = {"HOME": str(tmp_path)}
    same = identity(asked, {**home, "TERM": "xterm"})
    assert identity(asked, {**home, "KOHORT_CONTEXT": "a"}) != same
    assert identity(asked, {**home, "TERM": "linux"}) == same
    assert identity(asked._replace(arguments=()), {**home, "TERM": "linux"}) == same
    assert identity(asked._replace(kind="topics"), home) != same
    members = asked._replace(kind="members")
    assert identity(members, home) != identity(members._replace(arguments=("other",)), home)
    file.write_text("changed")
    assert identity(asked, home) != same
    (tmp_path / ".config" / "kohort").mkdir(parents=True)
    changed = identity(asked, home)
    (tmp_path / ".config" / "kohort" / "config.yaml").write_text("current: a")
    assert identity(asked, home) != changed


def _ask(home: Path, *words: str, **variables: str) -> Answer:
    """What a script would be told."""
    done = subprocess.run(
        [Path(sys.executable).parent / "kohort", "_complete", *words], capture_output=True, text=True, timeout=60,
        env={"HOME": str(home), "KOHORT_COMPLETION_MS": "40000", "LC_ALL": "C.UTF-8", **variables}, check=False,
    )  # fmt: skip
    return Answer(status=done.returncode, stdout=done.stdout, stderr=done.stderr)


NOTHING = Answer(status=0, stdout="", stderr="")


def test_groups_that_are_typed_already_are_not_offered_again(sample: Path, tmp_path: Path) -> None:
    asked = ("groups", "--embedded", str(sample), "--")
    everything = _ask(tmp_path, *asked)
    assert everything.stdout.splitlines()[:2] == ["audit\tConsumer, Stable", "billing\tClassic, Stable"]
    typed = _ask(tmp_path, *asked, "billing", "audit")
    assert typed.stdout.splitlines() == everything.stdout.splitlines()[2:]


def test_contexts(tmp_path: Path) -> None:
    config = tmp_path / ".config" / "kohort" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(
        "kohort: 1\ncontexts:\n  staging: {bootstrap-server: 'a:9092'}\n  live: {snapshot: x.yaml}\n"
    )
    config.chmod(0o600)
    assert [line.split("\t")[0] for line in _ask(tmp_path, "contexts", "--").stdout.splitlines()] == [
        "live",
        "staging",
    ]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["groups"],
        ["no-such-kind", "--"],
        ["groups", "--no-such-option", "x", "--"],
        ["groups", "--snapshot", "--"],
        ["groups", "--snapshot", "nothing.yaml", "--"],
        ["groups", "--snapshot", "a", "--embedded", "b", "--"],
        ["groups", "--embedded", "nothing", "--"],
        ["groups", "--log-dir", "nothing", "--as-of", "never", "--"],
        ["groups", "--bootstrap-server", "not an address", "--"],
        ["groups", "--context", "nobody", "--"],
        ["groups", "--command-config", "nothing", "--"],
        ["settings", "--snapshot", "nothing", "--"],
        ["members", "--"],
    ],
    ids=" ".join,
)
def test_there_is_no_word_where_there_is_no_answer(words: list[str], tmp_path: Path) -> None:
    assert _ask(tmp_path, *words) == NOTHING


def test_a_broken_config_is_not_complained_about(tmp_path: Path) -> None:
    config = tmp_path / ".config" / "kohort" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("contexts: [")
    assert _ask(tmp_path, "contexts", "--") == NOTHING
    assert _ask(tmp_path, "groups", "--") == NOTHING


def test_nobody_waits_for_a_broker_that_says_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        answer = _ask(tmp_path, "groups", "--bootstrap-server", address, "--", KOHORT_COMPLETION_MS="250")
        assert answer == NOTHING
        # The one who asks was left behind: it has come, and still waits.
        silent.settimeout(ASKING_LIMIT_S)
        connection, _ = silent.accept()
        with connection:
            connection.settimeout(4 * ASKING_LIMIT_S)
            while connection.recv(4096):  # until it gives up
                pass


def test_warnings_of_a_config_are_no_words_either(tmp_path: Path) -> None:
    """A command with this context says first that a secret stands in the file, or what it did not understand."""
    config = tmp_path / ".config" / "kohort" / "config.yaml"
    config.parent.mkdir(parents=True)
    properties = (
        "{security.protocol: SASL_PLAINTEXT, sasl.mechanism: PLAIN, sasl.username: u, sasl.password: p}"
    )
    config.write_text(
        f"contexts: {{a: {{bootstrap_server: '127.0.0.1:1', properties: {properties}}}, b: {{snapshot: saved}}}}"
    )
    config.chmod(0o600)
    (config.parent / "saved").write_text("kohort: 1\ngroups: {g: {type: classic, later: 1}}\n")
    kohort = Kohort(tmp_path)
    assert "better keep them in files" in kohort("list", "--context", "a").stderr
    assert "later" in kohort("list", "--context", "b").stderr
    assert _ask(tmp_path, "groups", "--context", "a", "--") == NOTHING
    asked = _ask(tmp_path, "groups", "--context", "b", "--")
    assert (asked.stdout.partition("\t")[0], asked.stderr) == ("g", "")
