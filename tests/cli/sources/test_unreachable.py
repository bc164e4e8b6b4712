"""A cluster that cannot be reached: named, in time, with exit status 3 and nothing on stdout."""

import signal
import socket
import subprocess
from contextlib import closing

import pytest

from tests.cli.command import Kohort
from tests.kafka.ports import HOST
from tests.kafka.wait import wait_until


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
