"""Members of a group that elects one of them and shares no partitions. Schema Registry (protocol type `sr`, also
Karapace) sends its identity and the election's outcome as JSON; of other types only the group's leader is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from groups.trees import Between

SCHEMA_REGISTRY = "sr"  # the protocol type of Schema Registry's groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A member, by what it and the group's leader sent; None: not known."""

    url: str | None = None  # where it serves requests
    eligible: bool | None = None  # whether it may be elected (`leader.eligibility`)
    elected: str | None = None  # the id of the member that was elected; not necessarily the group's leader
    error: Annotated[int, Between(-32768, 32767)] | None = None  # 0: none; 1: two members have the same URL


def candidate(identity: bytes, assignment: bytes) -> Candidate:
    """A member of its identity and its assignment (SchemaRegistryProtocol); what is not its JSON is not known."""
    sent, received = _fields(identity), _fields(assignment)
    host, port, scheme = sent.get("host"), sent.get("port"), sent.get("scheme")
    eligible, elected, error = sent.get("master_eligibility"), received.get("master"), received.get("error")
    has_address = isinstance(host, str) and isinstance(port, int)
    return Candidate(
        url=f"{scheme if isinstance(scheme, str) else 'http'}://{host}:{port}" if has_address else None,
        eligible=eligible if isinstance(eligible, bool) else None,
        elected=elected if isinstance(elected, str) else None,
        error=error if isinstance(error, int) and abs(error) < 32768 else None,
    )


def _fields(data: bytes) -> Mapping[str, object]:
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
