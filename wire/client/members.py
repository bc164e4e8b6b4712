"""The removal of members from their groups, as an administrator or as the members themselves do.

LeaveGroup removes members of classic and consumer groups of either protocol. Members of share and streams groups leave
by a heartbeat with epoch -1, which anyone who knows their ids can send: those groups refuse LeaveGroup with
UNKNOWN_MEMBER_ID (Kafka 4.3.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from wire.client.connection import Connection
from wire.client.steps import Deadline, Steps
from wire.errors import Failure, outcome, refusal
from wire.messages.definition import Api
from wire.messages.schemas.classic_groups import LEAVE_GROUP

MOST_OF_REASON = 255
"""The longest reason in characters, as in Java's clients (JoinGroupRequest.maybeTruncateReason)."""
_FIRST_WITH_SEVERAL = 3
_LEAVING = -1
"""The member epoch of a member that leaves for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingMember:
    """A member to remove; with an instance id it is removed only while it has that instance id."""

    member_id: str
    instance_id: str | None = None


Departures: TypeAlias = dict[str, Failure | None]
"""The outcome by member id: None for a member that has left."""


def leave_group(
    members: Mapping[str, Sequence[LeavingMember]],
    reason: str,
    connection: Connection,
    groups: Sequence[str],
    deadline: Deadline,
) -> Steps[dict[str, Departures | Failure]]:
    """Ask one coordinator to remove the `members` of each of `groups`, one request per group.

    The broker logs the reason from LeaveGroup 5 on (KIP-800). Brokers before 2.4 are asked one member at a time.
    """
    yield from connection.open(deadline)
    if connection.version(LEAVE_GROUP) < _FIRST_WITH_SEVERAL:
        places = [(group, each) for group in groups for each in members[group]]
        single = [{"group_id": group, "member_id": each.member_id} for group, each in places]
        responses = yield from connection.ask(LEAVE_GROUP, single, deadline)
        return _by_group(places, map(outcome, responses))
    requests = [
        {
            "group_id": group,
            "members": [
                {
                    "member_id": each.member_id,
                    "group_instance_id": each.instance_id,
                    "reason": reason[:MOST_OF_REASON],
                }
                for each in members[group]
            ],
        }
        for group in groups
    ]
    responses = yield from connection.ask(LEAVE_GROUP, requests, deadline)
    return {
        group: outcome(response) or {each.member_id: outcome(each) for each in response.members}
        for group, response in zip(groups, responses, strict=True)
    }


def leave_by_heartbeat(
    api: Api,
    members: Mapping[str, Sequence[LeavingMember]],
    connection: Connection,
    groups: Sequence[str],
    deadline: Deadline,
) -> Steps[dict[str, Departures | Failure]]:
    """Ask one coordinator to remove the `members` of each of `groups` by the heartbeat of their type.

    :raises UnsupportedApi: the broker does not support it
    """
    places = [(group, each) for group in groups for each in members[group]]
    requests = [
        {
            "group_id": group,
            "member_id": each.member_id,
            "instance_id": each.instance_id,
            "member_epoch": _LEAVING,
            "endpoint_information_epoch": 0,
        }
        for group, each in places
    ]
    responses = yield from connection.ask(api, requests, deadline)
    return _by_group(
        places,
        (
            refusal(response.error_code, response.error_message) if response.error_code else None
            for response in responses
        ),
    )


def _by_group(
    places: Sequence[tuple[str, LeavingMember]], failures: Iterable[Failure | None]
) -> dict[str, Departures | Failure]:
    """The outcome of every member; a group whose coordinator moved fails as a whole, and is retried."""
    found: dict[str, Departures] = {}
    for (group, member), failure in zip(places, failures, strict=True):
        found.setdefault(group, {})[member.member_id] = failure
    return {group: _retriable(departures) or departures for group, departures in found.items()}


def _retriable(departures: Departures) -> Failure | None:
    return next((each for each in departures.values() if each is not None and each.retriable), None)
