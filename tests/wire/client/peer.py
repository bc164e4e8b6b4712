"""Peers that misbehave: real sockets on loopback that answer what a test tells them to."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Script = Callable[[socket.socket], None]


@contextmanager
def peer(script: Script) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_serve, args=(server, script))
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(server: socket.socket, script: Script) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection, suppress(OSError):
            connection.settimeout(60)
            script(connection)


@contextmanager
def black_hole() -> Iterator[str]:
    """Yield the address of a listener whose queue is full: connections to it are never answered."""
    with socket.socket() as server, socket.socket() as first:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        address = server.getsockname()
        first.setblocking(False)
        first.connect_ex(address)
        with socket.socket() as second:
            second.setblocking(False)
            second.connect_ex(address)
            yield f"127.0.0.1:{address[1]}"


@contextmanager
def closed_port() -> Iterator[str]:
    """Yield the address of a port that is taken but not listened on: connections are refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


def request(connection: socket.socket) -> tuple[int, int, int, bytes]:
    data = read_frame(connection)
    if data is None:
        raise ConnectionResetError
    key, version = int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big")
    return key, version, int.from_bytes(data[4:8], "big"), data


def answer(connection: socket.socket, correlation_id: int, body: bytes) -> None:
    message = correlation_id.to_bytes(4, "big") + body
    connection.sendall(len(message).to_bytes(4, "big") + message)


def read_frame(source: socket.socket) -> bytes | None:
    """The next request or answer, without its length; None at the end of the stream."""
    head = _exactly(source, 4)
    return None if head is None else _exactly(source, int.from_bytes(head, "big"))


def _exactly(source: socket.socket, size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        received = source.recv(size - len(data))
        if not received:
            return None
        data += received
    return data
