"""`kohort serve`: what it says, what it refuses, how it ends."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.command import Kohort


@contextmanager
def serving(*options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run it and give the process and its port."""
    command = [sys.executable, "-m", "tests.conformance.serve", "--listen", "127.0.0.1:0", *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Listening on 127.0.0.1:")
        yield process, int(line.rpartition(":")[2])
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stops_cleanly_with_clients_connected(number: signal.Signals) -> None:
    with serving("--topic", "orders:3") as (process, port), socket.create_connection(("127.0.0.1", port)):
        process.send_signal(number)
        output, errors = process.communicate(timeout=20)
    assert (process.returncode, output) == (0, "")
    assert errors.splitlines() == [
        "kohort: groups, offsets and topics are kept in memory only, and end with this process",
        "kohort: stopped",
    ]


NONSENSE = {
    "--listen 0.0.0.0:9092": "open to other machines",
    "--listen 9092": "no address to listen on",
    "--config group.max.size": "write NAME=VALUE",
    "--config group.max.sizes=3": "did you mean group.max.size?",
    "--config group.max.size=many": "whole number",
    "--topic orders:none": "whole number",
    "--topic 'no space'": "Topic name is invalid",
    "--topic a --topic a:2": "given twice",
}


@pytest.mark.parametrize(("options", "message"), NONSENSE.items())
def test_refuses_what_makes_no_sense(kohort: Kohort, options: str, message: str) -> None:
    kohort.quick(f"serve {options}").assert_refused(message)


def test_says_when_the_port_is_taken(kohort: Kohort) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = kohort.quick("serve --listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert answer.status == 3
    assert "cannot be listened on" in answer.stderr
