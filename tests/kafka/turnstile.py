"""A port that passes requests on to a broker one by one, each counted and decided about: to stall, to die, to wait."""

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum, auto
from threading import Event

from tests.kafka.relay import BYTES, Relay

API_VERSIONS = 18
READING = frozenset({1, 2, 3, 9, 10, 15, 16, 18, 23, 32, 60, 69, 75, 77, 89, 90})
"""The keys of APIs that change nothing, from Fetch to DescribeShareGroupOffsets."""


class Move(Enum):
    """What becomes of a request."""

    PASS = auto()
    STALL = auto()  # it and all that come later reach no broker; connections stay open
    MUTE = auto()  # it reaches the broker; answers are withheld from then on
    DIE = auto()  # it reaches no broker, all connections end, and new ones are refused
    DIE_AFTER = auto()  # the same, but the broker gets it and answers first


Decide = Callable[[int, int], Move]
"""What becomes of a client's request, by its number from 0 and its API key."""


class Turnstile(Relay):
    """Requests of clients whose id begins with `rig` are passed on and not counted, as are ApiVersions."""

    def __init__(self) -> None:
        """Listen; `open` names the broker."""
        super().__init__()
        self._dead, self._muted = False, Event()
        self._decide: Decide = lambda _number, _key: Move.PASS
        self.keys: list[int] = []  # the API keys of the requests that were counted

    def open(self, to: int) -> None:
        self._to = to
        self._begin(self._accept)

    def begin(self, decide: Decide) -> None:
        """Forget what was, and decide like this from now on."""
        self._end_all()
        self._dead, self.keys, self._decide = False, [], decide
        self._muted = Event()

    def _end_all(self) -> None:
        with self._lock:
            for connection in self._open[1:]:
                with suppress(OSError):  # it has ended already
                    connection.shutdown(socket.SHUT_RDWR)
            del self._open[1:]

    def _connect(self, client: socket.socket, broker: socket.socket) -> None:
        for end in (client, broker):
            if self._dead:
                end.close()
            else:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self._dead:
            answered = Event()
            self._begin(self._answer, broker, client, answered, self._muted)
            self._begin(self._ask, client, broker, answered)

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
