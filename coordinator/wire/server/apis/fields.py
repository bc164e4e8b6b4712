"""What several APIs do with the fields of a request or a response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

NO_OPERATIONS = -(2**31)
"""Authorized operations where nobody asked for them."""
GROUP_OPERATIONS = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11
"""READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS and ALTER_CONFIGS: all there are on a group."""
ZERO_ID = UUID(int=0)


def milliseconds(value: timedelta) -> int:
    """kio's times as Kafka counts them."""
    return value // timedelta(milliseconds=1)


def group_operations(request: Any) -> int:
    """Whoever asks may do everything: there are no ACLs here."""
    return GROUP_OPERATIONS if request.include_authorized_operations else NO_OPERATIONS


def by_topic(entries: Iterable[tuple[Any, Mapping[str, Any]]]) -> list[tuple[Any, list[Mapping[str, Any]]]]:
    """(topic, partition's fields) gathered by topic, in the order in which topics first come."""
    found: dict[Any, list[Mapping[str, Any]]] = {}
    for topic, fields in entries:
        found.setdefault(topic, []).append(fields)
    return list(found.items())
