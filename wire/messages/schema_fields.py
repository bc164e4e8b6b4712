"""What kio's dataclasses say about the bytes of a message, read once per class.

kio holds every message of Kafka as a generated dataclass. Its own decoder is not used for bytes of a peer
(see docs/decisions/own-codec-over-kio-schemas.md): it aborts the process on a lying array length and
gives up a whole answer over one unknown error code or tagged field.
"""

from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from types import NoneType
from typing import Any, get_args, get_origin


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaField:
    """One field of a message.

    `kafka_type` is kio's name of a primitive ("int32", "string"…) or None for a nested message, whose class
    is `entity`. `tag` is the number of a tagged field, None for an ordinary one; `default` is what an absent
    tagged field means.
    """

    name: str
    kafka_type: str | None
    entity: type | None
    array: bool
    nullable: bool
    tag: int | None
    default: Any


def schema_fields(entity: type) -> tuple[SchemaField, ...]:
    """The fields of a kio message class in the order of the wire.

    :raises TypeError: when `entity` is not a kio message
    """
    return tuple(_schema_field(field) for field in fields(entity))


def _schema_field(field: Field[Any]) -> SchemaField:
    hint: Any = field.type
    nullable = NoneType in get_args(hint)
    if nullable:
        hint = next(argument for argument in get_args(hint) if argument is not NoneType)
    array = get_origin(hint) is tuple
    if array:
        hint = get_args(hint)[0]
    nested = isinstance(hint, type) and is_dataclass(hint)
    tag = field.metadata.get("tag")
    kafka_type = None if nested else field.metadata["kafka_type"]
    return SchemaField(
        name=field.name,
        kafka_type=kafka_type,
        entity=hint if nested else None,
        array=array,
        nullable=nullable,
        tag=tag,
        default=_absent(field, hint, kafka_type, array),
    )


def _absent(field: Field[Any], hint: Any, kafka_type: str | None, array: bool) -> Any:
    """What an absent tagged field means; where kio names no default it is the zero of the type (KIP-482)."""
    if field.default is not MISSING:
        return field.default
    if array:
        return ()
    if kafka_type is None:
        return hint(**{nested.name: nested.default for nested in schema_fields(hint)})
    return _ZEROS.get(kafka_type, 0)


_ZEROS: dict[str, Any] = {"string": "", "bytes": b"", "bool": False, "uuid": None}
