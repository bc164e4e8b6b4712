"""A port that passes connections on to another, until they are cut: a network that fails, with the broker alive."""

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread

from tests.kafka.ports import HOST

BYTES = 65536


class Relay:
    def __init__(self, to: int | None = None, *, port: int = 0) -> None:
        self._to = to
        self._lock = Lock()
        self._listener = socket.create_server((HOST, port))
        self._open = [self._listener]
        self.port = int(self._listener.getsockname()[1])
        if to is not None:
            self._begin(self._accept)

    def cut(self) -> None:
        with self._lock:
            for connection in self._open:
                with suppress(OSError):  # it has ended already
                    connection.shutdown(socket.SHUT_RDWR)
                connection.close()

    def _accept(self) -> None:
        with suppress(OSError):  # cut
            while True:
                client, _ = self._listener.accept()
                broker = socket.create_connection((HOST, self._to))
                with self._lock:
                    self._open += [client, broker]
                self._connect(client, broker)

    def _connect(self, client: socket.socket, broker: socket.socket) -> None:
        self._begin(self._pass_on, client, broker)
        self._begin(self._pass_on, broker, client)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):  # cut, or the other side has ended
            while octets := source.recv(BYTES):
                target.sendall(octets)
            target.shutdown(socket.SHUT_WR)

    @staticmethod
    def _begin(target: Callable[..., None], *arguments: object) -> None:
        Thread(target=target, args=arguments, daemon=True).start()
