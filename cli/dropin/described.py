"""Groups of consumers as the tool describes them: first as groups of the new protocol, then as classic ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypeAlias

from wire.client.answers import Failure
from wire.client.calls.consumer_group_describe import ConsumerGroup
from wire.client.calls.describe_groups import ClassicGroup
from wire.client.client import Client

Described: TypeAlias = ClassicGroup | ConsumerGroup | Failure

UNSUPPORTED_VERSION, GROUP_ID_NOT_FOUND = 35, 69
GROUP_AUTHORIZATION_FAILED = 30
CONSUMER_PROTOCOL_TYPES = ("", "consumer")
"""Of groups that have only ever committed offsets, and of consumers."""


def describe_each(client: Client, names: Collection[str], timeout_ms: int) -> dict[str, Described]:
    """Each group, or why it is not described: code 69 where no group of consumers has that id."""
    told = client.consumer_group_describe(names, timeout_ms=timeout_ms)
    each: dict[str, Described] = {**told.found, **told.failed}
    rest = [
        name for name, why in told.failed.items() if why.code in (GROUP_ID_NOT_FOUND, UNSUPPORTED_VERSION)
    ]
    if rest:
        classic = client.describe_groups(rest, timeout_ms=timeout_ms)
        # Of a group of neither type the first answer says more: "is not a consumer group", not "a classic group".
        each |= {
            name: why
            for name, why in classic.failed.items()
            if not why.code == told.failed[name].code == GROUP_ID_NOT_FOUND
        }
        each |= {name: _of_consumers(group) for name, group in classic.found.items()}
    return {
        name: naming_group(name, one) if isinstance(one := each[name], Failure) else one for name in names
    }


def naming_group(name: str, failure: Failure) -> Failure:
    """The failure, with the group in its message where the broker's words do not have it."""
    if failure.code != GROUP_AUTHORIZATION_FAILED:
        return failure
    return replace(failure, message=f"Not authorized to access group: {name}")


def _of_consumers(group: ClassicGroup) -> ClassicGroup | Failure:
    if group.protocol_type in CONSUMER_PROTOCOL_TYPES:
        return group
    said = f"GroupId {group.group_id} is not a consumer group ({group.protocol_type})."
    return Failure(message=f"java.lang.IllegalArgumentException: {said}")
