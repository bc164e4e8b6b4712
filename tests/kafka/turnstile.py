"""A port that passes requests on to a broker one by one, each counted and decided about: to stall, to die, to wait."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum, auto
from threading import Event, Lock, Thread

from tests.kafka.ports import HOST

BYTES = 65536
API_VERSIONS = 18


class Move(Enum):
    """What becomes of a request."""

    PASS = auto()
    STALL = auto()  # it and all that come later reach no broker; connections stay open
    MUTE = auto()  # it reaches the broker; answers are withheld from then on
    DIE = auto()  # it reaches no broker, all connections end, and new ones are refused
    DIE_AFTER = auto()  # the same, but the broker gets it and answers first


Decide = Callable[[int, int], Move]
"""What becomes of a client's request, by its number from 0 and its API key."""


class Turnstile:
    """Requests of clients whose id begins with `rig` are passed on and not counted, as are ApiVersions."""

    def __init__(self, port: int = 0) -> None:
        """Listen; `open` names the broker."""
        self._listener = socket.create_server((HOST, port))
        self.port = int(self._listener.getsockname()[1])
        self._to = 0
        self._lock = Lock()
        self._open: list[socket.socket] = []
        self._dead, self._muted = False, Event()
        self._decide: Decide = lambda _number, _key: Move.PASS
        self.keys: list[int] = []  # the API keys of the requests that were counted

    def open(self, to: int) -> None:
        self._to = to
        Thread(target=self._accept, daemon=True).start()

    def begin(self, decide: Decide) -> None:
        """Forget what was, and decide like this from now on."""
        self._end_all()
        self._dead, self.keys, self._decide = False, [], decide
        self._muted = Event()

    def close(self) -> None:
        self._end_all()
        self._listener.close()

    def _end_all(self) -> None:
        with self._lock:
            for connection in self._open:
                with suppress(OSError):  # it has ended already
                    connection.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                if self._dead:
                    client.close()
                    continue
                broker = socket.create_connection((HOST, self._to))
                for end in (client, broker):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._lock:
                    self._open += [client, broker]
                answered = Event()
                Thread(target=self._answer, args=(broker, client, answered, self._muted), daemon=True).start()
                Thread(target=self._ask, args=(client, broker, answered), daemon=True).start()

    def _ask(self, client: socket.socket, broker: socket.socket, answered: Event) -> None:
        with suppress(OSError), client, broker:
            for key, who, octets in _requests(client):
                move = Move.PASS
                if key != API_VERSIONS and not who.startswith(b"rig"):
                    with self._lock:
                        number = len(self.keys)
                        self.keys.append(key)
                    move = self._decide(number, key)
                if move in (Move.STALL, Move.MUTE):
                    self._muted.set()
                if move is Move.DIE:
                    self._die()
                    return
                if move is Move.STALL:
                    continue
                answered.clear()
                broker.sendall(octets)
                if move is Move.DIE_AFTER:
                    self._muted.set()
                    answered.wait(10)
                    self._die()
                    return

    def _die(self) -> None:
        self._dead = True
        self._end_all()

    def _answer(self, broker: socket.socket, client: socket.socket, answered: Event, muted: Event) -> None:
        with suppress(OSError):
            while octets := broker.recv(BYTES):
                if not muted.is_set():
                    client.sendall(octets)
                answered.set()
            client.shutdown(socket.SHUT_RDWR)


def _requests(client: socket.socket) -> Iterator[tuple[int, bytes, bytes]]:
    """The API key, the client id and all bytes of each request."""
    with client.makefile("rb") as stream:
        while len(head := stream.read(4)) == 4:
            body = stream.read(*struct.unpack(">i", head))
            key, _, _, length = struct.unpack_from(">hhih", body)
            yield key, body[10 : 10 + max(length, 0)], head + body
