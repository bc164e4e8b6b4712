"""What a script writes where a value stands: placeholders, and makers of bytes. `$name` is the value of that name,
`$name+1` a number relative to it, `${name}` a part of a text. A mapping with one key of `MAKERS` makes bytes or a long
text."""

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from tests.conformance.messages import encode

_WHOLE = re.compile(r"\$([A-Za-z][\w.]*)([+-]\d+)?")
_PIECE = re.compile(r"\$\{([A-Za-z][\w.]*)\}")


def resolve(value: Any, names: Mapping[str, Any]) -> Any:
    """`value` with every placeholder replaced. :raises KeyError: for an unknown name"""
    if isinstance(value, str):
        return _resolve_text(value, names)
    if isinstance(value, list | tuple):
        return [resolve(one, names) for one in value]
    if isinstance(value, Mapping):
        fields = {resolve(key, names): resolve(one, names) for key, one in value.items()}
        if len(fields) == 1:
            (key, content) = next(iter(fields.items()))
            if key in MAKERS:
                return MAKERS[key](content)
        return fields
    return value


def _resolve_text(text: str, names: Mapping[str, Any]) -> Any:
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        return _PIECE.sub(lambda match: str(names[match[1]]), text)
    value = names[whole[1]]
    return value + int(whole[2]) if whole[2] else value


def _subscription(value: Any) -> bytes:
    """The embedded protocol's subscription: `{topics, version = 1, owned, user_data, generation, rack}`."""
    fields = value if isinstance(value, dict) else {"topics": value}
    version = fields.get("version", 1)
    made: dict[str, Any] = {"topics": tuple(fields["topics"]), "user_data": fields.get("user_data")}
    schema = _schema("subscription", version)
    if version >= 1:
        made["owned_partitions"] = tuple(
            schema.TopicPartition(topic=topic, partitions=tuple(partitions))
            for topic, partitions in fields.get("owned", {}).items()
        )
    if version >= 2:
        made["generation_id"] = fields.get("generation", -1)
    if version >= 3:
        made["rack_id"] = fields.get("rack")
    return _versioned(version, schema.ConsumerProtocolSubscription(**made))


def _assignment(value: Any) -> bytes:
    """The embedded protocol's assignment: `{topic: partitions}`, with `version` (1) and `user_data`."""
    fields = dict(value)
    version = fields.pop("version", 1)
    user_data = fields.pop("user_data", None)
    schema = _schema("assignment", version)
    assigned = tuple(
        schema.TopicPartition(topic=topic, partitions=tuple(partitions))
        for topic, partitions in fields.items()
    )
    return _versioned(
        version, schema.ConsumerProtocolAssignment(assigned_partitions=assigned, user_data=user_data)
    )


def _schema(kind: str, version: int) -> Any:
    return import_module(f"kio.schema.consumer_protocol_{kind}.v{version}.data")


def _versioned(version: int, message: Any) -> bytes:
    return version.to_bytes(2, "big") + encode(message)


def _hex(value: Any) -> bytes:
    """Of hexadecimal digits; in a list, some of the parts many times."""
    parts = value if isinstance(value, list) else [value]
    return b"".join(
        part[0] * bytes.fromhex(part[1]) if isinstance(part, list) else bytes.fromhex(part) for part in parts
    )


class _Broken(str):
    """A text whose bytes are not UTF-8: they are `content`."""

    content: bytes

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return self.content


def _broken(value: Any) -> str:
    text, behind = value
    made = _Broken(text)
    made.content = text.encode() + bytes.fromhex(behind)
    return made


MAKERS: Mapping[str, Callable[[Any], Any]] = {
    "subscribed": _subscription,
    "assigned": _assignment,
    "hex": _hex,
    "times": lambda value: value[1] * value[0],
    "broken": _broken,
}
