"""Tab in real shells: what is offered, what the shell makes of it, and what happens when no broker answers."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.cli.shells.terminal import SCRIPTS, Terminal
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics
from tests.support.long import IS_LONG

REQUIRE = "KOHORT_REQUIRE_SHELLS"
LIMIT, PATIENT = "KOHORT_COMPLETION_MS", "40000"
"""What is offered does not depend on how busy the machine is."""

BEGINNINGS = ("~home", "#comment", " leading and trailing ", "$(touch run)", "'\"\\ all at once $x")
"""Names that shells take for something else, from their first character on."""

ODD_NAMES = tuple(
    f"{letter}{rest}"
    for letter, rest in zip(
        "abcdefghijklmnopqrstuvwxyz",
        (
            " words", "t's", 'y "hi"', ":eu:billing", "cost$HOME", "`touch run`", "*?[ab]", "ïnïcødé-日本", "\\slash\\",
            ";amp&pipe|<in>out", "!bang!!", "=value", "@host", "(x)", "{a,b}", ",separated", "%cent^caret", "~x#y",
            " it's 'quoted' \"twice\"",
        ),
        strict=False,
    )
)  # fmt: skip
"""Others, no two of which begin with the same letter."""

SNAPSHOT = """
kohort: 1
topics: {orders: {partitions: 3}, payments: {partitions: 1}}
groups:
  billing:
    type: classic
    state: Stable
    protocol_type: consumer
    protocol: range
    members: [{id: m-1, client: {id: app-1, host: /10.0.0.1}}, {id: m-2, instance: seat-2}]
  nightly: {type: consumer, state: Empty, members: []}
"""


def _shell(request: pytest.FixtureRequest) -> str:
    shell: str = request.param
    if shutil.which(shell) is None:
        _missing(shell)
    return shell


def _missing(shell: str) -> NoReturn:
    reason = f"{shell} is not on this machine: `make shells` installs it"
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(f"{reason} ({REQUIRE}=1 makes that a failure)")


@pytest.fixture(scope="module", params=SCRIPTS)
def terminal(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with closing(Terminal(_shell(request), tmp_path_factory.mktemp("home"), {LIMIT: PATIENT})) as terminal:
        yield terminal


@pytest.fixture
def hurried(terminal: Terminal) -> Iterator[Terminal]:
    terminal.set_variable(LIMIT, None)
    yield terminal
    terminal.set_variable(LIMIT, PATIENT)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("snapshot") / "saved.yaml"
    file.write_text(SNAPSHOT)
    return file


def test_commands_options_and_choices(terminal: Terminal) -> None:
    terminal.offered("kohort ", "describe", "validate-regex", "offsets", "help")
    terminal.offered("kohort offsets ", "reset", "export", "import", "clone", "delete")
    terminal.offered("kohort offsets reset --to-", "--to-earliest", "--to-datetime", "--to-group")
    terminal.offered("kohort list --output ", "table", "json", "markdown")
    assert terminal.completed("kohort list --output=mark") == ["kohort", "list", "--output=markdown"]
    assert terminal.completed("kohort list --state Stable,E") == ["kohort", "list", "--state", "Stable,Empty"]
    assert terminal.completed("kohort descr") == ["kohort", "describe"]
    assert terminal.completed("kohort gate PLAN --step 1 --wait --acc")[-1] == "--accept-changes"


def test_flags_of_the_drop_in(terminal: Terminal) -> None:
    program = "kohort-consumer-groups"
    terminal.offered(f"{program} --to-", "--to-earliest", "--to-offset")
    assert terminal.completed(f"{program} --list --state Sta") == [program, "--list", "--state", "Stable"]
    assert terminal.completed(f"{program} --list --state --verb")[-1] == "--verbose"


def test_files_and_directories(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a plan.yaml").touch()
    (tmp_path / "data").mkdir()
    for line, expected in (
        (f"kohort gate {tmp_path}/a", f"{tmp_path}/a plan.yaml"),
        (f"kohort list --snapshot {tmp_path}/a", f"{tmp_path}/a plan.yaml"),
        (f"kohort list --embedded {tmp_path}/d", f"{tmp_path}/data/"),
        (f"kohort list --embedded={tmp_path}/d", f"--embedded={tmp_path}/data/"),
    ):
        assert terminal.completed(line)[-1].rstrip("/") == expected.rstrip("/")


def test_groups_topics_and_members(terminal: Terminal, snapshot: Path) -> None:
    source = f"--snapshot {snapshot}"
    shown = terminal.offered(f"kohort describe {source} ", "billing", "nightly")
    if terminal.shell != "bash":
        assert "Classic, Stable" in shown
        assert "Consumer, Empty" in shown
    for command in ("describe", "plan", "dry-run", "delete", "offsets reset", "config get"):
        assert terminal.completed(f"kohort {command} {source} b")[-1] == "billing"
    assert terminal.completed(f"kohort describe {source} billing ")[-1] == "nightly"
    assert terminal.completed(f"kohort offsets clone billing {source} ")[-1] == "nightly"
    assert terminal.completed(f"kohort offsets reset billing {source} --topic o")[-1] == "orders"
    assert terminal.completed(f"kohort dry-run billing {source} --remove s")[-1] == "seat-2"
    # What follows the sign is the user's: no space is put in between.
    assert terminal.completed(f"kohort dry-run billing {source} --rack s")[-1] == "seat-2="


def test_quotes_and_variables_in_the_options_before(terminal: Terminal, snapshot: Path) -> None:
    terminal.set_variable("SAVED", str(snapshot))
    for source in (
        "--snapshot $SAVED",
        '--snapshot "$SAVED"',
        f"--snapshot '{snapshot}'",
        "--snapshot=$SAVED",
    ):
        if source == "--snapshot=$SAVED" and terminal.shell != "bash":
            continue
        assert terminal.completed(f"kohort describe {source} b")[-1] == "billing"
    assert terminal.completed(f"kohort list --log-dir '$(touch {snapshot}.run)' --output js")[-1] == "json"
    terminal.clear()
    terminal.type(f"kohort describe --snapshot $(touch {snapshot}.run) \t")
    terminal.clear()
    assert not snapshot.with_name(f"{snapshot.name}.run").exists()


@pytest.fixture(scope="module")
def odd_names(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, str, str]]:
    """Files, the typed start of the only matching name, and the name."""
    directory = tmp_path_factory.mktemp("odd")
    together = directory / "together.yaml"
    cases = [(together, name[0], name) for name in ODD_NAMES]
    cases += [(directory / f"{position}.yaml", "", name) for position, name in enumerate(BEGINNINGS)]
    for file in {file for file, _, _ in cases}:
        groups = {name: {"type": "classic", "state": "Empty"} for where, _, name in cases if where == file}
        file.write_text(json.dumps({"kohort": 1, "groups": groups}))
    return cases


def test_odd_names_stay_as_they_are(terminal: Terminal, odd_names: list[tuple[Path, str, str]]) -> None:
    quotes = ("", "'", '"')
    shell = list(SCRIPTS).index(terminal.shell)
    for number, (file, begun, name) in enumerate(odd_names):
        if not IS_LONG and number % len(SCRIPTS) != shell:
            continue  # each name in one of the shells
        for quote in quotes if IS_LONG else quotes[number // len(SCRIPTS) % len(quotes) :][:1]:
            assert terminal.completed(f"kohort describe --snapshot {file} {quote}{begun}")[-1] == name


def test_names_like_options_and_with_control_characters(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    names = ["-x-group", "plain", "a\nb", "a\tb", "a\x1b[31mb"]
    file.write_text(json.dumps({"kohort": 1, "groups": {name: {"type": "classic"} for name in names}}))
    assert terminal.completed(f"kohort describe --snapshot {file} ")[-1] == "plain"
    assert terminal.completed(f"kohort describe --snapshot {file} -- -x")[-1] == "-x-group"


def test_names_of_a_broker(terminal: Terminal, broker: Broker) -> None:
    # No name is the beginning of another one's.
    topic, group = f"{fresh_name('orders')}-x", f"{fresh_name('tabbed')}-x group"
    create_topics(broker, {topic: 2})
    with closing(Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})) as consumer:
        consumer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
    start = group.split()[0]
    assert terminal.completed(f"kohort describe -b {broker.bootstrap} {start}")[-1] == group
    assert terminal.completed(f"kohort describe -b{broker.bootstrap} {start}")[-1] == group
    assert terminal.completed(f"kohort describe --bootstrap-server={broker.bootstrap} {start}")[-1] == group
    drop_in = f"kohort-consumer-groups --bootstrap-server {broker.bootstrap} --describe"
    assert terminal.completed(f"{drop_in} --group {start}")[-1] == group
    assert terminal.completed(f"{drop_in} --topic {topic[:-1]}")[-1] == topic


def test_a_broker_that_is_not_there(hurried: Terminal) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        hurried.unchanged(f"kohort describe -b 127.0.0.1:{unused.getsockname()[1]} a")
    hurried.unchanged("kohort describe -b nowhere.invalid:9092 a")


def test_zsh_finds_the_script_as_a_file() -> None:
    if shutil.which("zsh") is None:
        _missing("zsh")
    reported = subprocess.run(
        ["zsh", "-f", "-c", f"fpath=({SCRIPTS['zsh'].parent} $fpath); autoload -Uz compinit; compinit -u -D; "
         "print $_comps[kohort] $_comps[kohort-consumer-groups]; autoload +X _kohort && print loaded"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert (reported.stdout, reported.stderr) == ("_kohort _kohort\nloaded\n", "")
