"""Which source a command takes: command line, environment, current context, default source, in this order."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

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
    answer = rig("list", *arguments, "--output", "csv", **env)
    assert (answer.status, answer.stderr) == (0, "")
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
    answer = rig("list")
    assert answer.status == 3
    assert f"{kohort.data} contains no groups" in answer.stderr
    assert listed(rig, "--context", "a") == ["named"]


def test_a_file_of_another_name(rig: Rig, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(f"current: x\ncontexts: {{x: {{snapshot: {rig.file.parent}/other}}}}")
    assert listed(rig, KOHORT_CONFIG=str(other)) == ["other"]
    assert rig("list", KOHORT_CONFIG=os.devnull).status == 3


CONFLICTS = {
    "context-and-server": (["--context", "named", "-b", "k:1"], {}, "--context and --bootstrap-server name different"),
    "context-and-config": (["--context", "named", "--command-config", "f"], {}, "--context and --command-config name"),
    "context-and-snapshot": (["--context", "named", "--snapshot", "f"], {}, "--context and --snapshot name different"),
    "context-and-log": (["--context", "named", "--log-dir", "f"], {}, "--context and --log-dir name different"),
    "context-and-embedded": (["--context", "named", "--embedded", "f"], {}, "--context and --embedded name different"),
    "variables": (
        [], {"KOHORT_CONTEXT": "named", "KOHORT_BOOTSTRAP_SERVER": "k:1"},
        "KOHORT_CONTEXT and KOHORT_BOOTSTRAP_SERVER are both set, and name different sources",
    ),
    "variable-and-config": (
        [], {"KOHORT_CONTEXT": "named", "KOHORT_COMMAND_CONFIG": "f"},
        "KOHORT_CONTEXT and KOHORT_COMMAND_CONFIG are both set",
    ),
    "snapshot-and-config": (
        [], {"KOHORT_SNAPSHOT": "s", "KOHORT_COMMAND_CONFIG": "f"}, "KOHORT_COMMAND_CONFIG and KOHORT_SNAPSHOT",
    ),
    "snapshot-and-server": (
        [], {"KOHORT_SNAPSHOT": "s", "KOHORT_BOOTSTRAP_SERVER": "k:1"}, "KOHORT_BOOTSTRAP_SERVER and KOHORT_SNAPSHOT",
    ),
    "no-context": (["--context", "namd"], {}, "--context: there is no context 'namd' in "),
    "no-such-variable": ([], {"KOHORT_CONTEXT": "namd"}, "KOHORT_CONTEXT: there is no context 'namd' in "),
    "timeout": ([], {"KOHORT_TIMEOUT": "soon"}, "KOHORT_TIMEOUT: 'soon' is not a duration"),
    "timeout-huge": ([], {"KOHORT_TIMEOUT": "9" * 5000}, "KOHORT_TIMEOUT: "),
    "output": ([], {"KOHORT_OUTPUT": "xml"}, "KOHORT_OUTPUT: 'xml' is not one of table, json"),
    "as-of": (["--as-of", "-5m"], {}, "--as-of needs --log-dir"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "env", "reason"), CONFLICTS.values(), ids=CONFLICTS.keys())
def test_what_contradicts_itself(rig: Rig, arguments: list[str], env: dict[str, str], reason: str) -> None:
    answer = rig("list", *arguments, **env)
    assert (answer.status, answer.stdout) == (2, "")
    assert reason in answer.stderr


def test_a_config_file_and_a_server_of_the_environment_must_agree(rig: Rig, tmp_path: Path) -> None:
    properties = tmp_path / "client.properties"
    properties.write_text("bootstrap.servers=127.0.0.1:1\n")
    answer = rig("list", "--command-config", str(properties), KOHORT_BOOTSTRAP_SERVER="127.0.0.1:2")
    assert answer.status == 2
    assert "--command-config names 127.0.0.1:1 and KOHORT_BOOTSTRAP_SERVER names 127.0.0.1:2" in answer.stderr
    for file, server in (("bootstrap.servers=127.0.0.1:1", "127.0.0.1:1"), ("client.id=x", "127.0.0.1:1")):
        properties.write_text(file)
        answer = rig("list", "--command-config", str(properties), KOHORT_BOOTSTRAP_SERVER=server)
        assert answer.status == 3
        assert "127.0.0.1:1: connection refused" in answer.stderr


def test_a_config_file_of_the_environment_goes_with_any_server(rig: Rig) -> None:
    for arguments, env in ((["-b", "127.0.0.1:1"], {}), ([], {"KOHORT_BOOTSTRAP_SERVER": "127.0.0.1:1"})):
        answer = rig("list", *arguments, KOHORT_COMMAND_CONFIG="/nowhere", **env)
        assert answer.status == 3
        assert "/nowhere: the file does not exist" in answer.stderr
    typed = str(rig.file.parent / "typed")
    assert listed(rig, "--snapshot", typed, KOHORT_COMMAND_CONFIG="/nowhere") == ["typed"]


def test_what_cannot_be_reached_is_named(rig: Rig) -> None:
    rig.write("current: a\ncontexts: {a: {bootstrap_server: 127.0.0.1:1, timeout_ms: 500}}")
    answer = rig("list")
    assert answer.status == 3
    assert f"the source is the context a (the current one of {rig.file}): 127.0.0.1:1" in answer.stderr


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
    from cli.options import SourceOptions
    from cli.sources.contexts.resolve import resolve_source

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KOHORT_CONFIG", str(rig.file))
        assert resolve_source(SourceOptions()).timeout_ms == 1234
        assert resolve_source(SourceOptions(timeout_ms=7), timeout_is_typed=True).timeout_ms == 7
        assert resolve_source(SourceOptions(bootstrap_server="k:1")).timeout_ms == 30_000
        patch.setenv("KOHORT_TIMEOUT", "99ms")
        assert resolve_source(SourceOptions()).timeout_ms == 99
        assert resolve_source(SourceOptions(timeout_ms=7), timeout_is_typed=True).timeout_ms == 7


def test_a_look_of_a_watch_takes_as_long_as_chosen_and_else_less(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from cli.app import app
    from cli.errors import ExitStatus
    from cli.options import SourceOptions
    from cli.verbs.watch import session

    rig.write("contexts: {a: {bootstrap_server: 127.0.0.1:1, timeout_ms: 30000}, b: {snapshot: named}}")
    monkeypatch.setenv("KOHORT_CONFIG", str(rig.file))
    waited: list[int] = []

    def note(_: object, source: SourceOptions) -> ExitStatus:
        waited.append(source.timeout_ms)
        return ExitStatus.DONE

    monkeypatch.setattr(session, "watch_live", note)

    def watch(*arguments: str, **variables: str) -> None:
        answer = CliRunner().invoke(app, ["watch", "g", *arguments], env=variables)
        assert answer.exit_code == 0, answer.output

    watch("-b", "127.0.0.1:1", "--timeout", "30000")
    watch("-b", "127.0.0.1:1", KOHORT_TIMEOUT="30000")
    watch("--context", "a")
    watch("-b", "127.0.0.1:1")
    watch("--context", "b")
    assert waited == [30_000, 30_000, 30_000, 5_000, 5_000]


def test_a_plan_names_the_context_that_it_was_made_in(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    from cli.options import SourceOptions
    from cli.sources.contexts.resolve import resolve_source
    from cli.verbs.plan.action import connection_of

    rig.write(
        "current: a\ncontexts: {a: {bootstrap_server: k:1}, b@eu: {bootstrap_server: k:1, properties: {client.id: x}}, "
        "c: {command_config: f}, d: {snapshot: s}}"
    )
    monkeypatch.setenv("KOHORT_CONFIG", str(rig.file))
    reported = {
        name: connection_of(resolve_source(SourceOptions(context=name))) for name in (None, "b@eu", "c", "d")
    }
    typed = ["--context a", "--context b@eu", "--context c", '-b "$BOOTSTRAP"']
    assert [reported[name].kohort for name in reported] == typed
    assert [reported[name].kafka for name in reported] == [
        "--bootstrap-server k:1",
        '--bootstrap-server k:1 --command-config "$COMMAND_CONFIG"',
        f'--bootstrap-server "$BOOTSTRAP" --command-config {rig.file.parent}/f',
        '--bootstrap-server "$BOOTSTRAP"',
    ]
    assert connection_of(resolve_source(SourceOptions(bootstrap_server="k:2"))).kohort == "-b k:2"


def test_topics_in_a_file_need_no_source(rig: Rig, tmp_path: Path) -> None:
    topics = tmp_path / "topics"
    topics.write_text("orders\n")
    answer = rig("validate-regex", "ord.*", "--topics", topics, "--output", "csv")
    assert (answer.status, answer.rows[0]["TOPICS"]) == (0, "orders")
    answer = rig("validate-regex", "ord.*", "--topics", topics, "--context", "other")
    assert (answer.status, "--topics and a source both list topics" in answer.stderr) == (2, True)


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
    assert nowhere.status != 0
    assert "bootstrap-server" in nowhere.stderr
    assert "connection refused" in refused.stdout
    assert "/nowhere" not in refused.stderr + refused.stdout
