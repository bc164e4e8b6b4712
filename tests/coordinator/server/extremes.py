"""Well-formed messages without meaning: every field has the smallest or largest value of its range."""

import random
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from kio.schema.errors import ErrorCode

from tests.conformance.messages import SchemaField, build, schema_fields

LONGEST = "x" * 32_767
TEXTS = ("", " ", "a", "\0", "ü" * 16_383, LONGEST, "..", "(" * 300, "consumer", "neighbor")
SHORT_TEXTS = ("", "a", "\0", "ü" * 4_000)
BYTES = (b"", b"\xff", b"\0\x03\0\0\0\1\0\1t\xff\xff\xff\xff\x7f\xff\xff\xff", b"\xff" * 70_000)
IDS = (None, UUID(int=1), UUID(int=2**128 - 1))
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "timedelta_i32": 32, "timedelta_i64": 48}
ORDINARY = (0, 1, -1, -2, 2, 6000, 30_000)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOTHING_WAITED = frozenset({"max_wait"})
"""Times for which the server really waits: a request without records is answered after them."""


def extreme(entity: Any, chance: random.Random) -> Any:
    """A message of the kio class `entity`; every field has the smallest or largest value of its range."""
    return build(entity, {field.name: _value(field, chance) for field in schema_fields(entity)})


def _value(field: SchemaField, chance: random.Random) -> Any:
    if field.array:
        if field.nullable and chance.random() < 0.2:
            return None
        once = _element(field, chance)
        return [once] * chance.choice((0, 1, 1, 3)) + [
            _element(field, chance) for _ in range(chance.randrange(3))
        ]
    if field.nullable and chance.random() < 0.2:
        return None
    return _element(field, chance)


def _element(field: SchemaField, chance: random.Random) -> Any:
    if field.entity is not None:
        return extreme(field.entity, chance)
    kind = field.kafka_type or ""
    if field.name == "error_message":
        return chance.choice(SHORT_TEXTS)  # a longer one is cut
    if field.name in NOTHING_WAITED:
        return chance.choice((0, -1, -(2**31)))
    if kind in BITS:
        end = 1 << (BITS[kind] - 1)
        return chance.choice((-end, end - 1, *(one for one in ORDINARY if -end <= one < end)))
    return chance.choice(
        {
            "string": TEXTS,
            "bytes": BYTES,
            "records": BYTES,
            "uuid": IDS,
            "error_code": tuple(ErrorCode),
            "datetime_i64": (None,) if field.nullable else (EPOCH,),
        }.get(kind, (False, True))
    )
