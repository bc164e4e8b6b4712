"""Findings about members: what is true of many is said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from migration.model import Finding, Level, PlannedMember, names_of
from migration.rules.case import Case

MOST_NAMED = 3
"""Members named in a message; a program finds all of them in `members`."""

_MEMBERS = " {} members: "


def without_members(finding: Finding) -> str:
    """The message without the members that it names, for where there is no room."""
    return finding.message.partition(_MEMBERS.format(len(finding.members)))[0]


def about_members(
    case: Case,
    members: Sequence[str | None],
    *,
    rule: str,
    level: Level,
    message: str,
    remedy: str,
    source: str,
) -> Finding:
    """A finding about one member, several (the message names the first), or the group (None, or nobody)."""
    ids = tuple(member for member in members if member is not None)
    if len(ids) > 1:
        message = f"{message}{_MEMBERS.format(len(ids))}{named(case, ids)}."
    return Finding(
        rule=rule,
        level=level,
        member=ids[0] if len(ids) == 1 else None,
        members=ids if len(ids) > 1 else (),
        message=message,
        remedy=remedy,
        source=source,
    )


def named(case: Case, members: Sequence[str]) -> str:
    """The first few members, as an operator knows them, and how many more there are."""
    names = _names(case)
    shown = ", ".join(names[member] for member in members[:MOST_NAMED])
    more = len(members) - MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _names(case: Case) -> Mapping[str, str]:
    """What the rounds of the plan call them."""
    return names_of(
        [
            PlannedMember(
                id=member.id, instance=member.instance, client_id=member.client.id, host=member.client.host
            )
            for member in case.group.members
        ]
    )
