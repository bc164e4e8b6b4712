"""Classic → consumer online: one member converts the group, then the others follow.

KIP-848, "Compatibility, Deprecation, and Migration Plan"; the field study, sections 1 to 5, has what real clients did.

A group of sarama's on sticky sheds its user data first (`shed_user_data`), then its members are replaced. sarama's
sticky leader writes user data into the assignments from the first generation on, and a broker refuses to convert such
a group. One rolling restart with [range, sticky] makes it a range group without user data (the field study, section
7). sarama itself does not speak the consumer protocol: the members are replaced, not restarted, by programs of a
library that does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groups.model import GroupType, Member, MemberProtocol
from migration.clients import LIBRARIES
from migration.course import Manner, Start
from migration.model import (
    Alternative,
    Condition,
    Danger,
    NoUserData,
    ProtocolIs,
    Replaced,
    Speaking,
    Step,
    Stray,
    TypeIs,
)
from migration.paths import configuration
from migration.paths import path as dangers
from migration.paths.path import STABLE, Path, Trip, all_back, in_rounds, restart_actions
from migration.paths.stop_and_start import callbacks_change, regex_change

FIRST, OTHERS = "first-member", "other-members"
COOPERATIVE = "cooperative-sticky"
CONSUMER = TypeIs(type=GroupType.CONSUMER)


def rolling_upgrade(trip: Trip) -> Path:
    """One restart of each member; a group in the middle of a migration continues with the remaining members."""
    left = trip.speaking(MemberProtocol.CLASSIC)
    begun = trip.case.group.type is GroupType.CONSUMER
    steps = (other_members(trip, left, fallen_back_to=OTHERS),) if begun else convert(trip, left)
    return Path(name="rolling upgrade", steps=steps, alternatives=(offline(),))


def convert(trip: Trip, left: Sequence[Member]) -> tuple[Step, ...]:
    """The first member, then the rest of `left`."""
    ordered = trip.ordered(left)
    first, rest = first_member(trip, ordered[:1]), ordered[1:]
    return (first, other_members(trip, rest, fallen_back_to=FIRST)) if rest else (first,)


def first_member(trip: Trip, first: Sequence[Member]) -> Step:
    """The one that converts the group, and the one whose failure costs least."""
    rounds = in_rounds(trip, first)
    return Step(
        id=FIRST,
        title="Convert the group with one member" if trip.size > 1 else "Restart the only member",
        actions=(*_code(trip), *restart_actions(trip, rounds)),
        rounds=rounds.names,
        config=configuration.consumer(trip.libraries, trip.old_assignor, trip.offered),
        expect=_conversion(trip, first),
        course=rounds.course(Manner.RESTART, _start(trip)),
        complete_when="The group is of type consumer and Stable, with all its members, and one of them speaks the "
        "consumer protocol.",
        gate=(CONSUMER, *all_back(trip), Speaking(protocol=MemberProtocol.CONSUMER, at_least=1)),
        dangers=(dangers.refused_upgrade(trip), dangers.leftovers(trip), *dangers.of_statics(trip)),
        way_back="Wait for Stable, stop the new member, and start it with its old configuration. The group is classic "
        "again when the last member of the consumer protocol has left (a static one: when a classic one has replaced "
        "it); not under group.consumer.migration.policy=upgrade.",
    )


def other_members(trip: Trip, left: Sequence[Member], *, fallen_back_to: str) -> Step:
    """The rest, in rounds."""
    rounds = in_rounds(trip, left)
    resting: tuple[Condition, ...] = (CONSUMER, *all_back(trip))
    return Step(
        id=OTHERS,
        title="Restart the other members",
        actions=(*(_code(trip) if fallen_back_to == OTHERS else ()), *restart_actions(trip, rounds)),
        rounds=rounds.names,
        config=configuration.consumer(trip.libraries, trip.old_assignor, trip.offered),
        expect="Members of both protocols share the group. Only the partitions of stopped members, and those that "
        "move for balance, wait. Committed offsets are kept.",
        course=rounds.course(Manner.RESTART, _start(trip)),
        complete_when="The group is Stable, has all its members, and every one speaks the consumer protocol.",
        between=resting,
        gate=(*resting, Speaking(protocol=MemberProtocol.CONSUMER)),
        strays=(
            Stray(
                conditions=(TypeIs(type=GroupType.CLASSIC), STABLE),
                message="The group is classic again: the last member of the consumer protocol has left, or a classic "
                "static member replaced it.",
                back_to=fallen_back_to,
            ),
            Stray(
                conditions=(
                    CONSUMER,
                    STABLE,
                    Replaced(),
                    Speaking(protocol=MemberProtocol.CLASSIC, at_least=1),
                ),
                message="All members were restarted, and a member still speaks the classic protocol: it was started "
                "with its old configuration, or an old member was started.",
                back_to=OTHERS,
            ),
        ),
        dangers=(
            Danger(
                what="All members of the consumer protocol leave at once while classic ones remain.",
                symptom="The group is of type classic again; the broker's log: `Converted the consumer group to a "
                "classic group.`",
                then="Wait for Stable, and start again with one member.",
            ),
            *dangers.between_rounds(rounds),
            dangers.leftovers(trip),
            *dangers.of_statics(trip),
        ),
        way_back="Plan it: `kohort plan … --to classic`. In short: restart the members with their old configuration, "
        "one round at a time, and wait for Stable after each.",
    )


def _conversion(trip: Trip, first: Sequence[Member]) -> str:
    """What the conversion looks like; the field study, sections 2 and 5."""
    static = all(member.instance for member in first)
    if trip.size == 1 and not static:
        return (
            "The group is Empty while its only member is stopped. It restarts as a consumer group and continues from "
            "the committed offsets."
        )
    if static:
        return (
            "The first member on the consumer protocol converts the group. It is static: it gets the same partitions "
            "again, and the other members are not affected. Its partitions wait while it is stopped."
        )
    return (
        "The first member on the consumer protocol converts the group. The classic members stay in it and rejoin "
        "once; from then on the broker's assignor serves them. Partitions that move to the new member wait for one of "
        "its heartbeats (5 s by default)."
    )


def offline() -> Alternative:
    """Why members are not all stopped."""
    return Alternative(
        title="Stop all members, start all members",
        why_not="Nothing is consumed meanwhile. Use it if the online path is refused (migration policy, user data in "
        "the assignments); converting an empty group is always allowed.",
    )


def _code(trip: Trip) -> tuple[str, ...]:
    """What must be ready before a member is started: the release with other callbacks, or another program."""
    unable = [name for name in trip.libraries if LIBRARIES[name].consumer is None]
    replaced = (
        f"{' and '.join(unable)} does not speak the consumer protocol. Do not restart a member here, replace it: "
        "start a program of another library that does the same work in the same group (the lines below are for Java "
        "and librdkafka).",
    )
    return (
        *(replaced if unable else ()),
        *(callbacks_change(trip.libraries) if trip.old_assignor != COOPERATIVE else ()),
        *regex_change(trip),
    )


def _start(trip: Trip) -> Start:
    return Start(protocol=MemberProtocol.CONSUMER, remote_assignor=trip.remote_assignor)


SHED = "shed-user-data"


def shed_user_data(trip: Trip) -> Path:
    """One rolling restart to range, then one to another library."""
    return Path(
        name="range first, then another library",
        steps=(_to_range(trip), *map(_watched, convert(_on_range(trip), trip.members))),
        alternatives=(
            offline(),
            Alternative(
                title="[sticky, range], in that order",
                why_not="It changes nothing: the group stays on sticky with its user data, and the upgrade is refused.",
            ),
            Alternative(
                title="A bridge leader with Java's StickyAssignor",
                why_not="It works (2 of 2 trials), with a temporary member and a restart of the leader; the list of "
                "two assignors needs neither. Never with kafka-python's sticky: sarama cannot read its assignments "
                "(`kafka: insufficient data to decode packet`).",
            ),
        ),
    )


def _on_range(trip: Trip) -> Trip:
    """The same, as the first step leaves it."""
    return replace(trip, case=replace(trip.case, group=replace(trip.case.group, protocol="range")))


def _watched(step: Step) -> Step:
    """The step, with an eye on the user data: it is back as soon as the group is on sticky again."""
    back = Stray(
        conditions=(TypeIs(type=GroupType.CLASSIC), STABLE, ProtocolIs(protocol="sticky")),
        message="The group is on sticky again, with user data in its assignments: it has a member that does not list "
        "range.",
        back_to=SHED,
    )
    return replace(step, strays=(back, *step.strays))


def _to_range(trip: Trip) -> Step:
    rounds = in_rounds(trip, trip.members)
    return Step(
        id=SHED,
        title="Restart the members with [range, sticky]: removes the user data",
        actions=restart_actions(trip, rounds),
        rounds=rounds.names,
        config=configuration.assignors(trip.libraries, ["range", "sticky"]),
        expect="The group stays on sticky until the last member is restarted, then it is on range. Every rebalance "
        "revokes all partitions for a moment.",
        course=rounds.course(Manner.RESTART, Start(assignors=("range", "sticky"))),
        complete_when="The group is Stable on range, and no member's assignment carries user data.",
        between=all_back(trip),
        gate=(*all_back(trip), ProtocolIs(protocol="range"), NoUserData()),
        dangers=(
            Danger(
                what="sticky is first in the list of a member, or a member was not restarted.",
                symptom="All are restarted and the group is still on sticky: the gate does not open.",
                then="Put range first, and restart the members that differ.",
            ),
            *dangers.between_rounds(rounds),
            *dangers.of_statics(trip),
        ),
        way_back="Restart the members with sticky alone.",
    )
