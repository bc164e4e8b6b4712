"""Messages of versions that kio does not have, made of its classes of the version before; tests/wire/messages/
test_newest_requests.py compares their bytes with Kafka's own classes."""

from collections.abc import Mapping
from dataclasses import MISSING, field, fields, make_dataclass
from functools import cache
from importlib import import_module
from typing import Any, get_type_hints
from uuid import UUID

from kio.static.primitive import i16, i32

CLASS_VARIABLES = ("__type__", "__flexible__", "__api_key__", "__header_schema__")
NAME = "string"
BY_ID = {"name": None, "topic_id": (UUID | None, "uuid", MISSING)}
CHANGES: Mapping[tuple[str, int], Mapping[str, Mapping[str, Any]]] = {
    ("ApiVersions", 5): {
        "ApiVersionsRequest": {
            "cluster_id": (str | None, NAME, None),
            "node_id": (i32, "int32", i32(-1)),
        }
    },
    ("DeleteGroups", 3): {"DeletableGroupResult": {"error_message": (str | None, NAME, None)}},
    ("TxnOffsetCommit", 6): {
        "TxnOffsetCommitRequest": {
            "generation_id": None,
            "generation_id_or_member_epoch": (i32, "int32", i32(-1)),
        },
        "TxnOffsetCommitRequestTopic": BY_ID,
        "TxnOffsetCommitResponseTopic": BY_ID,
    },
}
"""By API and version, the changed fields of classes: type, Kafka's type and default, or None where it is gone."""


def newest_type(api: str, version: int, package: str, side: str) -> Any:
    """The class of a request or response in CHANGES."""
    module = import_module(f"kio.schema.{package}.v{version - 1}.{side}")
    return _later(getattr(module, api + side.capitalize()), api, version)


@cache
def _later(entity: Any, api: str, version: int) -> Any:
    hints = get_type_hints(entity)
    changed = CHANGES[api, version].get(entity.__name__, {})
    kept = [
        (one.name, _nested(hints[one.name], api, version), field(metadata=one.metadata, default=one.default))
        for one in fields(entity)
        if one.name not in changed
    ]
    added = [
        (name, change[0], field(metadata={"kafka_type": change[1]}, default=change[2]))
        for name, change in changed.items()
        if change is not None
    ]
    # As in Kafka's definitions, a new field is where the one is that it replaces.
    at = next((number for number, one in enumerate(fields(entity)) if changed.get(one.name, 0) is None), None)
    ordered = [*kept, *added] if at is None else [*kept[:at], *added, *kept[at:]]
    variables = {name: getattr(entity, name) for name in CLASS_VARIABLES}
    return make_dataclass(
        entity.__name__,
        ordered,
        namespace={**variables, "__version__": i16(version)},
        frozen=True,
        slots=True,
        kw_only=True,
    )


def _nested(hint: Any, api: str, version: int) -> Any:
    """A type, of an array of structures the later version."""
    arguments = getattr(hint, "__args__", ())
    if arguments and hasattr(arguments[0], "__api_key__"):
        return tuple[_later(arguments[0], api, version), ...]  # type: ignore[misc]
    return hint
