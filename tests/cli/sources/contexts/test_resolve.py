"""Which source a command takes: command line, environment, current context, default source, in this order."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from cli.errors import ExitStatus
from cli.options import SourceOptions
from cli.sources.contexts.resolve import resolve_source
from cli.verbs.plan.action import connection_of
from tests.cli.command import Kohort, imported, running
from tests.cli.contexts import Rig
from tests.cli.dropin.harness import run_here

SNAPSHOT = "kohort: 1\ngroups:\n  {name}: {{type: consumer, state: Empty}}\n"
NAMES = ("typed", "variable", "named", "current", "other")


@pytest.fixture
def rig(kohort: Kohort, tmp_path: Path) -> Rig:
    """Give a rig whose contexts name snapshots, each with a group called as its file."""
    rig = Rig(kohort=kohort, home=tmp_path)
    rig.file.parent.mkdir()
    for name in NAMES:
        (rig.file.parent / name).write_text(SNAPSHOT.format(name=name))
    lines = [f"  {name}: {{snapshot: {name}}}" for name in NAMES]
    rig.write("\n".join(["current: current", "contexts:", *lines, ""]))
    return rig


def listed(rig: Rig, *arguments: str, **env: str) -> list[str]:
    answer = rig("list", *arguments, "--output", "csv", **env).succeeded(stderr="")
    return [row["GROUP"] for row in answer.rows]


def test_the_order(rig: Rig) -> None:
    typed, variable = str(rig.file.parent / "typed"), str(rig.file.parent / "variable")
    assert listed(rig) == ["current"]
    assert listed(rig, KOHORT_SNAPSHOT=variable) == ["variable"]
    assert listed(rig, KOHORT_CONTEXT="named") == ["named"]
    for name, value in (("SNAPSHOT", variable), ("CONTEXT", "named"), ("BOOTSTRAP_SERVER", "k:1")):
        env = {f"KOHORT_{name}": value}
        assert listed(rig, "--snapshot", typed, **env) == ["typed"]
        assert listed(rig, "--context", "other", **env) == ["other"]
    # Variables that contradict each other do not matter to a command line that says it all.
    assert listed(rig, "--context", "other", KOHORT_SNAPSHOT=variable, KOHORT_CONTEXT="named") == ["other"]


def test_without_a_current_context_there_is_the_default_source(rig: Rig, kohort: Kohort) -> None:
    rig.write("contexts: {a: {snapshot: named}}")
    rig("list").assert_said(3, f"{kohort.data} contains no groups")
    assert listed(rig, "--context", "a") == ["named"]


def test_a_config_file_and_a_server_of_the_environment_must_agree(rig: Rig, tmp_path: Path) -> None:
    properties = tmp_path / "client.properties"
    properties.write_text("bootstrap.servers=127.0.0.1:1\n")
    answer = rig("list --command-config", properties, KOHORT_BOOTSTRAP_SERVER="127.0.0.1:2")
    answer.assert_said(2, "--command-config names 127.0.0.1:1 and KOHORT_BOOTSTRAP_SERVER names 127.0.0.1:2")
    for text in ("bootstrap.servers=127.0.0.1:1", "client.id=x"):
        properties.write_text(text)
        answer = rig("list --command-config", properties, KOHORT_BOOTSTRAP_SERVER="127.0.0.1:1")
        answer.assert_said(3, "127.0.0.1:1: connection refused")


def test_a_config_file_of_the_environment_goes_with_any_server(rig: Rig) -> None:
    for arguments, env in ((["-b", "127.0.0.1:1"], {}), ([], {"KOHORT_BOOTSTRAP_SERVER": "127.0.0.1:1"})):
        answer = rig("list", *arguments, KOHORT_COMMAND_CONFIG="/nowhere", **env)
        answer.assert_said(3, "/nowhere: the file does not exist")
    typed = str(rig.file.parent / "typed")
    assert listed(rig, "--snapshot", typed, KOHORT_COMMAND_CONFIG="/nowhere") == ["typed"]


def test_what_cannot_be_reached_is_named(rig: Rig) -> None:
    rig.write("current: a\ncontexts: {a: {bootstrap_server: 127.0.0.1:1, timeout_ms: 500}}")
    rig("list").assert_said(3, f"the source is the context a (the current one of {rig.file}): 127.0.0.1:1")


def test_how_to_print(rig: Rig) -> None:
    rig.write("current: a\ncontexts: {a: {snapshot: named, output: json}, b: {snapshot: named}}")
    assert rig("list").document["groups"][0]["group"] == "named"
    assert rig("list", "--output", "csv").rows[0]["GROUP"] == "named"
    assert rig("list", KOHORT_OUTPUT="csv").rows[0]["GROUP"] == "named"
    assert rig("list", "--context", "b").stdout.startswith("GROUP ")
    assert rig("list", "--context", "b", KOHORT_OUTPUT="json").document["command"] == "list"
    # Who arranges a table wants one.
    assert rig("list", "--columns", "GROUP", "--no-header").stdout == "named\n"


def test_how_long_to_wait(rig: Rig) -> None:
    rig.write("current: a\ncontexts: {a: {bootstrap_server: 127.0.0.1:1, timeout_ms: 1234}}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KOHORT_CONFIG", str(rig.file))
        assert resolve_source(SourceOptions()).timeout_ms == 1234
        assert resolve_source(SourceOptions(timeout_ms=7), timeout_is_typed=True).timeout_ms == 7
        assert resolve_source(SourceOptions(bootstrap_server="k:1")).timeout_ms == 30_000
        patch.setenv("KOHORT_TIMEOUT", "99ms")
        assert resolve_source(SourceOptions()).timeout_ms == 99
        assert resolve_source(SourceOptions(timeout_ms=7), timeout_is_typed=True).timeout_ms == 7


def test_a_watch_waits_as_long_as_chosen_and_else_less(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.write("contexts: {a: {bootstrap_server: 127.0.0.1:1, timeout_ms: 30000}, b: {snapshot: named}}")
    waited: list[int] = []

    def note(_: object, source: SourceOptions, __: object) -> ExitStatus:
        waited.append(source.timeout_ms)
        return ExitStatus.DONE

    monkeypatch.setattr("cli.verbs.watch.session.watch_live", note)
    for line in ("-b k:1 --timeout 30000", "--context a", "-b k:1", "--context b"):
        rig(f"watch g {line}").succeeded()
    rig("watch g -b k:1", KOHORT_TIMEOUT="30000").succeeded()
    assert waited == [30_000, 30_000, 5_000, 5_000, 30_000]


def test_a_plan_names_the_context_that_it_was_made_in(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.write(
        "current: a\ncontexts: {a: {bootstrap_server: k:1}, b@eu: {bootstrap_server: k:1, properties: {client.id: x}}, "
        "c: {command_config: f}, d: {snapshot: s}}"
    )
    monkeypatch.setenv("KOHORT_CONFIG", str(rig.file))
    names = (None, "b@eu", "c", "d")
    reported = [connection_of(resolve_source(SourceOptions(context=name))) for name in names]
    typed = ["--context a", "--context b@eu", "--context c", '-b "$BOOTSTRAP"']
    assert [connection.kohort for connection in reported] == typed
    assert [connection.kafka for connection in reported] == [
        "--bootstrap-server k:1",
        '--bootstrap-server k:1 --command-config "$COMMAND_CONFIG"',
        f'--bootstrap-server "$BOOTSTRAP" --command-config {rig.file.parent}/f',
        '--bootstrap-server "$BOOTSTRAP"',
    ]
    assert connection_of(resolve_source(SourceOptions(bootstrap_server="k:2"))).kohort == "-b k:2"


@pytest.mark.parametrize(
    "arguments", [["-b", "127.0.0.1:1", "--timeout", "300"], []], ids=["typed", "no-file"]
)
def test_no_yaml_is_read_without_need(rig: Rig, tmp_path: Path, arguments: list[str]) -> None:
    if arguments:
        rig.write("this is: no: configuration")
    else:
        rig.file.unlink()
    heavy = ("yaml", "cli.sources.contexts.read", "cli.sources.contexts.model")
    loaded, answer = imported(heavy, running("list", *arguments), rig.environment)
    assert (loaded, answer.status) == ([], 3)
    assert str(rig.file) not in answer.stderr


def test_the_tool_of_kafka_knows_no_contexts(rig: Rig) -> None:
    env = rig.environment | {"KOHORT_CONTEXT": "named", "KOHORT_COMMAND_CONFIG": "/nowhere"}
    with patch.dict(os.environ, env, clear=True):
        nowhere = run_here(["--list"])
        refused = run_here(["--bootstrap-server", "127.0.0.1:1", "--timeout", "300", "--list"])
    assert (nowhere.status != 0, "bootstrap-server" in nowhere.stderr) == (True, True)
    assert ("connection refused" in refused.stdout, "/nowhere" in refused.stderr + refused.stdout) == (
        True,
        False,
    )
