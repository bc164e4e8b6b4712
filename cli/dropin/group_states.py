"""Whether groups are active, asked of all of them at once."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator.wire.answers import Failure
from coordinator.wire.client import Client

_ASK_AS_CLASSIC = (35, 69)
"""UNSUPPORTED_VERSION, GROUP_ID_NOT_FOUND: of ConsumerGroupDescribe, which knows groups of the new protocol only."""
_GROUP_ID_NOT_FOUND = 69
_CONSUMERS = ("", "consumer")
"""Protocol types of groups that have only ever committed offsets, and of consumers."""


def group_states(client: Client, names: Iterable[str], timeout_ms: int) -> dict[str, str | Failure | None]:
    """By group its state as the broker writes it, None where no group of consumers has the id, or why it is unknown."""
    told = client.consumer_group_describe(list(dict.fromkeys(names)), timeout_ms=timeout_ms)
    states: dict[str, str | Failure | None] = {name: group.state for name, group in told.found.items()}
    states |= told.failed
    rest = [name for name, why in told.failed.items() if why.code in _ASK_AS_CLASSIC]
    if rest:
        classic = client.describe_groups(rest, timeout_ms=timeout_ms)
        for name, why in classic.failed.items():
            states[name] = None if why.code == _GROUP_ID_NOT_FOUND else why
        for name, group in classic.found.items():
            states[name] = (
                group.state if group.protocol_type in _CONSUMERS else _other(group.protocol_type, name)
            )
    return states


def _other(protocol_type: str, name: str) -> Failure:
    message = f"java.lang.IllegalArgumentException: GroupId {name} is not a consumer group ({protocol_type})."
    return Failure(message=message)
