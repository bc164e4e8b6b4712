"""Members of a group that elects one of them and shares no partitions. Schema Registry (protocol type `sr`, also
Karapace) sends its identity and the election's outcome as JSON; of other types only the group's leader is known."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from groups.trees import Between

SCHEMA_REGISTRY = "sr"  # the protocol type of Schema Registry's groups


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionCandidate:
    """A member, by what it and the group's leader sent; None: not known."""

    url: str | None = None  # where it serves requests
    eligible: bool | None = None  # whether it may be elected (`leader.eligibility`)
    elected: str | None = None  # the id of the member that was elected; not necessarily the group's leader
    error: Annotated[int, Between(-65535, 65535)] | None = None  # 0: none; 1: two members have the same URL


def candidate(identity: bytes, assignment: bytes) -> ElectionCandidate:
    """A member of its identity and its assignment (SchemaRegistryProtocol); what is not its JSON is not known."""
    sent, received = _fields(identity), _fields(assignment)
    host, port = _text(sent.get("host")), _number(sent.get("port"))
    eligible = sent.get("master_eligibility")
    return ElectionCandidate(
        url=None
        if host is None or port is None
        else f"{_text(sent.get('scheme')) or 'http'}://{host}:{port}",
        eligible=eligible if isinstance(eligible, bool) else None,
        elected=_text(received.get("master")),
        error=_number(received.get("error")),
    )


def _text(value: object) -> str | None:
    """JSON can write halves of a character, which no terminal and no file takes."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else None


def _number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) < 1 << 16 else None


def _fields(data: bytes) -> Mapping[str, object]:
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
