"""The installed command as a process: how it starts, and what becomes of its streams."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import Kohort, imported
from tests.cli.dropin.harness import PAIRS

PROGRAM = Path(sys.executable).with_name("kohort-consumer-groups")
TOO_MUCH = "a" * 100_000
"""More than a pipe holds."""


@pytest.mark.parametrize("program", PAIRS)
def test_it_is_installed(program: str, kohort: Kohort) -> None:
    done = kohort.in_shell("--version", f"kohort-{program}")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith("4.4.0 (kohort ")


def test_it_starts_without_what_it_does_not_need() -> None:
    heavy = ("typer", "click", "rich", "confluent_kafka", "yaml", "numpy", "re2")
    line = "['--list', '--bootstrap-server', '127.0.0.1:1']"
    loaded, answer = imported(
        heavy, f"from cli.dropin.main import run; sys.argv[1:] = {line}; run(sys.argv[1:])"
    )
    assert "connection refused" in answer.stdout
    assert (loaded, answer.stderr) == ([], "")


@pytest.mark.parametrize("reader", ["true", "head -c 10 >/dev/null"])
def test_a_reader_that_has_seen_enough(kohort: Kohort, reader: str) -> None:
    regexes = f"--validate-regex '{TOO_MUCH}'"
    done = kohort.in_shell(f"{regexes} | {reader}", PROGRAM.name)
    assert (done.stdout, done.stderr) == ("", "")


def test_standard_output_is_closed(kohort: Kohort) -> None:
    done = kohort.in_shell("--validate-regex a >&-", PROGRAM.name)
    assert (done.status, done.stderr) == (3, "Error: standard output is closed\n")


@pytest.mark.parametrize("line", ["--validate-regex a", f"--validate-regex '{TOO_MUCH}'"])
def test_the_disk_is_full(kohort: Kohort, line: str) -> None:
    done = kohort.in_shell(f"{line} >/dev/full", PROGRAM.name)
    reason = "standard output cannot be written: No space left on device"
    assert (done.status, done.stderr) == (3, f"Error: {reason}\n")


def test_standard_error_is_closed(kohort: Kohort) -> None:
    done = kohort.in_shell("--list 2>&-", PROGRAM.name)
    assert (done.status, done.stdout) == (1, "")


@pytest.mark.usefixtures("handled_interrupts")
def test_ctrl_c_ends_it_without_a_traceback(kohort: Kohort) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"127.0.0.1:{silent.getsockname()[1]}"
        with subprocess.Popen(
            [PROGRAM, "--bootstrap-server", server, "--list"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=kohort.env,
        ) as process:  # fmt: skip
            connection, _ = silent.accept()
            with connection:
                process.send_signal(signal.SIGINT)
                assert process.communicate(timeout=60) == ("", "")
            assert process.returncode == 130
