"""Command lines that start a server, or say why not; only `kohort mcp` needs the packages of its extra."""

import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import Kohort, imported, running
from tests.cli.verbs.mcp.agents import installed
from tests.shipping.dist import PACKAGES, ROOT

MODULES = ("mcp", "mcp_types", "anyio", "uvicorn", "starlette", "pydantic", "jsonschema")
IMPORT = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(MODULES)})\b", re.MULTILINE)


def test_only_mcp_imports_the_packages_of_its_extra() -> None:
    files = [file.relative_to(ROOT) for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    importing = {file.parent for file in files if IMPORT.search((ROOT / file).read_text(encoding="utf-8"))}
    assert importing == {Path("cli/verbs/mcp")}


@pytest.mark.parametrize("line", ["mcp --help", "list --embedded {}"])
def test_other_commands_do_not_load_them(sample: Path, line: str) -> None:
    loaded, answer = imported(MODULES, running(*line.format(sample).split()))
    assert (loaded, answer.status) == ([], 0)


def test_without_the_extra_the_command_that_installs_it_is_named(
    kohort: Kohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wire.extras._is_found", lambda module: module not in MODULES)
    kohort.quick("mcp").assert_refused("packages that are not installed", "[mcp]")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("--allow delete", "need each other"),
        ("--groups x", "need each other"),
        ("--allow list --groups x", "--allow list: expected offsets-reset, "),
        ("--allow delete --groups (", "--groups"),
        ("--contexts a,b --embedded {}", "cannot be used together"),
        ("--contexts no-such", "no-such"),
        ("--http 0", "--http needs --token-file or --access: every user"),
        (
            "--http 0.0.0.0:0 --token-file {}/token",
            "--http 0.0.0.0:0: passwords and tokens would be sent in clear text, which needs TLS (--tls-certificate) "
            "and a login (--token-file or --access)",
        ),
        ("--http x:y:z --token-file {}/token", "x:y:z"),
        ("--http 0 --token-file {}/missing", "--token-file"),
        ("--token-file {}/token", "--token-file needs --http"),
        ("--time-limit 0", "--time-limit"),
    ],
)
def test_options_that_cannot_be_used(kohort: Kohort, tmp_path: Path, line: str, reason: str) -> None:
    (tmp_path / "token").write_text("t0ken")
    kohort.quick(f"mcp {line.format(tmp_path)}").assert_refused(reason)


def test_a_signal_ends_the_server_at_once(sample: Path) -> None:
    """Although its standard input stays open."""
    command = [str(installed()), "mcp", "--embedded", str(sample)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        assert b'"id":1' in server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(10) == 0
        assert server.stderr is not None
        assert server.stderr.read() == b""
