"""Client-side assignors in the records of consumer groups. KIP-848 ("Records") describes fields for them in the
records 5, 7 and 8; Kafka never shipped these. Here they are tagged fields with a tag that Kafka does not use, so
that a broker and its tools skip them, and a log without client-side assignors is byte by byte a broker's."""

from collections.abc import Mapping, Sequence
from typing import Any

from coordinator.engine.records import NO_PAYLOAD, ClientAssignor, ClientMetadata, Payload
from wire.messages.definition import message
from wire.messages.layout import Message
from wire.messages.reader import DICTIONARIES, UNKNOWN_TAGS, DecodeError, message_reader
from wire.messages.writer import message_writer

TAG = 848_000  # Kafka numbers the tagged fields of a message from 0

_ASSIGNORS = message("""
    ClientAssignors
    fields
        assignors {}[]
            name string
            minimum_version int16
            maximum_version int16
            reason int8
            version int16
            metadata bytes
""")

_PAYLOAD = message("""
    ClientAssignorPayload
    fields
        error int8
        metadata_version int16
        metadata_bytes bytes null
""")


def assignor_fields(assignors: Sequence[ClientAssignor]) -> dict[str, object]:
    """The additional field of a member's record; ValueError if a value is too large."""
    if not assignors:
        return {}
    own = ("name", "minimum_version", "maximum_version", "reason")
    fields = [
        {name: getattr(assignor, name) for name in own}
        | {"version": assignor.metadata.version, "metadata": assignor.metadata.data}
        for assignor in assignors
    ]
    return _written(_ASSIGNORS, {"assignors": fields})


def read_assignors(fields: Mapping[str, object]) -> tuple[ClientAssignor, ...]:
    """The client-side assignors of a member. Raises DecodeError."""
    tree = _read(_ASSIGNORS, fields)
    return tuple(
        ClientAssignor(
            name=assignor["name"],
            minimum_version=assignor["minimum_version"],
            maximum_version=assignor["maximum_version"],
            reason=assignor["reason"],
            metadata=ClientMetadata(version=assignor["version"], data=assignor["metadata"]),
        )
        for assignor in (() if tree is None else tree["assignors"])
    )


def payload_fields(payload: Payload) -> dict[str, object]:
    """The additional field of a target or current assignment record; ValueError if a value is too large."""
    if payload == NO_PAYLOAD:
        return {}
    said = payload.metadata
    fields = {
        "error": payload.error,
        "metadata_version": 0 if said is None else said.version,
        "metadata_bytes": None if said is None else said.data,
    }
    return _written(_PAYLOAD, fields)


def read_payload(fields: Mapping[str, Any]) -> Payload:
    """The metadata and error of a client-side assignor in a record. Raises DecodeError."""
    tree = _read(_PAYLOAD, fields)
    if tree is None:
        return NO_PAYLOAD
    data = tree["metadata_bytes"]
    said = None if data is None else ClientMetadata(version=tree["metadata_version"], data=data)
    return Payload(error=tree["error"], metadata=said)


def _written(kind: Message, fields: Mapping[str, Any]) -> dict[str, object]:
    out = bytearray()
    message_writer(kind, 0)(out, fields)
    return {UNKNOWN_TAGS: [(TAG, bytes(out))]}


def _read(kind: Message, fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
    content = next((content for tag, content in fields.get(UNKNOWN_TAGS, ()) if tag == TAG), None)
    if content is None:
        return None
    tree, end = message_reader(kind, 0, DICTIONARIES)(content, 0)
    if end != len(content):
        raise DecodeError(f"{kind.name} has {len(content) - end} bytes too many")
    read: Mapping[str, object] = tree
    return read
