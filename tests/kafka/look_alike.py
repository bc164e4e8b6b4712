"""A port that answers as something that only looks like a Kafka broker: it passes requests on to one, and changes
responses. What it leaves out is missing from its list of versions; a request for it ends the connection."""

from __future__ import annotations

import pkgutil
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import wire.messages.schemas
from tests.kafka.ports import HOST
from tests.kafka.relay import Relay
from tests.wire.client.peer import read_frame
from wire.errors import ErrorCode
from wire.messages.definition import HEAD, Api
from wire.messages.reader import DICTIONARIES, message_reader
from wire.messages.schemas.cluster import API_VERSIONS
from wire.messages.writer import message_writer

Change = Callable[[dict[str, Any]], None]  # changes an answer in place; its fields have Kafka's own names


def _apis() -> dict[int, Api]:
    modules = (
        import_module(f"{wire.messages.schemas.__name__}.{module.name}")
        for module in pkgutil.iter_modules(wire.messages.schemas.__path__)
    )
    return {one.key: one for module in modules for one in vars(module).values() if isinstance(one, Api)}


APIS: Mapping[int, Api] = _apis()  # those whose answers can be changed, by key: all that Kohort knows
_LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What differs from the broker: API keys that are not there, newest versions and changes of answers by key."""

    hidden: frozenset[int] = frozenset()
    newest: Mapping[int, int] = field(default_factory=dict)
    changes: Mapping[int, Change] = field(default_factory=dict)


class LookAlike(Relay):
    """Listens on `port`, and answers as a product with the broker at the port `to` in it. Use it in a `with` block."""

    def __init__(self, to: int, product: Product, *, port: int = 0) -> None:
        self.asked: set[int] = set()
        self._product = product
        super().__init__(to, port=port)
        self.bootstrap = f"{HOST}:{self.port}"

    def __enter__(self) -> LookAlike:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def _connect(self, client: socket.socket, broker: socket.socket) -> None:
        self._begin(self._converse, client, broker)

    def _converse(self, client: socket.socket, broker: socket.socket) -> None:
        """Requests one at a time, which keeps the answers in order."""
        with suppress(OSError), client, broker:
            while (request := read_frame(client)) is not None:
                key, version, correlation = HEAD.unpack_from(request)
                self.asked.add(key)
                if not self._is_there(key, version):
                    if key != API_VERSIONS.key:
                        return
                    version, request = 0, HEAD.pack(key, 0, correlation) + b"\xff\xff"
                    answer = self._answer(broker, request, version, error=ErrorCode.UNSUPPORTED_VERSION)
                else:
                    answer = self._answer(broker, request, version)
                if answer is None:
                    return
                client.sendall(len(answer).to_bytes(_LENGTH_BYTES, "big") + answer)

    def _is_there(self, key: int, version: int) -> bool:
        return key not in self._product.hidden and version <= self._product.newest.get(key, version)

    def _answer(
        self, broker: socket.socket, request: bytes, version: int, error: int | None = None
    ) -> bytes | None:
        broker.sendall(len(request).to_bytes(_LENGTH_BYTES, "big") + request)
        answer = read_frame(broker)
        api = APIS.get(int.from_bytes(request[:2], "big"))
        if answer is None or api is None:
            return answer
        start = 5 if api.response.is_flexible(version) and api is not API_VERSIONS else 4
        fields, _ = message_reader(api.response, version, DICTIONARIES)(answer, start)
        self._change(api, fields)
        if error is not None:
            fields["errorCode"] = error
        out = bytearray(answer[:start])
        message_writer(api.response, version, str)(out, fields)
        return bytes(out)

    def _change(self, api: Api, fields: dict[str, Any]) -> None:
        if api is API_VERSIONS:
            newest = self._product.newest
            fields["apiKeys"] = [
                {
                    **entry,
                    "maxVersion": min(entry["maxVersion"], newest.get(entry["apiKey"], entry["maxVersion"])),
                }
                for entry in fields["apiKeys"]
                if entry["apiKey"] not in self._product.hidden
            ]
        for address in (*fields.get("brokers", ()), *fields.get("coordinators", ()), fields):
            if address.get("port", -1) > 0:  # an address of the broker, which is not to be gone past
                address["port"] = self.port
        if api.key in self._product.changes:
            self._product.changes[api.key](fields)
