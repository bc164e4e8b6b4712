"""A broker whose answers are changed in one place at a time, and what makes each change. It passes on the answers of
`kohort serve`, and remembers them: every run of a command asks the same cluster."""

import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tests.kafka.look_alike import APIS, LookAlike, Product
from wire.messages.definition import HEAD, Api
from wire.messages.layout import Array, Scalar, Struct
from wire.messages.reader import DICTIONARIES, UNKNOWN_TAGS, message_reader
from wire.messages.schemas.cluster import API_VERSIONS
from wire.messages.writer import message_writer

UNKNOWN_SERVER_ERROR, LATER_ERROR = -1, 999
LATER_NAMES = frozenset({"groupState", "groupType", "protocolType", "memberType"})
CORRELATION_BYTES = 4
Path = tuple[str | int, ...]


class Kind(Enum):
    """The ways in which an answer is changed."""

    CUT = "cut"
    """Ends too early: `value` is the part that is left."""
    LONGER = "longer"
    TAGGED = "tagged"
    """Has a tagged field that a later version adds."""
    ERROR = "error"
    SHORT = "short"
    """An array lacks its last element."""
    NULL = "null"
    LATER = "later"
    """A name that a later version adds: of a state, of a type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutilation:
    """One change of all answers of an API."""

    api: Api
    kind: Kind
    path: Path = ()
    value: Any = None

    def __str__(self) -> str:
        path = ".".join(map(str, self.path))
        return f"{self.api.name} {self.kind.value} {path} {'' if self.value is None else self.value}".strip()

    def of(self, version: int, body: bytes) -> bytes:
        """The changed answer, from its bytes after the correlation id."""
        if self.kind is Kind.CUT:
            return body[: int(len(body) * self.value)]
        if self.kind is Kind.LONGER:
            return body + b"\0"
        fields, start = read(self.api, version, body)
        at: Any = fields
        for step in self.path[:-1]:
            try:
                at = at[step]
            except (KeyError, IndexError, TypeError):
                return body
        if self.kind is Kind.TAGGED:
            fields[UNKNOWN_TAGS] = [(9999, b"later")]
        else:
            at[self.path[-1]] = at[self.path[-1]][:-1] if self.kind is Kind.SHORT else self.value
        out = bytearray(body[:start])
        message_writer(self.api.response, version, str)(out, fields)
        return bytes(out)


def read(api: Api, version: int, body: bytes) -> tuple[dict[str, Any], int]:
    start = 1 if api.response.is_flexible(version) and api is not API_VERSIONS else 0
    return message_reader(api.response, version, DICTIONARIES)(body, start)[0], start


class MutilatedBroker(LookAlike):
    """Passes on what the broker answers, except for one `mutilation`. Use it in a `with` block. librdkafka, which reads
    `__consumer_offsets` for some commands, gets whole answers: it crashes on some others."""

    def __init__(self, to: int) -> None:
        self.mutilation: Mutilation | None = None
        self.answers: dict[tuple[int, int], bytes] = {}
        """The last answer of each API in each version."""
        self._remembered: dict[bytes, bytes] = {}
        self._spared: set[int] = set()
        super().__init__(to, Product())

    def _answer(
        self, broker: socket.socket, request: bytes, version: int, error: int | None = None
    ) -> bytes | None:
        key, _, _ = HEAD.unpack_from(request)
        if key == API_VERSIONS.key and b"confluent" in request:
            self._spared.add(id(broker))
        elif key == API_VERSIONS.key:
            self._spared.discard(id(broker))
        if id(broker) in self._spared:
            return super()._answer(broker, request, version, error)
        question = request[:CORRELATION_BYTES] + request[HEAD.size :]
        if question not in self._remembered:
            answer = super()._answer(broker, request, version, error)
            if answer is None:
                return None
            self._remembered[question] = answer[CORRELATION_BYTES:]
        body = self._remembered[question]
        self.answers[key, version] = body
        if self.mutilation is not None and self.mutilation.api.key == key:
            body = self.mutilation.of(version, body)
        return request[CORRELATION_BYTES : HEAD.size] + body


def mutilations(answers: Mapping[tuple[int, int], bytes]) -> Iterator[Mutilation]:
    for (key, version), body in sorted(answers.items()):
        api = APIS[key]
        yield from (Mutilation(api=api, kind=Kind.CUT, value=part) for part in (0.0, 0.3, 0.6, 0.98))
        yield Mutilation(api=api, kind=Kind.LONGER)
        if api.response.is_flexible(version):
            yield Mutilation(api=api, kind=Kind.TAGGED)
        yield from _inside(api, version, api.response.struct, read(api, version, body)[0], ())


def _inside(api: Api, version: int, struct: Struct, fields: Any, path: Path) -> Iterator[Mutilation]:
    for field in (*struct.at(version), *struct.tagged(version)):
        value, at = fields[field.name], (*path, field.name)
        if field.name == "errorCode":
            for code in (UNKNOWN_SERVER_ERROR, LATER_ERROR):
                yield Mutilation(api=api, kind=Kind.ERROR, path=at, value=code)
        if field.name in LATER_NAMES and field.type is Scalar.STRING and value:
            yield Mutilation(api=api, kind=Kind.LATER, path=at, value="Later")
        if field.nullable(version) and value is not None:
            yield Mutilation(api=api, kind=Kind.NULL, path=at)
        if isinstance(field.type, Array) and value:
            yield Mutilation(api=api, kind=Kind.SHORT, path=at)
            if isinstance(field.type.of, Struct):
                for index in sorted({0, len(value) - 1}):
                    yield from _inside(api, version, field.type.of, value[index], (*at, index))
        elif isinstance(field.type, Struct) and value is not None:
            yield from _inside(api, version, field.type, value, at)


def shares(by_command: Mapping[str, Sequence[Mutilation]], times: int) -> dict[str, list[Mutilation]]:
    """Each change `times` times: with the commands, of those that meet it, that have the fewest so far."""
    commands: dict[str, list[str]] = {}
    by_name: dict[str, Mutilation] = {}
    for command, changes in by_command.items():
        for change in changes:
            commands.setdefault(str(change), []).append(command)
            by_name[str(change)] = change
    shared: dict[str, list[Mutilation]] = {command: [] for command in by_command}
    for name, meeting in commands.items():
        for command in sorted(meeting, key=lambda command: len(shared[command]))[:times]:
            shared[command].append(by_name[name])
    return shared
