"""What single members bring along."""

from __future__ import annotations

from collections.abc import Iterator

from migration.model import Destination, Finding, Level
from migration.rules.case import Case


def static_members_stop_first(case: Case) -> Iterator[Finding]:
    """Two members with one instance id fence each other."""
    if case.destination is not Destination.CONSUMER:
        return
    for member in case.group.members:
        if member.instance:
            yield Finding(
                rule="static-member",
                level=Level.WARNING,
                member=member.id,
                message=f"It is static (instance id {member.instance!r}).",
                remedy="Stop it before its successor starts; otherwise the two fence each other.",
                source="Field trial on 4.3.1: start before stop ended in fencing in 16 of 16 runs",
            )


def racks_are_lost(case: Case) -> Iterator[Finding]:
    """The broker's assignors do not look at racks."""
    racks = sorted({member.rack for member in case.group.members if member.rack})
    if case.destination is Destination.CONSUMER and racks:
        yield Finding(
            rule="rack-awareness",
            level=Level.WARNING,
            message=f"Members name racks ({', '.join(racks)}); the broker's assignors do not use them.",
            remedy="Expect more traffic between racks, or stay on a rack-aware client-side assignor.",
            source="apache/kafka pull 20000",
        )
