"""A cluster that cannot be reached: named, in time, with exit status 3 and nothing on stdout."""

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.cli.command import Kohort
from tests.kafka.ports import HOST
from tests.kafka.wait import wait_until

TIMEOUT_MS = 1500
START_S = 8.0
"""Generous: the start of the command on a machine that does other things."""

COMMANDS = (
    *("list", "describe a", "describe --all-groups --members --output json"),
    *("plan a --to consumer", "snapshot", "validate-regex a"),
)


@pytest.fixture
def black_hole() -> Iterator[str]:
    """Give the address of a listener that takes connections and never answers."""
    with socket.create_server((HOST, 0), backlog=64) as listener:
        yield f"{HOST}:{listener.getsockname()[1]}"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_host_that_never_answers(kohort: Kohort, black_hole: str, command: str) -> None:
    began = time.monotonic()
    answer = kohort.quick(f"{command} --timeout {TIMEOUT_MS} -b", black_hole)
    answer.assert_refused(black_hole, status=3)
    took = time.monotonic() - began
    assert TIMEOUT_MS / 1000 <= took < TIMEOUT_MS / 1000 + START_S


@pytest.mark.usefixtures("handled_interrupts")
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_a_slow_connect(kohort: Kohort, times: int) -> None:
    with socket.create_server((HOST, 0)) as listener:
        address = f"{HOST}:{listener.getsockname()[1]}"
        process = subprocess.Popen(
            [kohort.executable, "list", "-b", address],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=kohort.env,
        )  # fmt: skip
        try:
            connection, _ = listener.accept()
            with closing(connection):
                # It has connected and sent its first request: now it waits.
                wait_until(lambda: connection.recv(1, socket.MSG_PEEK), "the first request")
                for _ in range(times):
                    process.send_signal(signal.SIGINT)
                stdout, stderr = process.communicate(timeout=10)
        finally:
            process.kill()
            process.communicate()
    assert process.returncode == 130
    assert stdout == ""
    assert "Traceback" not in stderr
