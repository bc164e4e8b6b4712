"""What can go wrong in more than one path, and what it looks like.

The texts of clients and brokers are those that a running 4.3.1 and the clients of the field study gave.
"""

from __future__ import annotations

from collections.abc import Mapping

from migration.model import Danger
from migration.paths.rounds import Rounds
from migration.paths.trip import Trip

INCONSISTENT = "INCONSISTENT_GROUP_PROTOCOL"


def skipped_bounce(old: str, new: str) -> Danger:
    """Somebody starts a member with the new list alone, too early."""
    return Danger(
        what=f"A member is started with {new} alone while another one does not list it.",
        symptom=f"It cannot join and dies with {INCONSISTENT} (Java: InconsistentGroupProtocolException); its "
        "partitions go to the others. The check of the round stays closed: a member is missing.",
        then=f"Start it with the list of this step, which still holds {old}.",
    )


def read_while_rebalancing(trip: Trip) -> tuple[Danger, ...]:
    """Tried on 4.3.1: a third member joined two, and 14 records of the two partitions that moved were read twice.

    Java's classic consumer commits before it joins (ConsumerCoordinator.onJoinPrepare) and, being cooperative, reads on
    until it knows what it loses. An eager one has given everything up by then.
    """
    if "java" not in trip.libraries:
        return ()
    return (
        Danger(
            what="Some records are consumed twice.",
            symptom="A cooperative Java member reads on while a rebalance goes on. Of a partition that then moves, "
            "its new owner reads again what was read since the commit at the beginning of the rebalance, with "
            "auto-commit too.",
            then="Commit in onPartitionsRevoked, or make sure that doing a record's work twice does no harm.",
        ),
    )


def fenced_static() -> Danger:
    """The field study, section 5."""
    return Danger(
        what="A static member is started before its predecessor has ended.",
        symptom="FENCED_INSTANCE_ID or UNRELEASED_INSTANCE_ID at one of the two; both may consume the same "
        "partitions for seconds, and a librdkafka member that was fenced goes on delivering records.",
        then="Stop both, wait until the processes are gone, start one.",
    )


def between_rounds(rounds: Rounds) -> tuple[Danger, ...]:
    """The field study, section 4: aiokafka's stall."""
    if len(rounds.names) < 2:
        return ()
    return (
        Danger(
            what="The next round is begun before the group is Stable.",
            symptom="ILLEGAL_GENERATION and UNKNOWN_MEMBER_ID at members, and records that are consumed twice; a "
            "group with aiokafka members stands still until a session ends.",
            then="Wait for Stable; it comes by itself when the old session ends.",
        ),
    )


def refused_upgrade(trip: Trip) -> Danger:
    """Every refusal has the same code; the reason is only in the broker's log and in the answer's message."""
    looks = {
        "java": "Java ends with GroupIdNotFoundException",
        "librdkafka": "librdkafka polls `Fatal error: Broker: The group id does not exist` once and then idles, alive",
    }
    return Danger(
        what="The broker refuses to convert the group.",
        symptom=f"The first member gets GROUP_ID_NOT_FOUND ({_of_libraries(trip, looks)}). The broker's log says "
        "why: `Cannot upgrade classic group …`. The group itself is left as it was.",
        then="Start the member as it was; remove the reason that the broker's log names; begin this step again.",
    )


def leftovers(trip: Trip) -> Danger:
    """A configuration that was only added to."""
    looks = {
        "java": "Java throws ConfigException for partition.assignment.strategy, session.timeout.ms and "
        "heartbeat.interval.ms",
        "librdkafka": "librdkafka refuses to construct the consumer",
        "franz-go": "franz-go stays on the classic protocol without a word where its first balancer is roundrobin",
    }
    return Danger(
        what="A line that the consumer protocol does not take was left in the configuration.",
        symptom=f"{_of_libraries(trip, looks)}. The check says that a member is missing, or that it speaks the "
        "classic protocol.",
        then="Remove the lines that are listed above as removed, and start the member again.",
    )


def _of_libraries(trip: Trip, looks: Mapping[str, str]) -> str:
    """What it looks like in the members' libraries; in all of them, where none of those is the members'."""
    return "; ".join([looks[name] for name in trip.libraries if name in looks] or looks.values())


def of_statics(trip: Trip) -> tuple[Danger, ...]:
    """The danger of static members, where there are some."""
    return (fenced_static(),) if trip.has_static else ()
