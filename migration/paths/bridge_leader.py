"""A librdkafka cooperative-sticky group to the consumer protocol while it goes on: by a bridge leader.

librdkafka's leader copies each member's subscription user data into its assignment, and a broker refuses to convert a
group whose assignments carry user data. A leader of another library writes none. So a temporary member of another
library, on a topic without records, becomes the leader first: it comes first in the broker's order of succession
(`groups.succession`), then the leader is restarted. Source: the field study, section 6 (10 of 10).
"""

from __future__ import annotations

import shlex

from groups.model import GroupType, Member
from groups.succession import leader_of
from migration.course import Course, Guest, Manner, Start
from migration.model import (
    Absent,
    Alternative,
    Danger,
    Leads,
    MemberCount,
    NoUserData,
    Precedes,
    Present,
    ProtocolIs,
    Step,
    Stray,
    TypeIs,
)
from migration.paths import configuration
from migration.paths import path as dangers
from migration.paths.path import BRIDGE, GONE, STABLE, Path, Trip
from migration.paths.rolling_upgrade import FIRST, first_member, offline, other_members

EMPTY_TOPIC = "kohort-bridge-empty"
COOPERATIVE = "cooperative-sticky"
START, LEAD, STOP = "start-bridge", "bridge-leads", "stop-bridge"
EASY_SIZE = 8
"""Up to so many members a bridge finds its place after a few tries."""


def bridge_leader(trip: Trip) -> Path:
    """Bridge up, leader restarted, first member converted, bridge down, the rest rolled."""
    ordered = trip.ordered(trip.members)
    leader = leader_of(trip.case.group)
    # Whoever leads is restarted for the bridge; another one is the first of the consumer protocol.
    first = next((member for member in ordered if member.id != leader), ordered[0])
    rest = [member for member in ordered if member is not first]
    return Path(
        name="bridge leader",
        steps=(
            _start_bridge(trip),
            _restart_leader(trip, [member for member in ordered if member.id == leader] or ordered, leader),
            first_member(trip, [first], guests=1),
            _stop_bridge(trip),
            other_members(trip, rest, fallen_back_to=FIRST),
        ),
        alternatives=(
            offline(),
            Alternative(
                title="One member after the other, as librdkafka's migration guide has it",
                why_not="The broker refuses the first one with GROUP_ID_NOT_FOUND: librdkafka's cooperative-sticky "
                "leader has put user data into the assignments. It works on a fresh group, where nobody has "
                "rejoined yet, so a trial proves nothing.",
            ),
            Alternative(
                title="A list of cooperative-sticky and range",
                why_not="librdkafka refuses to construct such a consumer (librdkafka issues 4368 and 3589).",
            ),
            Alternative(
                title="Restarting members until the bridge happens to lead, without looking at the order",
                why_not="It took up to 4 restarts in 5 trials; a bridge that comes late in the order leads only "
                "after all that come before it have left.",
            ),
        ),
    )


def _start_bridge(trip: Trip) -> Step:
    here = (STABLE, Present(client_id=BRIDGE), MemberCount(at_least=trip.size + 1))
    several = (
        ()
        if trip.size <= EASY_SIZE
        else (
            "In a group of this size start several bridges at once, in terminals of their own: one in the right "
            "place is enough.",
        )
    )
    return Step(  # noqa: S604 - a field, nothing is run
        id=START,
        title="Start the bridge: a temporary member of another library",
        actions=(
            f"Make a topic without records for it, {EMPTY_TOPIC}.",
            "Start the bridge in a terminal of its own, and leave it running.",
            "When the group is Stable, run the check, without --wait. If it says that the bridge does not come "
            "first in the order of succession, do what it says: mostly, stop the bridge with Ctrl-C, wait until it "
            "has ended, and start it again. It comes back under a new id, whose place is drawn by chance. Where "
            "next to no id comes before the member in front, restart that member, as it is: it gets a new id too.",
            *several,
        ),
        shell=(
            f"kafka-topics.sh {trip.connection.kafka} --create --if-not-exists --topic {EMPTY_TOPIC} --partitions 1",
            f"kafka-console-consumer.sh {trip.connection.kafka} --topic {EMPTY_TOPIC} --group "
            f"{shlex.quote(trip.group)} --command-property client.id={BRIDGE} --command-property "
            "enable.auto.commit=false --command-property group.protocol=classic --command-property "
            f"partition.assignment.strategy={configuration.JAVA_COOPERATIVE}",
        ),
        expect="The bridge gets the one partition of its topic and nothing of the real ones. Cooperative members keep "
        "what they own in the rebalance that it causes. (Before Kafka 4.2 the option is called --consumer-property.)",
        course=Course(
            manner=Manner.START,
            rounds=((BRIDGE,),),
            start=Start(assignors=(COOPERATIVE,)),
            guests=(Guest(id=BRIDGE, topics=(EMPTY_TOPIC,)),),
        ),
        complete_when="The group is Stable, the bridge is a member, and it comes first of all members but the "
        "leader in the broker's order of succession.",
        gate=(*here, Precedes(client_id=BRIDGE)),
        dangers=(
            Danger(
                what="The bridge subscribes to a topic of the group.",
                symptom="It gets records and prints them: they are missing where they are wanted.",
                then=f"Stop it. Its topic is {EMPTY_TOPIC}, and nothing is ever written to it. It commits nothing, "
                "so the next owner reads those records again.",
            ),
            Danger(
                what="The bridge lists other assignors than cooperative-sticky.",
                symptom=f"It ends with {dangers.INCONSISTENT}.",
                then="Start it with the line above, literally.",
            ),
        ),
        way_back="Stop the bridge with Ctrl-C.",
    )


def _restart_leader(trip: Trip, candidates: list[Member], leader: str | None) -> Step:
    who = (
        (f"Restart {trip.names[leader]}, which leads the group, with its configuration as it is.",)
        if leader is not None
        else (
            "Who leads is not known from this source. The broker's log names it: `Assignment received from leader M "
            "for group G for generation N`; or `kohort describe --migration` of a live cluster. Restart that member "
            "alone, with its configuration as it is.",
            "Where nobody can tell: restart the members one after the other, and run the gate of this step (without "
            "--wait) after each. As soon as it opens, the step is complete: leave the rest alone.",
            "If the bridge has lost its place (the check of a round says so), start it anew as in step 1.",
        )
    )
    return Step(
        id=LEAD,
        title="Restart the leader: the bridge leads",
        actions=(
            *who,
            "Nothing changes in the member's configuration: it stays on the classic protocol.",
            *(
                ("Stop a static leader until its session has ended: restarted at once it leads again.",)
                if trip.has_static
                else ()
            ),
        ),
        rounds=tuple(trip.name([member]) for member in candidates),
        expect="The leader leaves, the bridge leads, and the next assignments come from it, without user data. "
        "Records of the restarted member wait for seconds.",
        course=Course(
            manner=Manner.RESTART,
            rounds=tuple((member.id,) for member in candidates),
            start=Start(assignors=(COOPERATIVE,)),
        ),
        complete_when="The bridge leads, and no member's assignment carries user data.",
        between=(STABLE, MemberCount(at_least=trip.size + 1), Precedes(client_id=BRIDGE)),
        gate=(
            STABLE,
            MemberCount(at_least=trip.size + 1),
            ProtocolIs(protocol=COOPERATIVE),
            Leads(client_id=BRIDGE),
            NoUserData(),
        ),
        strays=(
            Stray(
                conditions=(STABLE, Absent(client_id=BRIDGE)), message="The bridge has gone.", back_to=START
            ),
        ),
        dangers=(
            Danger(
                what="Another member than the bridge has become the leader: one joined meanwhile and took its place "
                "in the order.",
                symptom="The gate stays closed: the assignments still carry user data, or the bridge does not lead.",
                then="Begin again with step 1: stop the bridge, start it, look at its place.",
            ),
        ),
        way_back="Stop the bridge: a librdkafka member leads again, nothing else has changed.",
    )


def stop_left_bridge(trip: Trip) -> Step:
    """Of a bridge that stands while the plan needs none: it speaks the classic protocol, and no gate would open."""
    return Step(
        id=STOP,
        title="Stop the bridge that an earlier plan left",
        actions=(
            f"Stop every member with the client id {BRIDGE}, with Ctrl-C where it runs. It is none of those below.",
        ),
        expect="Nothing of the real topics moves: the bridge owns none of their partitions.",
        complete_when="The bridge is gone, and the group is Stable, or Empty where nobody else was there.",
        gate=(STABLE if trip.size else GONE, Absent(client_id=BRIDGE)),
        dangers=(
            Danger(
                what="Nobody knows where the bridge runs.",
                symptom=f"`kohort describe --members` shows {BRIDGE} and its host.",
                then="End the console consumer on that host.",
            ),
        ),
        way_back="Nothing to go back to: the bridge consumes nothing.",
    )


def _stop_bridge(trip: Trip) -> Step:
    return Step(  # noqa: S604 - a field, nothing is run
        id=STOP,
        title="Stop the bridge",
        actions=("Stop the bridge with Ctrl-C (every one, if there are several).", "Delete its topic."),
        shell=(f"kafka-topics.sh {trip.connection.kafka} --delete --topic {EMPTY_TOPIC}",),
        expect="The broker assigns now; who led does not matter any more. No partition of the real topics moves.",
        course=Course(manner=Manner.STOP, rounds=((BRIDGE,),)),
        complete_when="The bridge is gone and the consumer group is Stable with all its members.",
        gate=(
            TypeIs(type=GroupType.CONSUMER),
            STABLE,
            MemberCount(at_least=trip.size),
            Absent(client_id=BRIDGE),
        ),
        strays=(
            Stray(
                conditions=(TypeIs(type=GroupType.CLASSIC), STABLE, Absent(client_id=BRIDGE)),
                message="The group is classic again and the bridge is gone: a librdkafka member leads and writes "
                "user data.",
                back_to=START,
            ),
        ),
        dangers=(
            Danger(
                what="The bridge is stopped before the group is of type consumer.",
                symptom="The group is classic, a librdkafka member leads, and the next first member of the consumer "
                "protocol gets GROUP_ID_NOT_FOUND.",
                then="Begin again with step 1.",
            ),
        ),
        way_back="Nothing to go back to: the bridge has done its work. Should the group fall back to classic later, "
        "its leader writes user data again, and the way begins with step 1.",
    )
