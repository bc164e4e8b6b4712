"""sarama's sticky group to the consumer protocol: without user data first, then to another library.

sarama's sticky leader writes user data into the assignments from the first generation on, and a broker refuses to
convert such a group. One rolling restart with [range, sticky] makes it a range group without user data (the field
study, section 7). sarama itself does not speak the consumer protocol: the members are replaced, not restarted, by
programs of a library that does.
"""

from __future__ import annotations

from dataclasses import replace

from groups.model import GroupType
from migration.conditions import NoUserData, ProtocolIs, TypeIs
from migration.course import Manner, Start
from migration.model import Alternative, Danger, Step, Stray
from migration.paths import configuration, dangers
from migration.paths.path import Path
from migration.paths.rolling_upgrade import convert, offline
from migration.paths.rounds import STABLE, all_back, in_rounds, restart_actions
from migration.paths.trip import Trip

SHED = "shed-user-data"


def shed_user_data(trip: Trip) -> Path:
    """One rolling restart to range, then one to another library."""
    return Path(
        name="range first, then another library",
        steps=(_to_range(trip), *map(_watched, convert(_on_range(trip), trip.members))),
        alternatives=(
            offline(),
            Alternative(
                title="[sticky, range], the other way round",
                why_not="It changes nothing: the group stays on sticky with its user data, and is refused.",
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
        message="The group is on sticky again, with user data in its assignments: a member that does not list range "
        "is in it.",
        back_to=SHED,
    )
    return replace(step, strays=(back, *step.strays))


def _to_range(trip: Trip) -> Step:
    rounds = in_rounds(trip, trip.members)
    return Step(
        id=SHED,
        title="Restart the members with [range, sticky]: no user data any more",
        actions=restart_actions(trip, rounds),
        rounds=rounds.names,
        config=configuration.assignors(trip.libraries, ["range", "sticky"]),
        expect="The group stays on sticky until the last member is restarted, then it is on range. Every rebalance "
        "gives up everything for a moment.",
        course=rounds.course(Manner.RESTART, Start(assignors=("range", "sticky"))),
        complete_when="The group is Stable on range, and no member's assignment carries user data.",
        between=all_back(trip),
        gate=(*all_back(trip), ProtocolIs(protocol="range"), NoUserData()),
        dangers=(
            Danger(
                what="sticky stands first in the list of a member, or a member was forgotten.",
                symptom="All are restarted and the group is still on sticky: the gate stays closed.",
                then="Put range first, restart the members that differ.",
            ),
            *dangers.between_rounds(rounds),
            *dangers.of_statics(trip),
        ),
        way_back="Restart the members with sticky alone.",
    )
