"""Random keys and values of every record type, from their schemas and a seed; and what may become of their bytes."""

import random
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias
from uuid import UUID

from wire.messages.layout import Array, Field, Message, Scalar, Struct, Type
from wire.messages.reader import DICTIONARIES, UNKNOWN_TAGS, absent_field
from wire.messages.record_codec import RECORD_TYPES, encode_key, encode_value
from wire.messages.schemas.classic_groups import ASSIGNMENT, SUBSCRIPTION
from wire.messages.writer import message_writer

Fields: TypeAlias = dict[str, Any]

TYPES_AND_VERSIONS = [
    (kind.id, version) for kind in RECORD_TYPES.values() for version in range(kind.value.newest + 1)
]
_BITS = {Scalar.INT8: 8, Scalar.INT16: 16, Scalar.INT32: 32, Scalar.INT64: 64}
_ALPHABET = 'ab.-_$ "\\\n\0\x1fé߿€\ufeff\ufffd😀'


def random_key(rng: random.Random, key_type: int) -> Fields:
    return _struct(rng, RECORD_TYPES[key_type].key.struct, 0, flexible=False, tags=False)


def random_value(rng: random.Random, key_type: int, version: int, *, tags: bool = False) -> Fields:
    message = RECORD_TYPES[key_type].value
    fields = _struct(rng, message.struct, version, message.is_flexible(version), tags)
    if key_type == 2 and rng.random() < 0.7:
        fields["protocolType"] = "consumer"
        for member in fields["members"]:
            member["subscription"] = _embedded(rng, SUBSCRIPTION)
            member["assignment"] = _embedded(rng, ASSIGNMENT)
    return fields


def random_record(
    rng: random.Random, key_type: int, version: int, *, tags: bool = False
) -> tuple[bytes, bytes]:
    key, value = random_key(rng, key_type), random_value(rng, key_type, version, tags=tags)
    return encode_key(key_type, key), encode_value(key_type, version, value)


def random_records(seed: int, count: int, *, tags: bool = False) -> Iterator[tuple[int, int, bytes, bytes]]:
    rng = random.Random(seed)
    for key_type, version in TYPES_AND_VERSIONS:
        for _ in range(count):
            yield key_type, version, *random_record(rng, key_type, version, tags=tags)


FEW = {"group": "ab", "groupId": "ab", "memberId": "mn", "topic": "t", "regularExpression": "r"}


def record_of_few(
    rng: random.Random, types: Sequence[int] = (1, *RECORD_TYPES), tombstones: float = 0.15
) -> tuple[bytes, bytes | None]:
    number = rng.choice(types)
    fields = {
        name: rng.choice(FEW[name]) if name in FEW else value
        for name, value in random_key(rng, number).items()
    }
    key = encode_key(number, fields)
    if rng.random() < tombstones:
        return key, None
    version = rng.randrange(RECORD_TYPES[number].value.newest + 1)
    return key, encode_value(number, version, random_value(rng, number, version, tags=True))


def damaged(rng: random.Random, data: bytes) -> bytes:
    """The bytes with something wrong: cut, grown, bits flipped, a length that lies, or nothing like them."""
    out = bytearray(data)
    at = rng.randrange(len(out)) if out else 0
    match rng.randrange(7):
        case 0:
            del out[at:]
        case 1:
            out += rng.randbytes(rng.randrange(1, 20))
        case 2:
            out[at : at + 1] = bytes([out[at] ^ 1 << rng.randrange(8)]) if out else b""
        case 3:
            out[at : at + 1] = rng.choice(
                (b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\xff\xff\xff\x07")
            )
        case 4:
            out[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x80\x80\x80\x08"))
        case 5:
            del out[at : at + rng.randrange(1, 9)]
        case _:
            out[2:] = rng.randbytes(rng.randrange(40))
    return bytes(out)


def _struct(rng: random.Random, of: Struct, version: int, flexible: bool, tags: bool) -> Fields:
    fields = {f.name: _field(rng, f, version, flexible, tags) for f in of.at(version)}
    if flexible:
        for field in of.tagged(version):
            usual = rng.random() < 0.5
            fields[field.name] = (
                absent_field(field, DICTIONARIES) if usual else _field(rng, field, version, flexible, tags)
            )
        if tags and rng.random() < 0.2:
            numbers = sorted(rng.sample((7, 8, 127, 128, 300, 70000), rng.randrange(1, 4)))
            fields[UNKNOWN_TAGS] = [(number, rng.randbytes(rng.randrange(200))) for number in numbers]
    return fields


def _field(rng: random.Random, field: Field, version: int, flexible: bool, tags: bool) -> Any:
    if field.nullable(version) and rng.random() < 0.3:
        return None
    return _value(rng, field.type, version, flexible, tags)


def _value(rng: random.Random, of: Type, version: int, flexible: bool, tags: bool) -> Any:
    match of:
        case Struct():
            return _struct(rng, of, version, flexible, tags)
        case Array():
            count = rng.choice((0, 1, 1, 2, 3, 40))
            if isinstance(of.of, Scalar):
                count *= rng.choice((1, 1, 5))
            else:
                count = min(count, 4)
            return [_value(rng, of.of, version, flexible, tags) for _ in range(count)]
        case Scalar.STRING:
            return _string(rng)
        case Scalar.BYTES:
            return rng.randbytes(rng.choice((0, 1, 20, 127, 128, 300)))
        case Scalar.UUID:
            return UUID(int=rng.choice((0, 1, rng.getrandbits(128), rng.getrandbits(128))))
        case Scalar.UINT16:
            return rng.choice((0, 65535, rng.getrandbits(16)))
    half = 1 << _BITS[of] - 1
    return rng.choice((0, 1, -1, half - 1, -half, rng.randrange(-half, half), rng.randrange(-100, 100)))


def _string(rng: random.Random) -> str:
    length = rng.choice((0, 1, 3, 8, 8, 8, 30, 130))
    if rng.random() < 0.003:
        return "x" * 32767
    return "".join(rng.choices(_ALPHABET, k=length))


def _embedded(rng: random.Random, message: Message) -> bytes:
    """Bytes as a client sends them; now and then of a strange version, or none at all."""
    version = rng.choice((-1, 0, 1, 2, 3, 3, 3, 4, 9))
    near = min(max(version, 0), message.newest)
    out = bytearray(version.to_bytes(2, "big", signed=True))
    message_writer(message, near, named=str)(
        out, _struct(rng, message.struct, near, flexible=False, tags=False)
    )
    return damaged(rng, bytes(out)) if rng.random() < 0.2 else bytes(out)
