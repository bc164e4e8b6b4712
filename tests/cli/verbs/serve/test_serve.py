"""`kohort serve`: what it says, what it refuses, how it ends."""

from __future__ import annotations

import signal
import socket

import pytest

from tests.cli.command import Kohort
from tests.cli.served_data import serving
from tests.kafka.ports import HOST


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stops_cleanly_with_clients_connected(number: signal.Signals) -> None:
    with serving(None, "--topic", "orders:3") as served, socket.create_connection((HOST, served.port)):
        assert served.stop(number) == 0
    assert served.stderr.splitlines() == [
        "kohort: groups, offsets and topics are kept in memory only, and end with this process",
        "kohort: stopped",
    ]


def test_says_when_the_port_is_taken(kohort: Kohort) -> None:
    with socket.create_server((HOST, 0)) as taken:
        answer = kohort.quick("serve --listen", f"{HOST}:{taken.getsockname()[1]}")
    answer.assert_said(3, "cannot be listened on")
