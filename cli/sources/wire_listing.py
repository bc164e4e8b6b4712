"""The groups of a live cluster as a list shows them, through the wire client.

A part of its own because `kohort list` is run again and again, and imports no more than it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cli.sources.permissions import READING, cause_of, worded
from cli.sources.source import Read
from groups.listing import Cause, GroupListing, GroupType, Problem, state_of, type_of
from wire.client.answers import Failure
from wire.client.client import Client
from wire.errors import ErrorCode
from wire.messages.definition import Api
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE
from wire.messages.schemas.share_groups import SHARE_GROUP_DESCRIBE
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE

DESCRIBED_BY: Mapping[GroupType, Api] = {
    GroupType.CONSUMER: CONSUMER_GROUP_DESCRIBE,
    GroupType.SHARE: SHARE_GROUP_DESCRIBE,
    GroupType.STREAMS: STREAMS_GROUP_DESCRIBE,
}
"""The request of a type; any other is asked for as a classic group."""


def list_groups(client: Client, timeout_ms: int) -> Read[GroupListing]:
    """Groups of every type on every broker that answers."""
    listing = client.list_groups(timeout_ms=timeout_ms)
    kinds = {group.group_id: type_of(group.group_type) for group in listing.groups}
    sizes, problems = _sizes(client, kinds, timeout_ms)
    rows = []
    for group in listing.groups:
        protocol, members = sizes.get(group.group_id, (None, None))
        rows.append(
            GroupListing(
                id=group.group_id,
                type=kinds[group.group_id],
                state=state_of(group.group_state),
                protocol_type=group.protocol_type,
                protocol=protocol,
                members=members,
            )
        )
    return Read(tuple(rows), (*_problems(listing.failed), *problems))


def _sizes(
    client: Client, kinds: Mapping[str, GroupType], timeout_ms: int
) -> tuple[dict[str, tuple[str | None, int | None]], list[Problem]]:
    """Assignor and number of members by group."""
    sizes: dict[str, tuple[str | None, int | None]] = {}
    problems: list[Problem] = []
    for kind, names in by_kind(kinds, kinds).items():
        api = describe_request(kind)
        answers = client.describe(api, names, timeout_ms=timeout_ms)
        for name, group in answers.found.items():
            # A streams group has no assignor.
            protocol = (
                group.protocol_data if api is DESCRIBE_GROUPS else getattr(group, "assignor_name", None)
            )
            sizes[name] = (protocol or None, len(group.members))
        # A group that was deleted since it was listed is no problem of the list.
        problems += [
            group_problem(name, failure)
            for name, failure in answers.failed.items()
            if failure.code != ErrorCode.GROUP_ID_NOT_FOUND
        ]
    return sizes, problems


def describe_request(kind: GroupType) -> Api:
    """The request that describes groups of a type."""
    return DESCRIBED_BY.get(kind, DESCRIBE_GROUPS)


def by_kind(groups: Iterable[str], kinds: Mapping[str, GroupType]) -> dict[GroupType, list[str]]:
    """Names by type; a group that no broker listed is asked for as a classic one, to learn why."""
    found: dict[GroupType, list[str]] = {}
    for name in groups:
        found.setdefault(kinds.get(name, GroupType.CLASSIC), []).append(name)
    return found


def _problems(failed: Mapping[str, Failure]) -> tuple[Problem, ...]:
    return tuple(
        problem_of(place, replace(failure, message=failure.message.removeprefix(f"{place}: ")))
        for place, failure in failed.items()
    )


def group_problem(group: str, failure: Failure) -> Problem:
    """Why a group could not be read."""
    if failure.code == ErrorCode.GROUP_ID_NOT_FOUND:
        return Problem(subject=group, message="no such group", cause=Cause.ABSENT, group=group)
    return problem_of(group, failure, group=group)


def problem_of(
    subject: str, failure: Failure, *, group: str | None = None, topics: tuple[str, ...] = ()
) -> Problem:
    """The failure in our words, which name the operation that is not allowed."""
    message = worded(failure.name, failure.message, READING)
    return Problem(subject=subject, message=message, cause=cause_of(failure.name), group=group, topics=topics)
