"""Mistakes on a cluster, and on what is not one. Logins are in tests/cli/sources/test_security_logins.py."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.cli.command import Kohort
from tests.cli.mistakes.table import Places, Table
from tests.cli.offset_rig import join
from tests.cli.served_data import serving
from tests.kafka.ports import HOST, free_ports

CLUSTER = Table("cluster")


class BadRequest(socketserver.BaseRequestHandler):
    """Answers a request that is not HTTP as web servers do."""

    def handle(self) -> None:
        self.request.recv(4096)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")


@contextmanager
def web_server() -> Iterator[str]:
    with socketserver.ThreadingTCPServer((HOST, 0), BadRequest) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
        yield f"{HOST}:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def cluster(places: Places, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    """Give a broker with the groups `live`, which has a member, and `idle`, and ports where there is none."""
    data = tmp_path_factory.mktemp("served")
    with (
        serving(data, "--topic", "orders:3") as served,
        web_server() as http,
        socket.create_server((HOST, 0), backlog=64) as silent,
    ):
        consumer = {"bootstrap.servers": served.bootstrap, "group.protocol": "classic"}
        idle = Consumer({**consumer, "group.id": "idle"})
        idle.commit(offsets=[TopicPartition("orders", 0, 4)], asynchronous=False)
        idle.close()
        member = Consumer({**consumer, "group.id": "live", "client.id": "live-1"})
        join(member, "orders")
        yield {
            **places,
            "broker": served.bootstrap,
            "port": str(served.port),
            "closed": f"{HOST}:{free_ports(1)[0]}",
            "http": http,
            "silent": f"{HOST}:{silent.getsockname()[1]}",
            "served": str(data),
            "member": member.memberid() or "",
        }
        member.close()


@pytest.mark.parametrize("case", CLUSTER.mistakes)
def test_on_a_cluster(kohort: Kohort, cluster: Places, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.chdir(Path(cluster["here"]))
    CLUSTER.check_command(kohort, case, cluster)
