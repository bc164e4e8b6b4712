"""Definitions of messages, each in one text: the name, the number and some options (`Heartbeat 12 0-4 flexible=4`: the
first flexible version, 0 by default, or `never`), then the layouts under their headings (`request`, `response`, ...).
The code for one version of a request is generated when that version is first read or written. The types of messages are
in the stubs of `schemas/`, which `python -m tests.wire.messages.message_types` writes: only annotations that are not
evaluated may name them."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from wire.messages.layout import Message, version_range
from wire.messages.reader import OBJECTS, DecodeError, message_reader
from wire.messages.writer import message_writer

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    RequestT = TypeVar("RequestT", default=Any, covariant=True)
    ResponseT = TypeVar("ResponseT", default=Any, covariant=True)
    RequestFields = TypeVar("RequestFields", default=Any)
    ResponseFields = TypeVar("ResponseFields", default=Any)
    Key = TypeVar("Key", default=Any)
    Value = TypeVar("Value", default=Any)
else:
    from typing import TypeVar

    RequestT, ResponseT = TypeVar("RequestT"), TypeVar("ResponseT")
    RequestFields, ResponseFields = TypeVar("RequestFields"), TypeVar("ResponseFields")
    Key, Value = TypeVar("Key"), TypeVar("Value")

API_VERSIONS_KEY = 18
HEAD = struct.Struct(">hhi")  # API key, version and correlation id: the same in every request header
_CORRELATION_ID = struct.Struct(">i")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Api(Generic[RequestT, ResponseT, RequestFields, ResponseFields]):
    """A kind of request, with both messages' types; `sent` versions by the client, `since` a Kafka release."""

    name: str
    key: int
    versions: tuple[int, int]
    request: Message[RequestT, RequestFields]
    response: Message[ResponseT, ResponseFields]
    sent: tuple[int, int]
    since: str

    def __repr__(self) -> str:
        return self.name

    def agree(self, minimum: int, maximum: int) -> int | None:
        """The newest version in common between the client and a broker that supports `minimum` to `maximum`."""
        oldest, newest = self.sent
        best = min(newest, maximum)
        return best if best >= max(oldest, minimum) else None

    def encode_request(
        self, version: int, correlation_id: int, client_id: str | None, fields: RequestFields
    ) -> bytes:
        """A request with its header. Raises ValueError: a value does not fit."""
        out = bytearray(HEAD.pack(self.key, version, correlation_id))
        # The client id has the old encoding in every header, so that a broker can read it before the version.
        message_writer(_CLIENT_ID, 0)(out, {"client_id": client_id})
        if self.request.is_flexible(version):
            out.append(0)
        message_writer(self.request, version)(out, fields)
        return bytes(out)

    def decode_request(self, version: int, frame: bytes) -> tuple[str, RequestT]:
        """The client id and the body of a request, from the beginning of its header. Raises DecodeError."""
        client_id, position = self.decode_client_id(version, frame)
        return client_id, message_reader(self.request, version, OBJECTS)(frame, position)[0]

    def decode_client_id(self, version: int, frame: bytes) -> tuple[str, int]:
        """The client id in the header of a request, and where the header ends. Raises DecodeError."""
        (client_id,), position = _read_client_id(frame, HEAD.size)
        if self.request.is_flexible(version):
            _, position = _read_tags(frame, position)
        return client_id or "", position

    def encode_response(self, version: int, correlation_id: int, fields: ResponseFields) -> bytes:
        out = bytearray(_CORRELATION_ID.pack(correlation_id))
        if self._has_tags_in_response_header(version):
            out.append(0)
        message_writer(self.response, version)(out, fields)
        return bytes(out)

    def decode_response(self, version: int, answer: bytes) -> ResponseT:
        """The body of a response, after the correlation id. Raises DecodeError: also if bytes are left over."""
        position = 0
        if self._has_tags_in_response_header(version):
            _, position = _read_tags(answer, 0)
        message: ResponseT
        message, end = message_reader(self.response, version, OBJECTS)(answer, position)
        if end != len(answer):
            raise DecodeError(f"it has {len(answer) - end} bytes too many")
        return message

    def _has_tags_in_response_header(self, version: int) -> bool:
        """Whether the header has tags. Not for ApiVersions: a client that is too new must be able to read it."""
        return self.key != API_VERSIONS_KEY and self.response.is_flexible(version)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordType(Generic[Key, Value]):
    """A type of record of `__consumer_offsets`: the number that its keys start with, which are never flexible, and its
    two messages. `written` is the version in which Kafka 4.4 writes values."""

    id: int
    name: str
    key: Message
    value: Message
    written: int = 0


def api(text: str) -> Api:
    """A kind of request: `Name key versions [flexible=…] [sent=versions] [since=release]`."""
    (name, key, served), options, layouts = _parts(text)
    flexible, versions = _flexible(options), version_range(served)
    return Api(
        name=name,
        key=int(key),
        versions=versions,
        request=Message(name=f"{name}Request", layout=layouts["request"], flexible_since=flexible),
        response=Message(name=f"{name}Response", layout=layouts["response"], flexible_since=flexible),
        sent=version_range(options["sent"]) if "sent" in options else versions,
        since=options.get("since", "0.11"),
    )


def record_type(text: str) -> RecordType:
    """A type of record: `Name number [newest=version] [flexible=…] [written=version]`."""
    (name, number), options, layouts = _parts(text)
    value = Message(
        name=f"{name}Value",
        layout=layouts["value"],
        newest=int(options.get("newest", 0)),
        flexible_since=_flexible(options),
    )
    key = Message(name=f"{name}Key", layout=layouts["key"], flexible_since=None)
    return RecordType(id=int(number), name=name, key=key, value=value, written=int(options.get("written", 0)))


def message(text: str) -> Message:
    """Any other message: `Name [newest=version] [flexible=…]`."""
    (name,), options, layouts = _parts(text)
    newest = int(options.get("newest", 0))
    return Message(name=name, layout=layouts["fields"], newest=newest, flexible_since=_flexible(options))


def _parts(text: str) -> tuple[list[str], dict[str, str], dict[str, str]]:
    first, *lines = text.strip("\n").splitlines()
    margin = len(first) - len(first.lstrip())
    layouts: dict[str, list[str]] = {}
    for line in lines:
        if not line.strip():
            continue
        if line[margin] != " ":
            layouts[line.strip()] = layout = []
        else:
            layout.append(line)
    words = first.split()
    options = dict(word.split("=", 1) for word in words if "=" in word)
    return (
        [word for word in words if "=" not in word],
        options,
        {heading: "\n".join(lines) for heading, lines in layouts.items()},
    )


def _flexible(options: Mapping[str, str]) -> int | None:
    since = options.get("flexible", "0")
    return None if since == "never" else int(since)


_CLIENT_ID = Message(name="RequestHeader", layout="clientId string null", flexible_since=None)
_TAGS = Message(name="Header", layout="")
_read_client_id = message_reader(_CLIENT_ID, 0, OBJECTS)
_read_tags = message_reader(_TAGS, 0, OBJECTS)
